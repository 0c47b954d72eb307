import type { Transaction } from "kysely";
import type * as z from "zod";
import {
  actorNames,
  type Endpoint,
  type EndpointOf,
  type OperationName,
  type Role,
  type ServiceError,
} from "../../contract/index.ts";
import type { Database } from "../../storage/database.ts";
import type { StorageDialect } from "../../storage/dialect.ts";
import type { PublicKind } from "../../storage/tables/accounts.ts";
import type { Tables } from "../../storage/tables.ts";
import type { SavedProducts } from "./saved-products.ts";
import type { Sealer } from "./sealer.ts";

/** The existing account that a call is made for. */
export interface Account {
  readonly id: number;
  readonly appKey: string;
  /** Increases whenever rows of the account change. Absent outside of calls. */
  readonly version?: number | undefined;
  /** Whether the utoken is valid. Set only if the operation accepts an optional utoken and the call has one. */
  readonly isStore?: boolean | undefined;
  /** The role of the token. Without one, the token permits all calls. */
  readonly role?: Role | undefined;
}

/** Returns `bytes` random bytes. */
export type RandomBytes = (bytes: number) => Buffer;

/** Everything a handler may use: the transaction of the call, and injected dependencies. */
export interface HandlerContext {
  readonly transaction: Transaction<Tables>;
  readonly dialect: StorageDialect;
  /** Absent for operations that anyone may call. */
  readonly account?: Account | undefined;
  /** For an operation without an account: the account of the record or the signed link that the call names, if it exists. */
  readonly ownerId?: number | undefined;
  /** The person or job that the caller, who has a token, makes the call for. */
  readonly by?: string | undefined;
  /** The time of the call, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly random: RandomBytes;
  readonly sealer: Sealer;
  readonly savedProducts: SavedProducts;
  /** The service's public base URL, without a trailing slash. */
  readonly publicUrl: string;
  /** Replaces the account's delay of the bottom lines of all products, in milliseconds. */
  readonly bottomLinesDelayMs?: number | undefined;
  /** The app key of the account whose webhooks this machine allows to call private addresses. */
  readonly privateWebhooksFor?: string | undefined;
  /** Whether calls without a token are limited, because anyone can reach the service; more reviews are held then (default: false). */
  readonly hasPublicLimits?: boolean | undefined;
  /** Whether only people with an invitation may create accounts (default: false). */
  readonly isSignUpClosed?: boolean | undefined;
  /** The space that the photos of an account may take up, in bytes (default: `photoLimits.bytesPerAccount`). */
  readonly photoStorageBytes?: number | undefined;
}

/** Who makes a change for the store, as histories show it. @param by the person that the input names */
export function actorOf({ by: caller = actorNames.store }: Pick<HandlerContext, "by">, by = caller): string {
  return by;
}

/** What the steps of an operation outside of transactions may use. */
export interface CallContext extends Omit<HandlerContext, "transaction"> {
  readonly database: Database;
  /** The caller has already validated the input's elements against the contract. */
  readonly isChecked?: boolean | undefined;
  /** Called when the data of a customer was erased, with the IDs of the emails that contained it. */
  readonly onErased?: ((mailIds: readonly number[]) => Promise<void>) | undefined;
  /** Called when the provider has reported that sent emails bounced, with their number. */
  readonly onBounced?: ((emails: number) => void) | undefined;
}

/** Database work outside a call: how a worker reads and updates the outbox. */
export interface EngineWork {
  /** Runs `work` on one snapshot of the database. */
  readonly read: <T>(work: (context: HandlerContext) => Promise<T>) => Promise<T>;
  /**
   * Runs `work` in one write transaction, after the writes of the account that are already queued. It may change only rows
   * of that account; without an account, only rows that belong to none.
   */
  readonly write: <T>(accountId: number | undefined, work: (context: HandlerContext) => Promise<T>) => Promise<T>;
}

type Input<E extends Endpoint> = z.output<E["input"]>;
type Output<E extends Endpoint> = z.output<E["output"]>;

/** Where a call without an app key names its account: by a record, a signed token, or a field with the app key. */
export type OwnerField<Field = string> =
  | { readonly kind: PublicKind; readonly field: Field }
  | { readonly claim: Field; readonly exceptKind?: string }
  | { readonly appKey: Field };

/** Writes that must happen before a call. `isDue` checks, without writing, whether any are left. */
export interface Preparation {
  readonly isDue: (context: HandlerContext) => Promise<boolean>;
  readonly write: (context: HandlerContext) => Promise<void>;
}

