import { usageError } from "../import-error.ts";
import type { ImportBehavior } from "../kind.ts";
import type { ImportKind, ImportKinds } from "../kinds.ts";
import { detectLayout } from "../layouts/choose-layout.ts";
import type { Layout } from "../layouts/layout.ts";
import { findClosestName, type HeaderFile, normalizeName } from "./names.ts";

interface MatchedHeader {
  readonly behavior: Pick<ImportBehavior, "fields" | "urlField">;
  readonly kind: ImportKind;
  readonly layout: Layout | undefined;
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
    layout?.missingHint ?? suggestColumn(file.header, first, matched, kinds),
  );
}

function suggestColumn(
  header: readonly string[],
  missing: string,
  { kind, columnOf, unknown, layout }: MatchedHeader,
  kinds: ImportKinds,
): string {
  const hasFewColumns = columnOf.size < 2;
  const other = hasFewColumns || !layout ? findOtherKind(header, kind, kinds, hasFewColumns) : undefined;
  if (other) return `the file looks like ${other.name}; to import it, run: starpost ${other.name} import`;
  const nearest = unknown.length > 0 ? findClosestName(missing, unknown) : undefined;
  return nearest === undefined
    ? `the first row must name the columns; it contains: ${header.slice(0, 20).join(", ")}`
    : `the most similar column is '${nearest}'; to use it, pass --map ${missing}='${nearest}'`;
}

/** Another kind that the header fits: by a layout, or by having all its required columns. */
function findOtherKind(
  header: readonly string[],
  kind: ImportKind,
  kinds: ImportKinds,
  byColumns: boolean,
): ImportKind | undefined {
  const names = new Set(header.map(normalizeName));
  return kinds.all.find((other) => {
    if (other === kind) return false;
    if (detectLayout(header, other.layouts)) return true;
    const required = other.fields.filter((field) => field.required);
    return (
      byColumns &&
      required.every((field) => [field.name, ...(field.aliases ?? [])].some((known) => names.has(normalizeName(known))))
    );
  });
}
