import { type ImportError, usageError } from "../import-error.ts";
import type { FieldSpec, ImportBehavior } from "../kind.ts";
import type { ImportKind, ImportKinds } from "../kinds.ts";
import { columnsUsed, findReadableLayout } from "../layouts/choose-layout.ts";
import type { Layout } from "../layouts/layout.ts";
import type { ImportOptions } from "../options.ts";
import { importCommandOf, quoteFile, quoteForShell } from "./import-command.ts";
import { type HeaderFile, isRejectColumn, isSameName, listNames, maxNames, normalizeName, shorten } from "./names.ts";
import { findBetterKind, findCompleteKind, isCompleteFor } from "./other-kind.ts";
import { type ColumnSample, fitValues, proposeColumns, type SynonymSource } from "./proposal.ts";

interface MatchedHeader {
  readonly behavior: Pick<ImportBehavior, "fields" | "urlField">;
  readonly kind: ImportKind;
  readonly layout: Layout | undefined;
  /** The flags that decide how the header is read. */
  readonly options: Pick<ImportOptions, "layout" | "delimiter" | "headerRow" | "dryRun">;
  readonly columnOf: ReadonlyMap<string, number>;
  /** The fields for which a flag gives a value. */
  readonly supplied: ReadonlySet<string>;
}

/**
 * @throws ImportError `usage` if nothing provides a required field; the hint suggests a fix
 * @returns the error if only a URL is missing, and the products may be stored with one
 */
export function requireFields(file: HeaderFile, matched: MatchedHeader, kinds: ImportKinds): ImportError | undefined {
  const { behavior, columnOf, supplied } = matched;
  const open = behavior.fields.filter(({ name }) => !columnOf.has(name) && !supplied.has(name));
  const missing = open.filter(({ required }) => required).map(({ name }) => name);
  if (missing.length === 0) return undefined;
  const error = describeMissingFields(file, matched, { missing, open }, kinds);
  const isOnlyUrl = missing.length === 1 && missing[0] === behavior.urlField;
  if (isOnlyUrl && matched.kind.hasStoredUrls === true && !matched.options.dryRun) return error;
  throw error;
}

interface MissingFields {
  readonly missing: readonly string[];
  /** All fields without a column. */
  readonly open: readonly FieldSpec[];
}

function describeMissingFields(
  file: HeaderFile,
  matched: MatchedHeader,
  { missing, open }: MissingFields,
  kinds: ImportKinds,
): ImportError {
  const { behavior, layout } = matched;
  const lacked = missing.map((field) => layout?.lacks?.[field]).find((one) => one !== undefined);
  if (lacked) return usageError(`${file.given}: ${lacked.reason}`, lacked.hint);
  if (layout && missing.length === 1 && missing[0] === behavior.urlField) {
    return usageError(`${file.given}: ${layout.title} has no product URLs`, `specify your shop: ${urlFlag}`);
  }
  const readAs = layout ? ` (read as ${layout.title})` : "";
  const subject = `${file.given}${readAs}:`;
  const { header } = file;
  const other = findCompleteKind(header, matched.kind, kinds) ?? findBetterKind(header, matched.kind, kinds);
  const fix =
    suggestLayout(file, matched, kinds) ??
    (other &&
      `the file looks like ${other.name}; to import it, run: ${importCommandOf(other, quoteFile(file, matched.options))}`) ??
    layout?.missingHint ??
    describeHeader(file.header, behavior, matched.options);
  if (fix !== undefined) return usageError(`${subject} ${describeMissing(missing)}`, fix);
  return candidateError(subject, file, matched, { missing, open });
}

function describeMissing(fields: readonly string[]): string {
  return `missing ${fields.length === 1 ? "column" : "columns"} ${fields.join(", ")}`;
}

/** The flag with which product URLs are built. */
export const urlFlag = "--store-url https://shop.example";

/** A hint for a file that could be read without the requested layout, or with one that was not recognized. */
function suggestLayout(
  { header }: HeaderFile,
  { kind, layout, options, behavior, supplied }: MatchedHeader,
  kinds: ImportKinds,
): string | undefined {
  if (options.layout !== undefined) {
    if (!isCompleteFor(header, kind)) return undefined;
    return `the file does not have this layout; to detect its layout, remove --layout ${options.layout}`;
  }
  if (layout) return undefined;
  const needed = behavior.fields
    .filter(({ name, required }) => required && name !== behavior.urlField && !supplied.has(name))
    .map(({ name }) => name);
  const readable = findReadableLayout(header, kind, needed, kinds.all);
  return readable && `the file has the columns of ${readable.title}; to read it as one, pass --layout ${readable.name}`;
}

