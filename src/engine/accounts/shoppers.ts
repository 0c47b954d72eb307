import { sql } from "kysely";
import { emailKeyOf, shortenName, type UserSummary } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import { batchColumns, type Row } from "../../storage/tables.ts";
import { deleteRows, selectAccountRows, updateRows } from "../kernel/account-rows.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { addPublicIds } from "../kernel/public-ids.ts";
import { findFreeSlugs, toSlug } from "../kernel/slug.ts";

/** The columns of a user that public responses include. */
export type Person = Pick<Row<"users">, "id" | "display_name" | "slug" | "social_image" | "bio" | "score" | "kind">;

export const personColumns = [
  "users.id",
  "users.display_name",
  "users.slug",
  "users.social_image",
  "users.bio",
  "users.score",
  "users.kind",
] as const;

/** The author of a review, question, or answer, as submitted. */
export interface Author {
  readonly email: string;
  readonly display_name: string;
}

interface NewAuthor extends Author {
  readonly isVerified: boolean;
}

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "random">;

/**
 * Finds the shopper with a verified email address, or adds one.
 * Assumed: a shopper is identified by account and verified address, and keeps the first name given.
 */
export async function findOrAddShopper(author: Author, accountId: number, context: Context): Promise<Person> {
  return addOne({ ...author, isVerified: true }, accountId, context);
}

async function addOne(author: NewAuthor, accountId: number, context: Context): Promise<AddressedPerson> {
  const [person] = await addShoppers([author], accountId, context);
  return person as AddressedPerson;
}

/**
 * Finds or adds the shopper with a verified email address, and changes their name to the one submitted.
 * Assumed: the owner of a verified address may choose any name, which then applies to everything they wrote.
 */
export async function findAndRenameShopper(author: Author, accountId: number, context: Context): Promise<Person> {
  const person = await findOrAddShopper(author, accountId, context);
  const { display_name } = author;
  if (person.display_name === display_name) return person;
  await updateRows("users", { display_name }, { account_id: accountId, id: person.id }, context);
  return { ...person, display_name };
}

/**
 * Adds an author whose email address is not verified.
 * Assumed: until verification, the author is a separate identity with the name they submitted. Someone who uses
 * another person's address is not shown under that person's name and does not learn it.
 */
export async function addUnverifiedShopper(author: Author, accountId: number, context: Context): Promise<Person> {
  return addOne({ ...author, isVerified: false }, accountId, context);
}

/**
 * Turns an unverified author into the shopper with that address, or merges them into the existing one.
 * @returns the shopper's row ID, which replaces `authorRow`
 */
export async function verifyAuthor(authorRow: number, accountId: number, context: Context): Promise<number> {
  const { transaction } = context;
  const { address_key: email_key } = await selectAccountRows("users", accountId, transaction)
    .select("address_key")
    .where("id", "=", authorRow)
    .executeTakeFirstOrThrow();
  const known = (await findShoppers(new Set([email_key]), accountId, context)).get(email_key);
  if (known) {
    if (known.id === authorRow) return authorRow;
    await deleteRows("users", { account_id: accountId, id: authorRow }, { transaction });
    return known.id;
  }
  await updateRows("users", { email_key }, { account_id: accountId, id: authorRow }, { transaction });
  return authorRow;
}

/** A shopper with the address that they submitted first. */
export type AddressedPerson = Person & Pick<Row<"users">, "email">;

const shopperColumns = batchColumns("users", ["email", "address_key", "email_key", "display_name", "slug"]);

/**
 * Like `findOrAddShopper` for authors who are verified, and `addUnverifiedShopper` for others, with a constant number of
 * statements.
 * @returns a person for each author
 */
