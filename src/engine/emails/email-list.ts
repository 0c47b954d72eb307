import { sql } from "kysely";
import type * as z from "zod";
import {
  type contract,
  type EmailCategory,
  emailPage,
  type EmailRecord,
  type EmailSort,
  type EmailState,
  emailStates,
} from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { iso } from "../kernel/times.ts";

type Query = z.output<typeof contract.emails.list.input>;

/** What a record is made of. */
export function selectEmails({ transaction }: Pick<HandlerContext, "transaction">) {
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

export type EmailRow = Awaited<ReturnType<ReturnType<typeof selectEmails>["execute"]>>[number];

export function toRecord({ data, ...row }: EmailRow): EmailRecord {
  return {
    ...row,
    category: row.category as EmailCategory,
    state: row.state as EmailState,
    created_at: iso(row.created_at),
    due_at: iso(row.due_at),
    sent_at: row.sent_at === null ? null : iso(row.sent_at),
    is_test: (JSON.parse(data) as { is_test?: unknown }).is_test === true,
  };
}

const orderOf: Readonly<Record<EmailSort, readonly ["mails.id" | "mails.due_at", "asc" | "desc"]>> = {
  newest: ["mails.id", "desc"],
  oldest: ["mails.id", "asc"],
  soonest: ["mails.due_at", "asc"],
  latest: ["mails.due_at", "desc"],
};

/**
 * Each state is looked through by itself, in the order of the index, and few of each are needed; a person's mails, and
 * an order's, are few altogether.
 */
export async function listEmails(query: Query, context: HandlerContext): Promise<readonly EmailRow[]> {
  const sort = query.sort ?? (query.since_id === undefined ? "newest" : "oldest");
  const count = Math.min(query.count ?? emailPage.default, emailPage.max);
  if (isOfFew(query)) return selectFewEmails(query, { sort, count }, context).execute();
  const [column, direction] = orderOf[sort];
  const states = query.state ?? (column === "mails.id" ? [undefined] : emailStates);
  const found: EmailRow[] = [];
  for (const state of states) {
    found.push(...(await selectEmailPage(query, { state, sort, count }, context).execute()));
  }
  const sign = direction === "asc" ? 1 : -1;
  const at = column === "mails.id" ? "id" : "due_at";
  return found.toSorted((one, other) => sign * (one[at] - other[at] || one.id - other.id)).slice(0, count);
}

interface Page {
  readonly state: EmailState | undefined;
  readonly sort: EmailSort;
  readonly count: number;
}

function isOfFew({ email, order_id }: Query): boolean {
  return email !== undefined || order_id !== undefined;
}

/** What all pages have in common. */
function selectListed({ category, since_id }: Query, context: HandlerContext) {
  return selectEmails(context)
    .where("mails.account_id", "=", accountOf(context).id)
    .$if(category !== undefined, (found) => found.where("mails.category", "=", category ?? ""))
    .$if(since_id !== undefined, (found) => found.where("mails.id", ">=", since_id ?? 0));
}

/** A page of all mails, or of those in a state. */
function selectEmailPage(query: Query, { state, sort, count }: Page, context: HandlerContext) {
  const [column, direction] = orderOf[sort];
  return selectListed(query, context)
    .$if(state !== undefined, (found) => found.where("mails.state", "=", state ?? ""))
    .orderBy(column, direction)
    .orderBy("mails.id", direction)
    .limit(count);
}

/** A page of the mails to a person, or of an order. No index is to be used but theirs: not that of states, nor that of due dates. */
function selectFewEmails(
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
