import type { Kysely } from "kysely";
import type { Tables } from "../../storage/tables.ts";
import type { RandomBytes } from "./handler.ts";

/** Assumed: a slug is the display name in lower case with dashes, and a few random characters where that is taken. */
export async function findFreeSlug(
  db: Kysely<Tables>,
  displayName: string,
  random: RandomBytes,
): Promise<string> {
  const base = toSlug(displayName);
  for (let slug = base; ; slug = `${base}-${random(4).toString("hex")}`) {
    const taken = await db.selectFrom("users").select("id").where("slug", "=", slug).executeTakeFirst();
    if (!taken) return slug;
  }
}

/** Characters of a slug that are made of a name; a part of a URL, and of an index. */
const maxSlug = 100;

/** A name as a part of a URL; never empty. */
export function toSlug(displayName: string): string {
  const plain = displayName
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  const slug = plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return slug === "" ? "user" : Array.from(slug).slice(0, maxSlug).join("");
}
