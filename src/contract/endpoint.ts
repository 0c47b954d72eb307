import type * as z from "zod";
import type { ErrorForm } from "./errors.ts";
import { lazily } from "./lazily.ts";
import type { ReplyForm } from "./reply.ts";

/**
 * What a call does, which decides transaction, retry and dry run; the HTTP method cannot
 * (`GET /reviews/{id}/vote/up` changes data).
 * - `read`: changes nothing
 * - `repeatable`: changes data, and doing it twice leaves the same data as doing it once
 * - `once`: doing it twice is not the same; never repeated without reading back first
 */
export type Effect = "read" | "repeatable" | "once";

/**
 * Who may call. `open`: anyone; `account`: anyone who names an app key; `utoken`: a utoken of that
 * account; `core`: an access token in `X-Service-Token`, rate limited per store.
 * Assumed: public are the calls that the specification shows without a utoken, among them reviews by `user_reference`,
 * the bottom lines of all products and the batch call; a utoken that is sent with one is not looked at, but where the
 * call says so.
 */
export type Auth = "open" | "account" | "utoken" | "core";

/** How many elements of the input's `field` one call carries. */
export interface Batch {
  readonly field: string;
  /** Elements a call; advice of the specification, not a limit. */
  readonly recommended: number;
  /** Elements a call; more are refused with `invalidParams`. */
  readonly max?: number;
}

/**
 * A body that is taken as the very text that was sent, since it is signed. It is a field of the input, and beside it are
 * the headers that say how it is signed, under names of their own.
 */
export interface SignedBody {
  /** The input's field that has the text. */
  readonly field: string;
  /** Field of the input to header, in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the text is the JSON of, for descriptions. */
  readonly holds: z.ZodType;
}

/**
 * How a call that lists goes on behind its first page.
 * - `page`: pages are numbered from 1 in the input's `page`
 * - `since_id`: the input's `since_id` is the highest id that came so far; without it some lists begin with the newest
 * - `page_info`: the output's `pagination.next_page_info` is the next input's `page_info`
 * - `start`: the input's `start` is how many came so far
 */
export interface Listing {
  /** The output's field that has the elements. */
  readonly items: string;
  /** Absent where all elements come at once. */
  readonly by?: "page" | "since_id" | "page_info" | "start";
  /** An answer without the list is one of an empty list. */
  readonly mayBeAbsent?: boolean;
  /** Without `since_id` the newest come first, and they alone. */
  readonly isNewestFirst?: boolean;
  /** The input's field for how many elements a page has, and the most to ask for. */
  readonly size?: { readonly field: string; readonly max: number };
}

/** What a call takes away for good. */
export interface Destruction {
  /** As an order to whoever is asked, with fields of the input in braces: `Delete the group {group_name}`. */
  readonly question: string;
  /** The input's field whose value is to be typed before it is done, where much is lost. */
  readonly typed?: string;
}

/** One call of the service, as data. Paths are the wire's own, aliases after the first. */
export interface Endpoint<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly summary: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly paths: readonly [string, ...string[]];
  readonly auth: Auth;
  readonly effect: Effect;
  /** Path, query and body as one flat input, without what says who is calling. */
  readonly input: I;
  readonly output: O;
  readonly reply: ReplyForm;
  readonly errorForm: ErrorForm;
  readonly batch?: Batch;
  /** How the elements of a list are read to their end. */
  readonly listing?: Listing;
  /** What cannot be had back once the call is carried out; people are asked first. */
  readonly destroys?: Destruction;
  /** Fields of the input that hold a secret, with a point before what is inside another. */
  readonly secretFields?: readonly string[];
  /**
   * Absent for calls of the specification. `own`: this product's, under `extensionPrefix`; `practice`: one that services
   * of this kind have, and that the specification implies.
   */
  readonly extension?: "own" | "practice";
  /** Paths at which the answer is a page of HTML, made from the same value. */
  readonly htmlPaths?: readonly string[];
  /** The page is sent back as a form, its fields those of the input; where they have `problems`, under status 422. */
  readonly hasForm?: boolean;
  /** The page leads on to the value's `url` (status 302), where it has one. */
  readonly leadsOn?: boolean;
  /** Answers HEAD though it changes something: with this field of the input set, it does not. */
  readonly headField?: string;
  /** Answers in JSONP where the query has `callback`. */
  readonly hasCallback?: boolean;
  /** The answer holds a secret, which nothing on the way is to keep. */
  readonly answersSecret?: boolean;
  /** The body is no object of fields: it is taken as it is, because it is signed. */
  readonly signedBody?: SignedBody;
  /** A utoken is not needed, and is looked at where it is there: the store itself may say more than others. */
  readonly acceptsUtoken?: boolean;
  /** Answers GET as well, with the input in the query. */
  readonly alsoGet?: boolean;
  /** Counts against the limit of the read address. Source: spec "Limits". */
  readonly isReadLimited?: boolean;
}

/** Where the calls of our own are, all of them. */
export const extensionPrefix = "/starpost/v1";

/** An endpoint as it is declared: its shapes are built when they are first asked for. */
type Declared<I extends z.ZodType, O extends z.ZodType> = Omit<
  Endpoint<I, O>,
  "errorForm" | "input" | "output"
> & {
  readonly errorForm?: ErrorForm;
  readonly input: () => I;
  readonly output: () => O;
};

export function endpoint<I extends z.ZodType, O extends z.ZodType>(declared: Declared<I, O>): Endpoint<I, O> {
  const [input, output] = [lazily(declared.input), lazily(declared.output)];
  return {
    errorForm: "status",
    ...declared,
    get input() {
      return input();
    },
    get output() {
      return output();
    },
  };
}

/**
 * Wire names that say who is calling; they are lifted out of the input.
 * Source: spec "General conventions" 6 and "Authentication" 2 and 6.
 */
export const callerNames = {
  appKey: ["app_key", "appkey", "store_id"],
  utoken: ["utoken"],
  tokenHeader: "x-service-token",
} as const;
