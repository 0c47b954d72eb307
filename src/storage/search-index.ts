import { type Kysely, type RawBuilder, sql } from "kysely";
import { batchOf } from "./batch.ts";
import type { StorageDialect } from "./dialect.ts";
import { createDeferredStatement } from "./statement.ts";
import type { TextTable } from "./text-search.ts";
import type { Tables } from "./tables.ts";

/** The texts of a record, which are searched together, and what else it is found by. */
interface SearchedTexts {
  readonly id: number;
  readonly texts: readonly string[];
  /** For databases that index them together with words; those of `listPositionTags`, and of other fields. */
  readonly tags?: readonly string[];
}

/** The column of each table with the record's ID. */
export const rowColumns = { review_words: "review_row", question_words: "question_row" } as const;

/** Adds records to the index, or replaces their words. */
export async function indexTexts(
  table: TextTable,
  records: readonly SearchedTexts[],
  accountId: number,
  { db, dialect }: { readonly db: Kysely<Tables>; readonly dialect: StorageDialect },
): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => [record.id, formatRecord(record, accountId, dialect)]);
  await statements[table](db, dialect, { accountId, rows: JSON.stringify(rows) });
}

function formatRecord({ texts, tags = [] }: SearchedTexts, accountId: number, { textSearch }: StorageDialect): string {
  const words = toIndexed(accountId, listWords(texts.join("\n")));
  return textSearch.formatWords(words, toIndexedTags(accountId, tags));
}

function createStatementFor(table: TextTable) {
  const column = rowColumns[table];
  const row = sql.ref(column);
  return createDeferredStatement<{ accountId: number; rows: string }>((slot, dialect) => {
    const batch = batchOf({ id: "integer", words: "text" }, slot("rows"), dialect);
    const words: RawBuilder<unknown> = dialect.textSearch.toColumn(sql`batch.words`);
    return sql`insert into ${sql.table(table)} (account_id, ${row}, words)
      select cast(${slot("accountId")} as bigint), batch.id, ${words} from ${batch} where true
      on conflict (${sql.join(dialect.textSearch.keyOf(column).map((name) => sql.ref(name)))}) do update set words = excluded.words`;
  });
}

const statements = {
  review_words: createStatementFor("review_words"),
  question_words: createStatementFor("question_words"),
};

/** Words of a text beyond this number cannot be found. PostgreSQL does not store the positions of more. */
const maxWords = 16_000;

/** Longer words are indexed and searched by their first characters. */
const maxWordLength = 64;

/** Scripts without spaces between words. Each of their characters counts as a word. */
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/**
 * Lists the words of a text in a form that ignores case, accents, and punctuation, so that both databases find the same.
 * Words consist of letters and digits: `Don't` has two.
 */
export function listWords(text: string): readonly string[] {
  const isPlain = /^[\0-\x7F]*$/.test(text);
  const folded = isPlain ? text.toLowerCase() : foldText(text).replaceAll(ideographs, " $& ");
  const spaced = isPlain ? folded.replaceAll(/[^a-z\d]/g, " ") : folded.replaceAll(/[^\p{L}\p{N}]/gu, " ");
  const words = spaced.split(" ").filter((word) => word !== "");
  return words.slice(0, maxWords).map(shorten);
}

/** A text without case and accents, which are removed before and after the conversion to lower case, because it can add some. */
export function foldText(text: string): string {
  const lower = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return lower.replaceAll(/\p{M}/gu, "").replaceAll("ς", "σ");
}

function shorten(word: string): string {
  if (word.length <= maxWordLength) return word;
  // Not within a surrogate pair.
  return word.slice(0, maxWordLength).replace(/[\uD800-\uDBFF]$/, "");
}

/**
 * Reads what a user searches for: all words must occur, and words in quotation marks next to each other. Any text is valid.
 * @returns the phrases, each a list of words; a word that consists of several, such as `Don't`, is a phrase
 */
export function listPhrases(search: string): readonly (readonly string[])[] {
  const parts = search.match(/["“”„][^"“”„]*["“”„]?|[^\s"“”„]+/gu) ?? [];
  return parts.map(listWords).filter((words) => words.length > 0);
}

/**
 * The words of an account's text as they are indexed. They contain the account, so that searching reads only the part of
 * the index that belongs to it.
 */
export function toIndexed(accountId: number, words: readonly string[]): readonly string[] {
  return words.map((word) => `${accountId}_${word}`);
}

/** The tags of an account's record as they are indexed. No word contains a hyphen. */
export function toIndexedTags(accountId: number, tags: readonly string[]): readonly string[] {
  return tags.map((tag) => `${accountId}-${tag}`);
}
