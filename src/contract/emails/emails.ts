import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { mailCategories, mailEventNames, mailStates } from "./categories.ts";
import { mailWhy } from "./explanation.ts";
import { enveloped } from "../reply.ts";
import { shape, timestamp } from "../shapes.ts";
import { lazily } from "../lazily.ts";

/** Mails of a page. Assumed: as other lists of an account. */
export const mailPage = { default: 20, max: 1_000 } as const;

/**
 * - `newest`, `oldest`: by id
 * - `soonest`, `latest`: by when they are due, or were
 */
export const mailSorts = ["newest", "oldest", "soonest", "latest"] as const;
export type MailSort = (typeof mailSorts)[number];

/** A mail that is to be sent, was, or is not. */
export const mailRecord = lazily(() =>
  z.object({
    id: z.number().int(),
    category: z.enum(mailCategories),
    email: z.string(),
    name: z.string(),
    state: z.enum(mailStates),
    /** Why it is not sent, by the rule's name or in the words of who refused it; or what the last attempt came to. */
    reason: z.string().nullable(),
    created_at: timestamp(),
    /** When it is to be sent, or the next attempt made; in the past where it was. */
    due_at: timestamp(),
    sent_at: timestamp().nullable(),
    attempts: z.number().int(),
    /** A mail of `mail test`. */
    is_test: z.boolean(),
    /** The store's own ids of what it asks about; nothing where no order brings it, no product where it is the whole order. */
    order_id: z.string().nullable(),
    product_id: z.string().nullable(),
  }),
);
export type MailRecord = z.output<ReturnType<typeof mailRecord>>;

/** What happened to a mail. */
const mailHistoryEvent = lazily(() =>
  z.object({
    event: z.enum(mailEventNames),
    occurred_at: timestamp(),
    /** When it was told, where that was later. */
    noted_at: timestamp(),
    detail: z.string().nullable(),
  }),
);

const oneOf = (names: readonly string[]) => `must be one of ${names.join(", ")}`;
const knownStates = `must be among ${mailStates.join(", ")}`;
const stateList = lazily(() =>
  z
    .string({ error: "must be names with commas between" })
    .transform((list) =>
      [...new Set(list.split(",").map((name) => name.trim()))].filter((name) => name !== ""),
    )
    .pipe(z.array(z.enum(mailStates, { error: knownStates })).min(1, { error: knownStates })),
);

const prefix = `${extensionPrefix}/apps/{app_key}/mails`;
const own = { extension: "own", auth: "utoken", reply: enveloped } as const;

export const mails = {
  list: endpoint({
    summary: "List mails: the newest first, or with `since_id` the oldest first",
    listing: {
      items: "mails",
      by: "since_id",
      isNewestFirst: true,
      size: { field: "count", max: mailPage.max },
    },
    method: "GET",
    paths: [prefix],
    ...own,
    effect: "read",
    input: () =>
      z.object({
        /** Names of states, with commas between. */
        state: stateList().optional(),
        order_id: shape.id.optional(),
        email: shape.email.optional(),
        category: z.enum(mailCategories, { error: oneOf(mailCategories) }).optional(),
        sort: z.enum(mailSorts, { error: oneOf(mailSorts) }).optional(),
        since_id: shape.rowId.optional(),
        count: shape.count.optional(),
      }),
    output: () => z.object({ mails: z.array(mailRecord()) }),
  }),
  get: endpoint({
    summary: "Tell all that is known of a mail: what it says, and what became of it",
    method: "GET",
    paths: [`${prefix}/{mail_id}`],
    ...own,
    effect: "read",
    // Its links do what their reader may.
    answersSecret: true,
    input: () => z.object({ mail_id: shape.rowId }),
    output: () =>
      z.object({
        mail: mailRecord(),
        /** What it says, made as it would be now; nothing where its template cannot be followed. */
        message: z.object({ subject: z.string(), text: z.string(), html: z.string() }).nullable(),
        events: z.array(mailHistoryEvent()),
      }),
  }),
  stop: endpoint({
    summary: "Stop a mail that waits to be sent",
    destroys: { question: "Stop mail {mail_id}" },
    method: "POST",
    paths: [`${prefix}/{mail_id}/stop`],
    ...own,
    effect: "repeatable",
    input: () => z.object({ mail_id: shape.rowId }),
    output: () => z.object({ mail: mailRecord() }),
  }),
  ...mailWhy,
};
