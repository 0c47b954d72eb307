import { type RawBuilder, sql } from "kysely";
import { listOwnedTables } from "../accounts/deletion.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { createAddressReplacer, createNameReplacer, formsOf, noteColumns } from "./redaction.ts";
import type { CustomerRows } from "./customer-rows.ts";

/** Columns with texts that cannot contain an address, or whose addresses are replaced otherwise. */
const otherColumns: ReadonlySet<string> = new Set([
  "idempotent_calls.response",
  "review_images.base64",
  "review_images.thumb_base64",
]);

/** Tables whose texts cannot contain an address, or are replaced otherwise. */
const otherTables: ReadonlySet<string> = new Set(
  "purchases public_ids users erasures review_words question_words".split(" "),
);

interface Mention {
  readonly table: string;
  readonly column: string;
  readonly text: string;
  readonly replacement: string;
}

/** Whether a text contains one of some others, in lower case. Both databases have `replace`, unlike functions that search. */
function containsAny(column: string, parts: readonly string[]): RawBuilder<boolean> {
  const text = sql`lower(${sql.ref(column)})`;
  const conditions = parts.map((part) => sql`replace(${text}, ${part}, '') <> ${text}`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/**
 * Finds the different texts of the account that contain the customer's address, in every table, or the name, in notes of the
 * store.
 */
export async function findMentions(
  { person, values: { names } }: Pick<CustomerRows, "person" | "values">,
  pseudonym: string,
  { transaction, dialect }: HandlerContext,
): Promise<Mention[]> {
  const tables = await listOwnedTables(dialect);
  const replaceAddresses = createAddressReplacer(person.spellings, pseudonym);
  const replaceNames = createNameReplacer(names, pseudonym);
  const forms = person.spellings.flatMap(formsOf);
  const found: Mention[] = [];
  for (const { name: table, columns } of tables.filter(({ name }) => !otherTables.has(name))) {
    for (const [column, { type }] of Object.entries(columns)) {
      const place = `${table}.${column}`;
      if (type !== "text" || otherColumns.has(place)) continue;
      const isNote = noteColumns.has(place);
      const parts = isNote ? [...forms, ...names.map((name) => name.toLowerCase())] : forms;
      const { rows } = await sql<{ text: string }>`select distinct ${sql.ref(column)} as text from ${sql.table(table)}
        where account_id = ${person.accountId} and ${containsAny(column, [...new Set(parts)])}`.execute(transaction);
      for (const { text } of rows) {
        // The database also finds the address within others.
        const replaced = replaceAddresses(text);
        const replacement = isNote ? replaceNames(replaced) : replaced;
        if (replacement !== text) found.push({ table, column, text, replacement });
      }
    }
  }
  return found;
}

/**
 * Replaces the address in all texts of the account that contain it, such as responses of mail servers and reasons of the
 * store.
 * @returns the number of different texts
 */
export async function eraseMentions(rows: CustomerRows, pseudonym: string, context: HandlerContext): Promise<number> {
  const found = await findMentions(rows, pseudonym, context);
  for (const { table, column, text, replacement } of found) {
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${replacement}
      where account_id = ${rows.person.accountId} and ${sql.ref(column)} = ${text}`.execute(context.transaction);
  }
  return found.length;
}
