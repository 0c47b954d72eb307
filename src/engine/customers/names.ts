import { sql } from "kysely";
import type { Customer } from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import type { Person } from "./person.ts";

/** The name of erased customers. */
export const erasedName = "Anonymous";

/** Notes of the store, which nobody else sees: reasons of decisions, and rules. They can mention anyone by name. */
export const noteColumns: ReadonlySet<string> = new Set([
  "account_settings.value",
  "question_events.by_name",
  "question_events.reason",
  "review_events.by_name",
  "review_events.reason",
]);

/** A name of several words, such as `Ann Lee`. Others are also ordinary words, or names of moderators. */
const isFullName = (name: string) => /\S\s+\S/.test(name) && name.length >= 6;

/** Finds the full names of a customer that nobody else in the account has, so that notes with them are about the customer. */
export async function findOwnNames(
  { accountId, userRows, orderRows }: Person,
  { names }: Pick<Customer, "names">,
  { transaction }: HandlerContext,
): Promise<readonly string[]> {
  const fullNames = names.filter(isFullName);
  if (fullNames.length === 0) return [];
  const [users, orders] = [new Set(userRows), new Set(orderRows)];
  const lower = fullNames.map((name) => name.toLowerCase());
  const named = await selectAccountRows("users", accountId, transaction)
    .select(["id", "display_name as name"])
    .where(sql<string>`lower(display_name)`, "in", lower)
    .execute();
  const ordered = await selectAccountRows("orders", accountId, transaction)
    .select(["id", "customer_name as name"])
    .where(sql<string>`lower(customer_name)`, "in", lower)
    .execute();
  const others = [...named.filter(({ id }) => !users.has(id)), ...ordered.filter(({ id }) => !orders.has(id))];
  const shared = new Set(others.map(({ name }) => name.toLowerCase()));
  return fullNames.filter((name) => !shared.has(name.toLowerCase()));
}

/** Creates a function that replaces names in a text, in any case, but not as part of a longer word. */
export function createNameReplacer(names: readonly string[], replacement: string): (text: string) => string {
  if (names.length === 0) return (text) => text;
  const parts = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${parts.join("|")})(?![\p{L}\p{N}])`, "giu");
  return (text) => text.replaceAll(pattern, replacement);
}
