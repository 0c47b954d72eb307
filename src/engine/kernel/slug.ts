import type { Kysely } from "kysely";
import type { Tables } from "../../storage/tables.ts";
import type { RandomBytes } from "./handler.ts";
import { extensionPrefix } from "../../contract/index.ts";

/** Returns an unused slug. Assumed: the display name in lower case with dashes, plus random characters if it is taken. */
export async function findFreeSlug(db: Kysely<Tables>, displayName: string, random: RandomBytes): Promise<string> {
  const base = toSlug(displayName);
  for (let slug = base; ; slug = `${base}-${random(4).toString("hex")}`) {
    const taken = await db.selectFrom("users").select("id").where("slug", "=", slug).executeTakeFirst();
    if (!taken) return slug;
  }
}

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
