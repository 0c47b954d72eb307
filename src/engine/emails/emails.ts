import { sql } from "kysely";
import type * as z from "zod";
import {
  type contract,
  type MailCategory,
  type MailEventName,
  mailPage,
  type MailRecord,
  type MailSort,
  type MailState,
  mailStates,
  ServiceError,
  recordNotFound,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { noteMailEvent } from "../kernel/email-log.ts";
import { renderMessage } from "./sending/email-message.ts";
import { iso } from "../kernel/times.ts";

type Query = z.output<typeof contract.mails.list.input>;

export const mailListHandlers: Pick<Handlers<typeof contract.mails>, "list" | "get" | "stop"> = {
  /**
   * Lists mails.
   * Assumed: `since_id` is the lowest id that may be listed; `count` is at most the contract's most.
   */
  list: async (query, context) => ({ mails: (await listMails(query, context)).map(toRecord) }),

  /** @throws ServiceError `recordNotFound` */
  get: async ({ mail_id }, context) => {
    const mail = await findMail(mail_id, context);
    const events = await context.transaction
      .selectFrom("mail_events")
      .select(["event", "occurred_at", "created_at", "detail"])
      .where("mail_row", "=", mail_id)
      .orderBy("occurred_at")
      .orderBy("id")
      .execute();
    return {
      mail: toRecord(mail),
      message: (await renderMessage(mail_id, context)) ?? null,
      events: events.map(({ event, occurred_at, created_at, detail }) => ({
        event: event as MailEventName,
        occurred_at: iso(occurred_at),
        noted_at: iso(created_at),
        detail,
      })),
    };
  },

  /**
   * Keeps a mail from being sent; one that was stopped so already stays it.
   * @throws ServiceError `recordNotFound`; `invalidParams` for one that is being sent, or that has ended
   * Assumed: one that a worker holds and has not begun to hand over can be stopped, since the worker looks once more
   * before it does; one in `sending` may be under way to its reader.
   */
  stop: async ({ mail_id }, context) => {
    const mail = await findMail(mail_id, context);
    if (mail.reason === stopped && mail.state === "not_sent") return { mail: toRecord(mail) };
    const refusal = unstoppable[mail.state as MailState];
    if (refusal !== undefined) throw new ServiceError("invalidParams", `mail ${mail_id} ${refusal}`);
    const change = { state: "not_sent", reason: stopped } as const;
    await context.transaction
      .updateTable("mails")
      .set({ ...change, worker: null, leased_until: null })
      .where("id", "=", mail_id)
      .execute();
    const noted = {
      accountId: accountOf(context).id,
      mailId: mail_id,
      category: mail.category as MailCategory,
      event: "not_sent",
      detail: stopped,
    } as const;
    await noteMailEvent(noted, context);
    return { mail: toRecord({ ...mail, ...change }) };
  },
};

const stopped = "stopped_by_hand";

/** Why a mail can no longer be stopped; nothing for one that can. */
const unstoppable: Readonly<Partial<Record<MailState, string>>> = {
  sending: "is being sent at this moment: it cannot be stopped any more",
  sent: "was sent: it cannot be stopped any more",
  bounced: "was sent, and refused by its receiver: there is nothing to stop",
  failed: "was given up: there is nothing to stop",
  not_sent: "is not going to be sent: there is nothing to stop",
};

/** What a record is made of. */
export function selectMails({ transaction }: Pick<HandlerContext, "transaction">) {
  return transaction
    .selectFrom("mails")
    .leftJoin("orders", "orders.id", "mails.order_row")
    .leftJoin("products", "products.id", "mails.product_row")
    .select([
      "mails.id",
      "mails.category",
      "mails.email",
      "mails.name",
      "mails.state",
      "mails.reason",
      "mails.created_at",
      "mails.due_at",
      "mails.sent_at",
      "mails.attempts",
      "mails.data",
      "orders.order_id",
      "products.product_id",
    ]);
}

type MailRow = Awaited<ReturnType<ReturnType<typeof selectMails>["execute"]>>[number];

export function toRecord({ data, ...row }: MailRow): MailRecord {
  return {
    ...row,
    category: row.category as MailCategory,
    state: row.state as MailState,
    created_at: iso(row.created_at),
    due_at: iso(row.due_at),
    sent_at: row.sent_at === null ? null : iso(row.sent_at),
    is_test: (JSON.parse(data) as { is_test?: unknown }).is_test === true,
  };
}

async function findMail(mailId: number, context: HandlerContext): Promise<MailRow> {
  const found = await selectMails(context)
    .where("mails.id", "=", mailId)
    .where("mails.account_id", "=", accountOf(context).id)
    .executeTakeFirst();
  if (found) return found;
  throw recordNotFound("Mail", "id", mailId);
}

const orderOf: Readonly<Record<MailSort, readonly ["mails.id" | "mails.due_at", "asc" | "desc"]>> = {
  newest: ["mails.id", "desc"],
  oldest: ["mails.id", "asc"],
  soonest: ["mails.due_at", "asc"],
  latest: ["mails.due_at", "desc"],
};

/**
 * Each state is looked through by itself, in the order of the index, and few of each are needed; a person's mails, and
 * an order's, are few altogether.
 */
async function listMails(query: Query, context: HandlerContext): Promise<readonly MailRow[]> {
  const sort = query.sort ?? (query.since_id === undefined ? "newest" : "oldest");
  const count = Math.min(query.count ?? mailPage.default, mailPage.max);
  if (isOfFew(query)) return selectMailsOfFew(query, { sort, count }, context).execute();
  const [column, direction] = orderOf[sort];
  const states = query.state ?? (column === "mails.id" ? [undefined] : mailStates);
  const found: MailRow[] = [];
  for (const state of states) {
    found.push(...(await selectMailPage(query, { state, sort, count }, context).execute()));
  }
  const sign = direction === "asc" ? 1 : -1;
  const at = column === "mails.id" ? "id" : "due_at";
  return found.toSorted((one, other) => sign * (one[at] - other[at] || one.id - other.id)).slice(0, count);
}

interface Page {
  readonly state: MailState | undefined;
  readonly sort: MailSort;
  readonly count: number;
}

function isOfFew({ email, order_id }: Query): boolean {
  return email !== undefined || order_id !== undefined;
}

/** What all pages have in common. */
function selectListed({ category, since_id }: Query, context: HandlerContext) {
  return selectMails(context)
    .where("mails.account_id", "=", accountOf(context).id)
    .$if(category !== undefined, (found) => found.where("mails.category", "=", category ?? ""))
    .$if(since_id !== undefined, (found) => found.where("mails.id", ">=", since_id ?? 0));
}

/** A page of all mails, or of those in a state. */
export function selectMailPage(query: Query, { state, sort, count }: Page, context: HandlerContext) {
  const [column, direction] = orderOf[sort];
  return selectListed(query, context)
    .$if(state !== undefined, (found) => found.where("mails.state", "=", state ?? ""))
    .orderBy(column, direction)
    .orderBy("mails.id", direction)
    .limit(count);
}

/** A page of the mails to a person, or of an order. No index is to be used but theirs: not that of states, nor that of due dates. */
export function selectMailsOfFew(
  query: Query,
  { sort, count }: Pick<Page, "sort" | "count">,
  context: HandlerContext,
) {
  const { order_id, email, state } = query;
  const [column, direction] = orderOf[sort];
  const order = context.transaction
    .selectFrom("orders")
    .select("orders.id")
    .where("orders.account_id", "=", accountOf(context).id)
    .where("orders.order_id", "=", order_id ?? "");
  return selectListed(query, context)
    .$if(order_id !== undefined, (found) => found.where("mails.order_row", "in", order))
    .$if(email !== undefined, (found) => found.where("mails.email_key", "=", (email ?? "").toLowerCase()))
    .$if(state !== undefined, (found) => found.where(sql`coalesce(mails.state, '')`, "in", state ?? []))
    .orderBy(sql`coalesce(${sql.ref(column)}, 0)`, direction)
    .orderBy("mails.id", direction)
    .limit(count);
}
