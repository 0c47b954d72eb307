import { text } from "node:stream/consumers";
import { usageError } from "../../config/user-error.ts";
import { countOf } from "../../terminal/plural.ts";
import { alignRows } from "../../terminal/sections.ts";
import { confirmDestruction } from "./confirm.ts";
import type { Context } from "./context.ts";
import { type ExitStatus, exitStatus } from "./exit-status.ts";
import { readWholeNumber } from "./flag-values.ts";
import type { Io } from "./io.ts";

/** How many of the selected records are shown before the question. */
const shownRecords = 10;

/** Words from arguments; `-` stands for those of standard input, separated by white space or commas. */
export async function readListed({ stdin }: Pick<Io, "stdin">, given: readonly string[]): Promise<readonly string[]> {
  const isPiped = given.includes("-");
  const piped = isPiped ? (await text(stdin)).split(/[\s,]+/).filter((word) => word !== "") : [];
  return [...new Set([...given.filter((word) => word !== "-"), ...piped])];
}

/**
 * Reads IDs like `readListed`.
 * @throws UserError `usage` for anything but an ID
 */
export async function readIds(io: Pick<Io, "stdin">, given: readonly string[], name: string): Promise<number[]> {
  return (await readListed(io, given)).map((word) => readWholeNumber(word, name));
}

/**
 * Records are selected by their IDs or by filters, not by both or neither.
 * @param filters the flags that were given, without dashes
 * @throws UserError `usage`
 */
export function checkSelection(ids: readonly string[], filters: readonly string[], examples: readonly string[]): void {
  const [filter] = filters;
  if (ids.length > 0 && filter !== undefined)
    throw usageError(`--${filter} cannot be used with IDs`, "Remove one of them.");
  if (ids.length === 0 && filter === undefined)
    throw usageError(
      "missing IDs or filters",
      `For example: ${examples.map((example) => `\`${example}\``).join(" or ")}.`,
    );
}

/**
 * Shows the first of the selected records and asks.
 * @param rows the cells that describe each record
 * @throws UserError as `confirm`
 */
export async function confirmSelection(
  context: Context,
  { rows, question }: { readonly rows: readonly (readonly string[])[]; readonly question: string },
): Promise<void> {
  const more = rows.length - shownRecords;
  const lines = [...alignRows(rows.slice(0, shownRecords)), ...(more > 0 ? [`  … and ${more} more`] : [])];
  if (lines.length > 0) context.messages.info(lines);
  await confirmDestruction(context, question);
}

/** A record that was selected but not changed. */
export interface Skipped {
  readonly id: number | string;
  readonly problem: string;
}

/** Reports records that were skipped. */
export function reportSkipped(
  { messages }: Context,
  skipped: readonly Skipped[],
  noun: readonly [string, string],
): void {
  if (skipped.length === 0) return;
  const rows = skipped.slice(0, shownRecords).map(({ id, problem }) => [String(id), problem]);
  const more = skipped.length - rows.length;
  const lines = [...alignRows(rows), ...(more > 0 ? [`  … and ${more} more`] : [])];
  messages.warn([`Skipped ${countOf(skipped.length, ...noun)}:`, ...lines]);
}

/** Records that were named but skipped are a partial success. */
export function statusOfSelection({ skipped }: { readonly skipped: readonly Skipped[] }): ExitStatus {
  return skipped.length > 0 ? exitStatus.someRejected : exitStatus.done;
}