/** The steps of an operation around its transaction, in the order in which they run. */
interface OuterSteps<E extends Endpoint, Prepared, Result> {
  readonly owner?: OwnerField<keyof Input<E> & string>;
  /**
   * Whether a call without a token counts toward the limits of such calls (default: every call does). Those that show what
   * is wrong with a form do not, as invalid calls of the API.
   */
  readonly counts?: (input: Input<E>) => boolean;
  /** Rejects a call, in a read-only transaction. */
  readonly check?: (input: Input<E>, context: HandlerContext) => Promise<void>;
  /** Rejects an invalid signature in the field `signature`. Calls of a vendor that the account trusts are not limited. */
  readonly checkSignature?: (input: Input<E>, context: HandlerContext) => Promise<unknown>;
  /** Transforms the input, which may take long. The steps that follow get the result instead. */
  readonly prepare?: (input: Input<E>, call: CallContext) => Promise<Prepared>;
  /** What must be written before the call. Each step has its own transaction, so that other calls can run in between. */
  readonly before?: (input: Prepared, account: Account | undefined) => Preparation | undefined;
  /** Transforms the result, which may take long. */
  readonly after?: (result: Result, input: Prepared, call: CallContext) => Promise<Output<E>>;
}

/** The steps in the transaction of an operation whose calls run one by one. */
interface SingleSteps<Prepared, Found, Result> {
  /** Reads what `run` needs. It runs while the idempotency key is looked up; nothing is written before `run`. */
  readonly read?: (input: Prepared, context: HandlerContext) => Promise<Found>;
  readonly run: (input: Prepared, context: HandlerContext, found: Found) => Promise<Result>;
  readonly runMany?: undefined;
}

/** The steps in the transaction of an operation of which several calls of an account can run together. */
interface CombinedSteps<Prepared, Found, Result> {
  /** Whether a call can run together with others (default: every call can). */
  readonly combines?: (input: Prepared, account: Account | undefined) => boolean;
  /** Reads what `runMany` needs for the same calls. */
  readonly read?: (inputs: readonly Prepared[], context: HandlerContext) => Promise<Found>;
  /**
   * Runs one call, or several together. If one fails, all fail, and then each runs alone.
   * @returns the results, in the order of the inputs; a ServiceError for a call that is rejected and changed nothing
   */
  readonly runMany: (
    inputs: readonly Prepared[],
    context: HandlerContext,
    found: Found,
  ) => Promise<readonly (Result | ServiceError)[]>;
  readonly run?: undefined;
}

type Steps<E extends Endpoint, Prepared, Found, Result> = OuterSteps<E, Prepared, Result> &
  (SingleSteps<Prepared, Found, Result> | CombinedSteps<Prepared, Found, Result>);

/** An operation as the call path runs it: always for a list of calls, which has one element unless several are combined. */
export interface Operation<E extends Endpoint = Endpoint> extends OuterSteps<E, unknown, unknown> {
  readonly combines: (input: unknown, account: Account | undefined) => boolean;
  readonly read?: ((inputs: readonly unknown[], context: HandlerContext) => Promise<unknown>) | undefined;
  readonly runMany: (
    inputs: readonly unknown[],
    context: HandlerContext,
    found: unknown,
  ) => Promise<readonly unknown[]>;
}

/** Defines an operation that takes more than a handler. Without `prepare` and `after`, `run` gets the input and returns the output. */
export function operation<N extends OperationName, Result, Prepared = Input<EndpointOf<N>>, Found = undefined>(
  name: N,
  steps: Steps<EndpointOf<N>, Prepared, Found, Result> &
    Required<Pick<OuterSteps<EndpointOf<N>, Prepared, Result>, "after">>,
): Operation<EndpointOf<N>>;
export function operation<N extends OperationName, Prepared = Input<EndpointOf<N>>, Found = undefined>(
  name: N,
  steps: Steps<EndpointOf<N>, Prepared, Found, Output<EndpointOf<N>>>,
): Operation<EndpointOf<N>>;
export function operation(_name: OperationName, steps: unknown): unknown {
  return createOperation(steps as AnySteps);
}

type AnySteps = Steps<Endpoint, unknown, unknown, unknown>;

/** Creates an operation whose types are not checked. */
export function createOperation(steps: AnySteps): Operation {
  if (steps.runMany) return { combines: () => true, ...steps };
  const { read, run, ...outer } = steps;
  return {
    ...outer,
    combines: () => false,
    read: read && (([input], context) => read(input, context)),
    runMany: async ([input], context, found) => [await run(input, context, found)],
  };
}

export type Handler<E extends Endpoint> = (input: Input<E>, context: HandlerContext) => Promise<Output<E>>;

/** Every operation of a contract group, under the same names. A handler is an operation that only has the step `run`. */
export type Handlers<G extends Record<string, Endpoint>> = { readonly [V in keyof G]: Handler<G[V]> | Operation<G[V]> };

export function accountOf(context: HandlerContext): Account {
  if (!context.account) throw new Error("a handler requested the account of a call that has none");
  return context.account;
}

/** The ID of the account whose rows a call reads or changes. */
export function accountIdOf({ account, ownerId }: Pick<HandlerContext, "account" | "ownerId">): number {
  const id = account?.id ?? ownerId;
  if (id === undefined) throw new Error("a handler requested the account of a call that has none");
  return id;
}
