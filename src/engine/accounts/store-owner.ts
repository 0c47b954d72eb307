import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { type Person, personColumns } from "./shoppers.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { findFreeSubdomain } from "../kernel/slug.ts";

/** Finds the first owner of an account. An account that was not created through the API has none. */
export function findOwner(accountId: number, { transaction }: Pick<HandlerContext, "transaction">) {
  return selectAccountRows("users", accountId, transaction)
    .select([...personColumns, "users.email"])
    .where("kind", "=", "owner")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/**
 * Finds the person under whose name a store answers, adding one if necessary.
 * Assumed: this is the account's first owner, or else a separate identity. The store's name, if set, is shown instead.
 */
export async function findStorePerson(accountId: number, context: HandlerContext): Promise<Person> {
  const { transaction } = context;
  const owner = await findOwner(accountId, context);
  if (owner) return owner;
  const stored = await selectAccountRows("users", accountId, transaction)
    .select(personColumns)
    .where("kind", "=", "store")
    .executeTakeFirst();
  return stored ?? addStorePerson(accountId, context);
}

const unnamedStore = "Store";

/** The name of the person under whose name a store without a name answers. Earlier versions stored a URL. */
export function ownerNameOf({ kind, display_name }: Pick<Person, "kind" | "display_name">): string {
  return kind === "store" ? unnamedStore : display_name;
}

async function addStorePerson(accountId: number, context: HandlerContext): Promise<Person> {
  const display_name = unnamedStore;
  const person = await context.transaction
    .insertInto("users")
    .values({
      account_id: accountId,
      email: "",
      display_name,
      kind: "store",
      password_hash: "",
      url: "",
      slug: await findFreeSubdomain(display_name, accountId, context),
      created_at: context.nowMs,
    })
    .returning(personColumns)
    .executeTakeFirstOrThrow();
  await addPublicIds("user", [person.id], accountId, context);
  return person;
}
