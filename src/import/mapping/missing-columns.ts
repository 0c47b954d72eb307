import { usageError } from "../import-error.ts";
import type { ImportBehavior } from "../kind.ts";
import type { ImportKind, ImportKinds } from "../kinds.ts";
import type { Layout } from "../layouts/layout.ts";
import { importCommandOf, quoteForShell } from "./import-command.ts";
import { findClosestName, type HeaderFile } from "./names.ts";
import { findCompleteKind, isCompleteFor } from "./other-kind.ts";

interface MatchedHeader {
  readonly behavior: Pick<ImportBehavior, "fields" | "urlField">;
  readonly kind: ImportKind;
  readonly layout: Layout | undefined;
  /** The layout that a flag names. */
  readonly requested: string | undefined;
  readonly columnOf: ReadonlyMap<string, number>;
  /** The fields for which a flag gives a value. */
  readonly supplied: ReadonlySet<string>;
  readonly unknown: readonly string[];
}

/** @throws ImportError `usage` if nothing provides a required field; the hint suggests a fix */
export function rejectMissing(file: HeaderFile, matched: MatchedHeader, kinds: ImportKinds): void {
  const { behavior, layout, columnOf, supplied } = matched;
  const missing = behavior.fields
    .filter(({ name, required }) => required && !columnOf.has(name) && !supplied.has(name))
    .map(({ name }) => name);
  const [first] = missing;
  if (first === undefined) return;
  if (missing.length === 1 && first === behavior.urlField) {
    const problem = layout ? `${layout.title} has no product URLs` : `missing column ${first}`;
    throw usageError(
      `${file.given}: ${problem}`,
      "specify how to build them: --product-url 'https://shop.example/products/{product_id}'",
    );
  }
  const readAs = layout ? ` (read as ${layout.title})` : "";
  const columns = `missing ${missing.length === 1 ? "column" : "columns"} ${missing.join(", ")}`;
  throw usageError(
    `${file.given}${readAs}: ${columns}`,
    suggestLayout(file, matched) ?? layout?.missingHint ?? suggestColumn(file, missing, matched, kinds),
  );
}

/** A hint for a file that could be read without the requested layout. */
function suggestLayout({ header }: HeaderFile, { kind, requested }: MatchedHeader): string | undefined {
  if (requested === undefined || !isCompleteFor(header, kind)) return undefined;
  return `the file does not have this layout; to detect its layout, remove --layout ${requested}`;
}

function suggestColumn(
  { header, argument }: HeaderFile,
  missing: readonly string[],
  { kind, unknown }: MatchedHeader,
  kinds: ImportKinds,
): string {
  const other = findCompleteKind(header, kind, kinds);
  if (other)
    return `the file looks like ${other.name}; to import it, run: ${importCommandOf(other, quoteForShell(argument))}`;
  const [first = "", second] = missing;
  const nearest = second === undefined && unknown.length > 0 ? findClosestName(first, unknown) : undefined;
  if (nearest !== undefined) {
    return `the most similar column is '${nearest}'; to use it, pass --map ${first}='${nearest}'`;
  }
  const flag = second === undefined ? kind.fields.find(({ name }) => name === first)?.flag : undefined;
  if (flag !== undefined) {
    const { value = "" } = kind.importCommand.flags?.[flag] ?? {};
    return `to use the same value for all rows, pass --${flag} ${value}`;
  }
  const others = header.length - 12;
  const shown = others > 1 ? [...header.slice(0, 12), `and ${others} others`] : header;
  const names = `the first row must name the columns; it contains: ${shown.join(", ")}`;
  return `${names}. If the columns have other names, run: starpost ${kind.name} map ${quoteForShell(argument)} --out mapping.json`;
}
