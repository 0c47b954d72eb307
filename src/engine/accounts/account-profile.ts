import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type Person, personColumns } from "./shoppers.ts";
import { readSettings, saveSetting } from "./account-settings.ts";
import { sql } from "kysely";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { findFreeSubdomain } from "../kernel/slug.ts";

export interface AccountProfile {
  readonly id: number;
  readonly appKey: string;
  /** The store's URL; empty if unknown. */
  readonly domain: string;
  /** The store's name; empty if unknown. */
  readonly displayName: string;
}

/**
 * Assumed: the store's URL is the one of its platform, or else of its owner; its name is the account's setting, or else
 * its owner's name. A URL never replaces the name.
 */
export async function readAccountProfile(context: HandlerContext, accountId?: number): Promise<AccountProfile> {
  const id = accountId ?? accountOf(context).id;
  const found = await context.transaction
    .selectFrom("accounts")
    .leftJoin("account_platforms", (join) => join.on("account_platforms.account_id", "=", id))
    .leftJoin("users", (join) => join.on("users.account_id", "=", id).on("users.kind", "=", "owner"))
    .select(["accounts.app_key", "account_platforms.shop_domain", "users.url", "users.display_name"])
    .where("accounts.id", "=", id)
    .orderBy("users.id")
    .limit(1)
    .executeTakeFirst();
  const name = await readStoreName(context, id);
  const ownerName = found?.display_name?.trim() ?? "";
  return {
    id,
    appKey: found?.app_key ?? "",
    domain: found?.shop_domain ?? found?.url ?? "",
    displayName: name ?? ownerName,
  };
}

/** Reads the store's name as set for the account. */
export async function readStoreName(
  context: Pick<HandlerContext, "transaction" | "dialect">,
  accountId: number,
): Promise<string | null> {
  const { store_name: name } = await readSettings(["store_name"], context, accountId);
  return typeof name === "string" ? name : null;
}

/** Sets the store's name; an empty one removes it. */
export async function saveStoreName(name: string, context: HandlerContext): Promise<void> {
  await saveSetting({ name: "store_name", value: name === "" ? null : name }, context, accountOf(context).id);
}

/** Reads the app key of an account, for links in emails. */
export async function readAppKey(
  { transaction }: Pick<HandlerContext, "transaction">,
  accountId: number,
): Promise<string> {
  const account = transaction.selectFrom("accounts").select("app_key").where("id", "=", accountId);
  return (await account.executeTakeFirstOrThrow()).app_key;
}

/** The host names of a store, in lower case and without `www.`. */
export type StoreDomains = ReadonlySet<string>;

/**
 * Reads the domains of an account's store: those of its platform and of its owner.
 * Assumed: if neither is known, it is the domain of the account's first product that no visitor has named. Other products do
 * not count, because each order can add products with any URL.
 */
export async function readStoreDomains(
  { transaction }: Pick<HandlerContext, "transaction">,
  accountId: number,
): Promise<StoreDomains> {
  const { rows: known } = await sql<{ readonly place: string }>`
    select shop_domain as place from account_platforms where account_id = ${accountId} and shop_domain <> ''
    union all
    select url from users where account_id = ${accountId} and kind = 'owner' and url <> ''`.execute(transaction);
  if (known.length > 0) return toDomains(known);
  return toDomains(await selectFirstProduct(accountId, transaction).execute());
}

/** The query for the first product that the store has named. */
export function selectFirstProduct(accountId: number, transaction: HandlerContext["transaction"]) {
  return selectAccountRows("products", accountId, transaction)
    .select("url as place")
    .where("named_by_visitor", "=", sql.lit(0))
    .orderBy("id")
    .limit(1);
}

/** Whether a URL is on a store's domain or one of its subdomains. */
export function isStoreUrl(url: string, domains: StoreDomains): boolean {
  const host = readHost(url);
  if (host === undefined) return false;
  // A name without a dot, such as `localhost`, has no subdomains.
  return [...domains].some((domain) => host === domain || (domain.includes(".") && host.endsWith(`.${domain}`)));
}

function toDomains(rows: readonly { readonly place: string }[]): StoreDomains {
  return new Set(rows.flatMap(({ place }) => readHost(place) ?? readHost(`https://${place}`) ?? []));
}

/** Reads the host of a web URL. */
function readHost(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  return hostname.replace(/(?<!\.)\.+$/, "").replace(/^www\./, "") || undefined;
}

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
