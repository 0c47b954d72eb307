import { sql } from "kysely";
import { findRow } from "./account-rows.ts";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { HandlerContext } from "./handler.ts";
import { extensionPrefix } from "../../contract/index.ts";

/**
 * Returns a slug for the owner of an account. It is a subdomain, so no other user of the account has it, and no owner of
 * another account. The caller has locked the account.
 * Assumed: the display name in lower case with dashes, plus random characters if it is taken.
 */
export async function findFreeSubdomain(
  displayName: string,
  accountId: number,
  context: Pick<HandlerContext, "transaction" | "random">,
): Promise<string> {
  const base = toSlug(displayName);
  for (let slug = base; ; slug = `${base}-${context.random(suffixBytes).toString("hex")}`) {
    const taken = await findRow("users", ["id"], { account_id: accountId, slug }, context);
    if (!taken && !(await isSlugOfOwner(slug, context.transaction))) return slug;
  }
}

/** Subdomains are unique across accounts. */
export async function isSlugOfOwner(slug: string, transaction: HandlerContext["transaction"]): Promise<boolean> {
  const found = await transaction
    .selectFrom("users")
    .select("id")
    .where("slug", "=", slug)
    // A literal, so that databases can use an index of owners only.
    .where("kind", "=", sql.lit("owner"))
    .executeTakeFirst();
  return found !== undefined;
}

/** The random suffix of a slug, in hexadecimal digits. */
const suffixBytes = 4;
const suffixLength = 2 * suffixBytes;

/** Returns for each name a different slug that no user of the account has: as for owners, without other accounts. */
export async function findFreeSlugs(
  displayNames: readonly string[],
  accountId: number,
  { transaction, dialect, random }: Pick<HandlerContext, "transaction" | "dialect" | "random">,
): Promise<readonly string[]> {
  const slugs = displayNames.map(toSlug);
  const seen = new Set<string>();
  let open = [...slugs.keys()];
  while (open.length > 0) {
    const rows = JSON.stringify(open.map((at) => [slugs[at]]));
    const found = await selectTakenSlugs(transaction, dialect, { accountId, rows });
    const taken = new Set(found.rows.map(({ slug }) => slug));
    const suffixes = random(suffixBytes * open.length).toString("hex");
    open = open.filter((at, n) => {
      const slug = slugs[at] ?? "";
      const isFree = !taken.has(slug) && !seen.has(slug);
      if (isFree) seen.add(slug);
      else slugs[at] = `${toSlug(displayNames[at] ?? "")}-${suffixes.slice(n * suffixLength, (n + 1) * suffixLength)}`;
      return !isFree;
    });
  }
  return slugs;
}

const selectTakenSlugs = createStatement<{ accountId: number; rows: string }, { readonly slug: string }>(
  (slot, dialect) => sql`
    select users.slug from ${batchOf({ slug: "text" }, slot("rows"), dialect)} cross join users
    where users.account_id = ${slot("accountId")} and users.slug = batch.slug`,
);

/** Maximum length of a slug without its random suffix. */
const maxSlug = 100;

/** Converts a name to a URL path segment. Never returns an empty string. */
export function toSlug(displayName: string): string {
  const plain = displayName
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  const slug = plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|(?<!-)-+$/g, "");
  return slug === "" ? "user" : Array.from(slug).slice(0, maxSlug).join("");
}

/** The URL of a product's review page, or of the store's if no product is specified. */
export function seoPageUrl({
  publicUrl,
  appKey,
  productId,
}: {
  readonly publicUrl: string;
  readonly appKey: string;
  readonly productId?: string | undefined;
}): string {
  const page = `${publicUrl}${extensionPrefix}/pages/${encodeURIComponent(appKey)}/products`;
  return productId === undefined ? page : `${page}/${encodeURIComponent(productId)}`;
}

/** The page where anyone can request the link to what was written with an address. */
export function myReviewsUrl(appKey: string, { publicUrl }: { readonly publicUrl: string }): string {
  return `${publicUrl}${extensionPrefix}/pages/${encodeURIComponent(appKey)}/my_reviews`;
}
