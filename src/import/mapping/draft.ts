import { unmarkFormula } from "../../export/formula-mark.ts";
import { TemporaryFolder } from "../../storage/temporary-folder.ts";
import type { FileHead } from "../csv/file-format.ts";
import { readSample } from "../csv/row-batches.ts";
import { createHeaderSearch } from "./header-row.ts";
import { readMap, readSet, readProductIdSource } from "./header-flags.ts";
import type { ImportKind, ImportKinds } from "../kinds.ts";
import type { FieldSpec } from "../kind.ts";
import { chooseLayout, columnsUsed, findIgnored } from "../layouts/choose-layout.ts";
import type { Layout } from "../layouts/layout.ts";
import { checkUrlPattern, namesInPattern, toStorePattern } from "../layouts/url-pattern.ts";
import { RowFields } from "../layouts/row-fields.ts";
import { locateFiles, type LocatedFile, mapOf, namingFile, readHead } from "../source/located-files.ts";
import type { ImportContext } from "../context.ts";
import type { ImportOptions } from "../options.ts";
import { isSameName, normalizeName } from "./names.ts";
import { type ColumnSample, type FieldProposal, proposeColumns } from "./proposal.ts";

/** The flags that apply before anything is proposed. */
export type DraftOptions = Pick<
  ImportOptions,
  | "map"
  | "set"
  | "productUrl"
  | "storeUrl"
  | "productIdFrom"
  | "dateFormat"
  | "layout"
  | "delimiter"
  | "encoding"
  | "sheet"
  | "headerRow"
>;

/** How a file could be read: what was detected, what is proposed, and which flags were given. */
export interface MappingDraft {
  readonly kind: string;
  /** As messages name it. */
  readonly file: string;
  /** The layout that the file matches; its columns need no mapping. */
  readonly layout: Pick<Layout, "name" | "title"> | undefined;
  /** The row of the header, if a title was found above it. */
  readonly foundRow: number | undefined;
  readonly encoding: string;
  readonly delimiter: string;
  /** Whether the file was not CSV; its encoding and delimiter are then those of a copy. */
  readonly isConverted: boolean;
  readonly samples: readonly ColumnSample[];
  /** For a file with a layout: the columns that are not read. */
  readonly ignored: readonly string[];
  /** Proposals for all fields by column name, whatever the layout. */
  readonly byColumns: readonly FieldProposal[];
  /** For a file with a layout: the required fields that it lacks, with the columns that might hold them. */
  readonly besideLayout: readonly FieldProposal[];
  /** The field with a product URL, which a pattern can build. */
  readonly urlField: string | undefined;
  /** The fields that a flag of the import can provide. */
  readonly flagFields: readonly string[];
  readonly options: DraftOptions;
}

/** How many rows, and values of a column, are examined. */
const looked = { rows: 500, values: 50 } as const;

/**
 * Reads a file's header and first rows, and proposes a source for each field. Reads nothing else.
 * @throws ImportError `usage` if the file cannot be read, or a flag does not fit it
 */
export async function draftMapping(
  request: { readonly kind: string; readonly file: string; readonly options: DraftOptions },
  deps: Pick<ImportContext, "kinds" | "cwd" | "stdin" | "abort" | "report">,
): Promise<MappingDraft> {
  const kind = deps.kinds.get(request.kind);
  using folder = new TemporaryFolder("map");
  const located = await locateFiles([request.file], folder.path, deps, {
    ...request.options,
    search: createHeaderSearch(kind, request.options),
  });
  const [first] = located;
  if (!first) throw new Error("no file was located");
  if (located.length > 1) {
    deps.report({ type: "notice", message: `${request.file} contains several files; using ${first.given}` });
  }
  return draftFrom(kind, deps.kinds, first, request.options);
}

function draftFrom(kind: ImportKind, kinds: ImportKinds, file: LocatedFile, options: DraftOptions): MappingDraft {
  const { head, samples } = readSamples(file, options, kind);
  const { header, format } = head;
  const { fields } = kind;
  const mapped = readMap(file.given, header, fields, mapOf(head, options));
  readSet(options.set ?? {}, fields);
  const found = chooseLayout(header, kind, kinds.all, options.layout);
  const layout = found && Object.keys(found.fields).length > 0 ? found : undefined;
  const { storeUrl, productUrl = storeUrl && toStorePattern(storeUrl, layout?.storePath) } = options;
  if (productUrl !== undefined) checkUrlPattern(productUrl);
  const productId = readProductIdSource({ given: file.given, header }, { kind, layout, mapped }, options);
  const isTold = ({ name }: FieldSpec) =>
    mapped.fields.has(name) ||
    (name === "product_id" && productId !== undefined) ||
    Object.keys(options.set ?? {}).some((other) => isSameName(other, name));
  const free = samples.filter((_, at) => !mapped.byColumn.has(at));
  const open = fields.filter((field) => !isTold(field));
  const needed = open.filter((field) => field.required === true);
  const none = new Map<string, never>();
  const supply = { layout, mapped: none, named: none, set: none, supplied: {}, dateOrder: undefined };
  const read = layout && new RowFields(header, supply);
  const unread = needed.filter(
    ({ name }) => layout?.constants?.[name] === undefined && read?.columnOf(name) === undefined,
  );
  const isRead = (name: string) =>
    [...fields.map((field) => field.name), ...namesInPattern(productUrl ?? "")].some((other) =>
      isSameName(other, name),
    );
  return {
    kind: kind.name,
    file: file.given,
    layout: layout && { name: layout.name, title: layout.title },
    foundRow: head.foundRow,
    encoding: format.encoding,
    delimiter: format.delimiter,
    isConverted: format.origin !== undefined,
    samples,
    ignored: layout ? findIgnored(header, layout).filter((name) => !isRead(name)) : [],
    byColumns: proposeColumns(kind, open, free),
    besideLayout: layout ? proposeBeside(kind, layout, unread, free) : [],
    urlField: kind.urlField,
    flagFields: fields.filter(({ flag }) => flag !== undefined).map(({ name }) => name),
    options: { ...options, productUrl },
  };
}

function readSamples(
  file: LocatedFile,
  options: DraftOptions,
  kind: ImportKind,
): { head: FileHead; samples: ColumnSample[] } {
  const head = readHead(file, options, kind);
  const rows = namingFile(file.given, () => readSample(head.source, head.format, looked.rows));
  const samples = head.header.map((name, at) => {
    const values = rows.map((cells) => unmarkFormula((cells[at] ?? "").trim()));
    return { name, values: values.filter((value) => value !== "").slice(0, looked.values) };
  });
  return { head, samples };
}

/**
 * Proposals for the fields that a layout lacks, from the columns that it does not read.
 * Assumed: the layout knows the columns better than their names suggest, so only certain matches are proposed.
 */
function proposeBeside(
  kind: ImportKind,
  layout: Layout,
  fields: readonly FieldSpec[],
  samples: readonly ColumnSample[],
): FieldProposal[] {
  const used = columnsUsed(layout);
  const unused = samples.filter(({ name }) => !used.includes(normalizeName(name)));
  const none = { column: undefined, confidence: undefined, isCertain: false };
  return proposeColumns(kind, fields, unused).map((one) => Object.assign(one, one.confidence === "sure" ? {} : none));
}