export async function addShoppers(
  authors: readonly NewAuthor[],
  accountId: number,
  context: Context,
): Promise<readonly AddressedPerson[]> {
  const keyOf = ({ email, isVerified }: NewAuthor) => (isVerified ? emailKeyOf(email) : null);
  const known = await findShoppers(new Set(authors.flatMap((author) => keyOf(author) ?? [])), accountId, context);
  const seen = new Set<string | null>(known.keys());
  const added = authors.filter((author) => {
    const key = keyOf(author);
    const isNew = key === null || !seen.has(key);
    seen.add(key);
    return isNew;
  });
  const slugs = await findFreeSlugs(
    added.map(({ display_name }) => shortenName(display_name)),
    accountId,
    context,
  );
  const people = await insertShoppers(
    added.map((author, at) => [
      author.email,
      emailKeyOf(author.email),
      keyOf(author),
      author.display_name,
      slugs[at] ?? "",
    ]),
    accountId,
    context,
  );
  const bySlug = new Map(people.map((person) => [person.slug, person]));
  const byAuthor = new Map(added.map((author, at) => [author, bySlug.get(slugs[at] ?? "")]));
  for (const author of added) {
    const [key, person] = [keyOf(author), byAuthor.get(author)];
    if (key !== null && person) known.set(key, person);
  }
  return authors.map((author) => {
    const found = byAuthor.get(author) ?? known.get(keyOf(author) ?? "");
    if (!found) throw new Error("a shopper was not stored");
    return found;
  });
}

const addressedColumns = sql.join([...personColumns, "users.email", "users.email_key"].map((name) => sql.ref(name)));

async function findShoppers(
  keys: ReadonlySet<string>,
  accountId: number,
  { transaction, dialect }: Pick<HandlerContext, "transaction" | "dialect">,
): Promise<Map<string, AddressedPerson>> {
  if (keys.size === 0) return new Map();
  const rows = JSON.stringify(Array.from(keys, (key) => [key]));
  const found = await selectShoppers(transaction, dialect, { accountId, rows });
  return new Map(found.rows.map(({ email_key, ...person }) => [email_key, person]));
}

const selectShoppers = createStatement<
  { accountId: number; rows: string },
  AddressedPerson & { readonly email_key: string }
>(
  (slot, dialect) => sql`
    select ${addressedColumns}
    from ${batchOf({ email_key: "text" }, slot("rows"), dialect)} cross join users
    where users.account_id = ${slot("accountId")} and users.email_key = batch.email_key`,
);

async function insertShoppers(
  shoppers: readonly (readonly unknown[])[],
  accountId: number,
  { transaction, dialect, nowMs }: Context,
): Promise<readonly AddressedPerson[]> {
  if (shoppers.length === 0) return [];
  const { rows } = await insertShopperRows(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(shoppers) });
  const ids = rows.map(({ id }) => id);
  await addPublicIds("user", ids, accountId, { transaction, dialect });
  return rows;
}

const insertShopperRows = createStatement<{ accountId: number; nowMs: number; rows: string }, AddressedPerson>(
  (slot, dialect) => sql`
    insert into users (account_id, created_at, kind, password_hash, url, email, address_key, email_key, display_name, slug)
    select cast(${slot("accountId")} as bigint), cast(${slot("nowMs")} as bigint), 'shopper', '', '',
      batch.email, batch.address_key, batch.email_key, batch.display_name, batch.slug
    from ${batchOf(shopperColumns, slot("rows"), dialect)} where true
    ${dialect.inBatchOrder}
    returning id, display_name, slug, social_image, bio, score, kind, email`,
);

export function publicName({ kind, display_name }: Pick<Person, "kind" | "display_name">): string {
  return kind === "shopper" ? shortenName(display_name) : display_name;
}

/** The slug to show with a public name. Earlier versions stored slugs of full names. */
function publicSlug(slug: string, shownName: string): string {
  const base = toSlug(shownName);
  const isOfName = slug.startsWith(base) && /^(?:-[0-9a-f]{8})?$/.test(slug.slice(base.length));
  return isOfName ? slug : base;
}

/** Source: spec "User summary, badge". Assumed: no one has badges or connected accounts, because no operation sets them. */
export function toSummary(person: Person): UserSummary {
  const { id, kind, slug, social_image, bio, score } = person;
  const display_name = publicName(person);
  return {
    id,
    display_name,
    slug: kind === "shopper" ? publicSlug(slug, display_name) : slug,
    social_image,
    is_social_connected: false,
    bio,
    score,
    badges: [],
  };
}