/** The error with the best column for each field, and the flags that use these columns. */
function candidateError(
  subject: string,
  file: HeaderFile,
  { kind, behavior, layout, columnOf, options }: MatchedHeader,
  fields: MissingFields,
): ImportError {
  const held = new Set(columnOf.values());
  const used = new Set(layout ? columnsUsed(layout) : []);
  const unused = file.header.filter((name, at) => !held.has(at) && !used.has(normalizeName(name)));
  const isExhausted = !unused.some(isNamed);
  const candidates = findCandidates(kind, fields, file, unused);
  const flags = candidates.map((candidate) => flagFor(candidate, kind, { behavior, isExhausted }));
  const map = `starpost ${kind.name} map ${quoteFile(file, options)} --out mapping.json`;
  const [first] = candidates;
  if (first && candidates.length === 1) {
    const use = first.column === undefined ? "provide it" : "use that column";
    return usageError(
      `${subject} ${describeMissing(fields.missing)}; ${describeOne(first)}`,
      `to ${use}, add to the command: ${flags.join("")}${isExhausted ? "" : `\nTo choose among all columns, run:\n  ${map}`}`,
      { quotesCells: true },
    );
  }
  if (candidates.every(({ column }) => column === undefined)) {
    const hint = isExhausted
      ? `the file contains only: ${listHeader(file.header)}\nExport it again with the missing columns.`
      : `${headerPlace(options)} must name the columns; it contains: ${listHeader(file.header)}\nIf the columns have other names, run:\n  ${map}`;
    return usageError(`${subject} ${describeMissing(fields.missing)}`, hint);
  }
  return usageError(
    `${subject} ${candidates.length} required columns are missing. The most similar columns:${describeAll(candidates)}`,
    `to check the columns one by one, run:\n  ${map}\nOr add to the command:\n  ${foldFlags(flags)}`,
    { quotesCells: true },
  );
}

/** A required field without a column, and the column that most likely holds it. */
interface ColumnCandidate {
  readonly field: string;
  /** Undefined if no column resembles the field. */
  readonly column: string | undefined;
  /** The first value of that column; empty if it has none. */
  readonly sample: string;
}

/** How many rows, and values of a column, are examined. */
const maxRows = 500;
const maxValues = 20;

/**
 * Finds the best column for each missing field. The other fields without a column compete for the columns, so that a
 * column of pictures is not offered for a product's URL.
 * @param unused the columns that hold no field
 */
function findCandidates(
  kind: SynonymSource,
  { missing, open }: MissingFields,
  file: Pick<HeaderFile, "header" | "valuesOf">,
  unused: readonly string[],
): ColumnCandidate[] {
  const read = unused.map((name) => ({ name, values: readValues(file, file.header.indexOf(name)) }));
  const filled = read.filter(({ values }) => values.length > 0);
  // In a file without rows, only the names can be compared.
  const samples = filled.length > 0 ? filled : read;
  const proposals = proposeColumns(kind, open, samples);
  const taken = new Set(proposals.flatMap(({ column }) => column ?? []));
  return proposals
    .filter(({ field }) => missing.includes(field))
    .map(({ field, column, similar }) => {
      const fitting = new Set(samples.filter((one) => hasFittingValues(field, one)).map(({ name }) => name));
      const best = similar.find((name) => fitting.has(name) && (name === column || !taken.has(name)));
      if (best !== undefined) taken.add(best);
      const sample = samples.find(({ name }) => name === best)?.values[0] ?? "";
      return { field, column: best, sample };
    });
}

/** The minimum share of values that look like the field's. */
const minFit = 0.5;

function hasFittingValues(field: string, { values }: ColumnSample): boolean {
  return (fitValues(field, values)?.fit ?? 1) >= minFit;
}

function readValues({ valuesOf }: Pick<HeaderFile, "valuesOf">, column: number): string[] {
  const values: string[] = [];
  let rows = 0;
  for (const value of valuesOf(column)) {
    if (value !== "") values.push(value);
    rows++;
    if (rows >= maxRows || values.length >= maxValues) break;
  }
  return values;
}

function isNamed(name: string): boolean {
  return name !== "" && !isRejectColumn(name);
}

function listHeader(header: readonly string[]): string {
  const names = header.filter(isNamed).map((name) => fit(name, sampleLengths.most));
  return listNames(names, maxNames);
}

/** The width of a line without the label and the indentation of the error. */
const maxLine = 71;
const maxColumn = 26;
/** The length of a sample: at least, and in a sentence. */
const sampleLengths = { least: 12, most: 40 } as const;

function describeOne({ column, sample }: ColumnCandidate): string {
  if (column === undefined) return "no column resembles it";
  const quoted = sample === "" ? "" : ` (${quoteSample(sample, sampleLengths.most)})`;
  return `the most similar column is '${column}'${quoted}`;
}

