import { type RawBuilder, sql } from "kysely";
import { invalidField } from "../../../contract/index.ts";

/** The `page_info` of the page after a record, from the numbers that a list is sorted by. */
export function writeCursor(position: readonly number[]): string {
  return Buffer.from(position.join(".")).toString("base64url");
}

/**
 * Reads the numbers of a `page_info`.
 * @throws ServiceError `invalidParams`
 */
export function readCursor(text: string, count: number): readonly number[] {
  const parts = Buffer.from(text, "base64url").toString("latin1").split(".");
  const isValid = parts.length === count && parts.every((part) => /^\d{1,15}$/.test(part));
  if (!isValid) throw invalidField("page_info", "is invalid");
  return parts.map(Number);
}

interface Page<R> {
  readonly rows: readonly R[];
  readonly pagination: { readonly next_page_info: string | null };
}

/**
 * Makes a page of rows that were found, with the cursor of the next one.
 * @param found one row more than the page has, if there is another page
 */
export function toPage<R>(found: readonly R[], size: number, positionOf: (row: R) => readonly number[]): Page<R> {
  const last = found.length > size ? found[size - 1] : undefined;
  return { rows: found.slice(0, size), pagination: { next_page_info: last ? writeCursor(positionOf(last)) : null } };
}

/** The order of a list by ID, and the condition for its next rows: without `since_id`, the newest come first. */
export function orderById({
  since_id,
  page_info,
}: {
  readonly since_id?: number | undefined;
  readonly page_info?: string | undefined;
}) {
  const direction = since_id === undefined ? "desc" : "asc";
  const id = sql.ref("id");
  const isNext =
    page_info === undefined
      ? sql<boolean>`${id} >= ${since_id ?? 0}`
      : isAfter([id], readCursor(page_info, 1), direction);
  return { direction, isNext } as const;
}

/** The condition for the rows after a position in the order of some columns. */
export function isAfter(
  columns: readonly RawBuilder<unknown>[],
  position: readonly number[],
  direction: "asc" | "desc",
): RawBuilder<boolean> {
  const comparison = direction === "asc" ? sql`>` : sql`<`;
  return sql<boolean>`(${sql.join(columns)}) ${comparison} (${sql.join(position)})`;
}
