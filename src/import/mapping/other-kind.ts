import { usageError } from "../import-error.ts";
import type { ImportKind, ImportKinds } from "../kinds.ts";
import { columnsOf, detectLayout } from "../layouts/choose-layout.ts";
import type { ImportOptions } from "../options.ts";
import { importCommandOf, quoteFile } from "./import-command.ts";
import { type HeaderFile, isRejectColumn, normalizeName } from "./names.ts";
import { proposeColumns } from "./proposal.ts";

/** What a kind makes of a header, without any flags. */
interface HeaderMatch {
  readonly kind: ImportKind;
  /** The columns that it reads, by normalized name. */
  readonly columns: ReadonlySet<string>;
  /** Whether it can import the file; a flag can provide product URLs. */
  readonly isComplete: boolean;
}

/**
 * What makes a file resemble a kind without its column names: the share of required fields that the columns must exceed,
 * their minimum number, and how many more columns than the given kind it must read.
 */
const resemblance = { share: 0.5, fields: 3, moreColumns: 4 } as const;

/**
 * The kind that a header fits better than the given one: it reads all columns that the given one reads, and more.
 * Assumed: a header fits a kind if it has the kind's required columns or the columns of one of its layouts, or if its
 * names clearly suggest more than half of the required fields, and several other fields.
 */
export function findBetterKind(
  header: readonly string[],
  kind: ImportKind,
  kinds: ImportKinds,
): ImportKind | undefined {
  const { columns } = matchKind(header, kind);
  const isBetter = (other: HeaderMatch, more = 1) =>
    other.columns.size >= columns.size + more && [...columns].every((name) => other.columns.has(name));
  const others = kinds.all.filter((other) => other !== kind);
  const complete = others
    .map((other) => matchKind(header, other))
    .filter((other) => other.isComplete && isBetter(other));
  if (complete.length > 0) return mostColumns(complete);
  // Most headers have no such columns, and comparing names takes long.
  if (header.length < columns.size + resemblance.moreColumns) return undefined;
  const resembled = others.flatMap((other) => resembleKind(header, other));
  return mostColumns(resembled.filter((other) => isBetter(other, resemblance.moreColumns)));
}

/** The kind that can import a file that the given one cannot import, and that reads more of its columns. */
export function findCompleteKind(
  header: readonly string[],
  kind: ImportKind,
  kinds: ImportKinds,
): ImportKind | undefined {
  const { columns } = matchKind(header, kind);
  const others = kinds.all.filter((other) => other !== kind).map((other) => matchKind(header, other));
  return mostColumns(others.filter((other) => other.isComplete && other.columns.size > columns.size));
}

/** Whether a kind can import the file without any flag, except for product URLs. */
export function isCompleteFor(header: readonly string[], kind: ImportKind): boolean {
  return matchKind(header, kind).isComplete;
}

function mostColumns(matches: readonly HeaderMatch[]): ImportKind | undefined {
  return matches.toSorted((a, b) => b.columns.size - a.columns.size)[0]?.kind;
}

function matchKind(header: readonly string[], kind: ImportKind): HeaderMatch {
  const own = header.filter((name) => !isRejectColumn(name)).map(normalizeName);
  const named = kind.fields.map((field) => {
    const names = [field.name, ...(field.aliases ?? [])].map(normalizeName);
    return { ...field, column: names.find((name) => own.includes(name)) };
  });
  const columns = named.flatMap(({ column }) => column ?? []);
  const isNative = named.every(
    // A list of one column needs the flags that give the other values.
    ({ name, required, column, flag }) =>
      !required || name === kind.urlField || column !== undefined || (flag !== undefined && own.length === 1),
  );
  const layout = isNative ? undefined : detectLayout(header, kind.layouts);
  const known = layout ? [...columnsOf(layout), layout.lines?.column(header) ?? []].flat().map(normalizeName) : [];
  return {
    kind,
    columns: new Set([...columns, ...own.filter((name) => known.includes(name))]),
    isComplete: isNative || layout !== undefined,
  };
}

function resembleKind(header: readonly string[], kind: ImportKind): HeaderMatch[] {
  const samples = header.map((name) => ({ name, values: [] }));
  const proposed = proposeColumns(kind, kind.fields, samples).filter(({ column }) => column !== undefined);
  const required = kind.fields.filter(({ name, required: isRequired }) => isRequired && name !== kind.urlField);
  const clear = proposed.filter(
    ({ field, confidence }) => confidence !== "guess" && required.some(({ name }) => name === field),
  );
  if (clear.length < resemblance.fields || clear.length <= required.length * resemblance.share) return [];
  return [{ kind, columns: new Set(proposed.map(({ column = "" }) => normalizeName(column))), isComplete: false }];
}

/**
 * Refuses a file of another kind: an order file has addresses too, whose owners must not be unsubscribed by mistake.
 * @throws ImportError `usage`, naming the right command
 */
export function rejectOtherKind(
  { given, argument, header }: Pick<HeaderFile, "given" | "argument" | "header">,
  {
    kind,
    options,
    isNew,
  }: {
    readonly kind: ImportKind;
    readonly options: Pick<ImportOptions, "map" | "mapping" | "layout" | "headerRow" | "force">;
    readonly isNew: boolean | undefined;
  },
  kinds: ImportKinds,
): void {
  const { map, mapping, layout, force } = options;
  const isDecided =
    isNew !== true || force === true || Object.keys(map).length > 0 || mapping !== undefined || layout !== undefined;
  if (isDecided) return;
  const other = findBetterKind(header, kind, kinds);
  if (!other) return;
  throw usageError(
    `${given}: the file looks like ${other.name}, not ${kind.name}`,
    `to import it as ${other.name}, run: ${importCommandOf(other, quoteFile({ argument }, options))}; to import it as ${kind.name} anyway, pass --force`,
  );
}