/** A table of fields, columns, and samples. */
function describeAll(candidates: readonly ColumnCandidate[]): string {
  const names = candidates.map(({ column }) => (column === undefined ? "none" : `'${fit(column, maxColumn)}'`));
  const widths = [candidates.map(({ field }) => field), names].map((texts) =>
    Math.max(...texts.map(({ length }) => length)),
  );
  const [fieldWidth = 0, nameWidth = 0] = widths;
  const space = Math.max(sampleLengths.least, maxLine - fieldWidth - nameWidth - 4);
  const lines = candidates.map(({ field, sample }, at) => {
    const quoted = sample === "" ? "" : quoteSample(sample, space);
    return `\n  ${field.padEnd(fieldWidth)}  ${(names[at] ?? "").padEnd(nameWidth)}  ${quoted}`.trimEnd();
  });
  return lines.join("");
}

function quoteSample(sample: string, length: number): string {
  return JSON.stringify(fit(sample, length - 2));
}

/** Fits a text into a line. */
function fit(text: string, length: number): string {
  const plain = text.replaceAll(/\s+/g, " ");
  return plain.length <= length ? plain : shorten(plain, length - 1);
}

/** The flag that provides a field: from its column, or with a value for all rows. */
function flagFor(
  { field, column }: ColumnCandidate,
  kind: ImportKind,
  { behavior, isExhausted }: Pick<MatchedHeader, "behavior"> & { readonly isExhausted: boolean },
): string {
  if (column !== undefined) return `--map ${quoteForShell(`${field}=${column}`)}`;
  if (field === behavior.urlField) return urlFlag;
  const flag = kind.fields.find(({ name }) => name === field)?.flag;
  if (flag !== undefined) return `--${flag} ${kind.importCommand.flags?.[flag]?.value ?? ""}`;
  // Only the name of a person can reasonably be the same in all rows.
  const isSettable = isExhausted && /^(?:customer|display)_name$/.test(field);
  return isSettable ? `--set ${field}='<value>'` : `--map ${field}='<column>'`;
}

const maxFlags = 70;

/** Continues lines as a shell does, so that they can be copied. */
function foldFlags(flags: readonly string[]): string {
  const lines: string[] = [];
  for (const flag of flags) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + flag.length < maxFlags) lines[lines.length - 1] = `${last} ${flag}`;
    else lines.push(flag);
  }
  return lines.join(" \\\n  ");
}

/**
 * Explains a row that is not a header: another delimiter separates its cells, it contains data, or it is a title.
 */
function describeHeader(
  header: readonly string[],
  { fields }: Pick<ImportBehavior, "fields">,
  options: Pick<ImportOptions, "delimiter" | "headerRow">,
): string | undefined {
  const { delimiter } = options;
  const place = headerPlace(options);
  const required = fields.filter(({ required: isRequired }) => isRequired);
  const [first = ""] = header;
  if (header.length === 1 && required.length > 1) {
    if (delimiter !== undefined) {
      return `${place} has only one column with the delimiter '${delimiter}'; to detect the delimiter, remove --delimiter`;
    }
    const separator = findSeparator(first);
    if (separator !== undefined) {
      return `${place} has only one column; if '${separator}' separates the columns, pass --delimiter '${separator}'`;
    }
  }
  const filled = header.filter((name) => name !== "");
  if (filled.filter(isValue).length * 2 < filled.length) {
    // A list of addresses may have one column, and flags for the others.
    const isTitle =
      filled.length === 1 && required.length > 2 && !fields.some(({ name }) => isSameName(name, filled[0] ?? ""));
    return isTitle ? `${place} has only one name; if another row names the columns, pass --header-row <n>` : undefined;
  }
  const names = required.map(({ name }) => name).join(",");
  return `${place} looks like data, but it must name the columns; insert a first row such as:\n  ${names}`;
}

function headerPlace({ headerRow }: Pick<ImportOptions, "headerRow">): string {
  return headerRow === undefined ? "the first row" : `row ${headerRow}`;
}

/** The character between the names of a header that is used most. */
function findSeparator(header: string): string | undefined {
  const counts = new Map<string, number>();
  for (const [character] of header.matchAll(/[^\p{L}\p{N}\s"'`._\\-]/gu)) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const [[character, count] = ["", 0]] = [...counts].toSorted(([, a], [, b]) => b - a);
  return count >= 2 && character.length === 1 ? character : undefined;
}

/** Whether a cell is a number, a date, an email address, or a URL, which are not names of columns. */
export function isValue(cell: string): boolean {
  return /^[\p{Sc}#+-]?\d[\d.,:/ TZ+-]*$/u.test(cell) || /^[^\s@]+@[^\s@]+$/.test(cell) || /^https?:\/\//i.test(cell);
}
