import type { HeaderFile } from "./header.ts";
import { kinds } from "../../records/index.ts";
import type { Importing } from "../kind.ts";
import type { Layout } from "../layouts/layout.ts";
import { normaliseName as normalise, recogniseLayout } from "../../records/layouts.ts";
import { nearestOf } from "./nearest-name.ts";
import { ImportError, kindNames, type ImportOptions, type KindName } from "../types.ts";

/** What a file is read as, and what of it was found. */
interface Matched extends Pick<Importing, "fields" | "urlField"> {
  readonly kind: KindName;
  readonly layout: Layout | undefined;
  readonly columnOf: ReadonlyMap<string, number>;
  /** The fields that a flag gives a value for. */
  readonly supplied: ReadonlySet<string>;
  readonly unknown: readonly string[];
}

/** @throws ImportError `usage` when a field that must be there is nowhere to be got from; says what to do */
export function refuseMissing(file: HeaderFile, matched: Matched): void {
  const { fields, urlField, layout, columnOf, supplied } = matched;
  const missing = fields
    .filter(({ name, required }) => required && !columnOf.has(name) && !supplied.has(name))
    .map(({ name }) => name);
  const [first] = missing;
  if (first === undefined) return;
  if (missing.length === 1 && first === urlField) {
    const what = layout ? `${layout.title} has no addresses of products` : `the column ${first} is missing`;
    throw new ImportError("usage", `${file.given}: ${what}`, {
      hint: "say how they are made: --product-url 'https://shop.example/products/{product_id}'",
    });
  }
  const read = layout ? `, read as ${layout.title}` : "";
  const columns = `${missing.length === 1 ? "the column" : "the columns"} ${missing.join(", ")}`;
  throw new ImportError(
    "usage",
    `${file.given}${read}: ${columns} ${missing.length === 1 ? "is" : "are"} missing`,
    { hint: layout?.missingHint ?? hintAt(file.header, first, matched) },
  );
}

function hintAt(
  header: readonly string[],
  missing: string,
  { kind, columnOf, unknown, layout }: Matched,
): string {
  const other = columnOf.size < 2 || !layout ? findOtherKind(header, kind, columnOf.size < 2) : undefined;
  if (other) return `the file looks like ${other}: starpost ${other} import`;
  const nearest = unknown.length > 0 ? nearestOf(missing, unknown) : undefined;
  return nearest === undefined
    ? `the first row must name them; it has: ${header.slice(0, 20).join(", ")}`
    : `nearest to ${missing} is '${nearest}': --map ${missing}='${nearest}'`;
}

/** Another kind of import that this header is of: by a layout, or by having all its columns. */
function findOtherKind(header: readonly string[], kind: KindName, byColumns: boolean): KindName | undefined {
  const names = new Set(header.map(normalise));
  const options: ImportOptions = { dryRun: true, map: {}, action: "map_review" };
  return kindNames.find((name) => {
    if (name === kind) return false;
    if (recogniseLayout(header, name)) return true;
    const required = kinds[name].prepare(options).fields.filter((field) => field.required);
    return (
      byColumns &&
      required.every((field) =>
        [field.name, ...(field.aliases ?? [])].some((known) => names.has(normalise(known))),
      )
    );
  });
}
