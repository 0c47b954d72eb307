import { sql } from "kysely";
import { selectAccountRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";

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
