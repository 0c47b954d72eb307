import { unmarkFormula } from "../../export/formula-mark.ts";
import { basename } from "node:path";
import { fallbackEncoding } from "../csv/encoding-detection.ts";
import { type FileHead, guessFallback, unitOf, type FileFormat } from "../csv/file-format.ts";
import { FileFormatError, ImportError, usageError } from "../import-error.ts";
import { type Grouping, readRowBatches, type RowBatch, insertGroups } from "../csv/row-batches.ts";
import { type Survey, surveyFile } from "../csv/pre-scan.ts";
import { type ColumnMap, matchHeader } from "../mapping/header.ts";
import { describeFoundRow } from "../mapping/header-row.ts";
import { listNames } from "../mapping/names.ts";
import type { ReportEvent } from "../events.ts";
import type { ImportBehavior } from "../kind.ts";
import type { ImportKind, ImportKinds } from "../kinds.ts";
import { loadHtmlReader } from "../layouts/html.ts";
import { describeFileError, type LocatedFile, mapOf, namingFile, readHead } from "./located-files.ts";
import type { ImportOptions } from "../options.ts";
import type { DateOrder, Layout, Family } from "../layouts/layout.ts";
import type { ByteSource } from "../csv/byte-source.ts";
import type { RecordProblem } from "../csv/record-scanner.ts";
import { RowsOnDisk } from "../csv/rows-on-disk.ts";

/** How files are read: as which kind, and with which options. */
export interface Reading {
  readonly kind: ImportKind;
  readonly behavior: ImportBehavior;
  readonly options: ImportOptions;
  /** Whether a file that looks like another kind is refused; the files of a recorded run have been checked. */
  readonly isNew?: boolean;
}

/** A file of an import, scanned and ready to be read. */
export interface InputFile extends LocatedFile {
  readonly head: FileHead;
  readonly columns: ColumnMap;
  readonly keyColumn: number;
  readonly survey: Survey;
}

/**
 * Reads each file's header and scans it once, before anything is sent.
 * @throws ImportError `usage` if a header is not recognized or the text is not in its encoding
 */
export async function openFiles(
  located: readonly LocatedFile[],
  reading: Reading,
  { kinds, report = () => {} }: { readonly kinds: ImportKinds; readonly report?: ReportEvent },
): Promise<InputFile[]> {
  const { kind, behavior, options } = reading;
  const read = (file: LocatedFile, fileOptions: ImportOptions) => {
    const head = readHead(file, fileOptions, kind);
    const valuesOf = (column: number) => readColumn(file.given, head, column);
    const { given, archive: argument = given } = file;
    const headerFile = { given, argument, header: head.header, valuesOf };
    const matched = { ...reading, options: { ...options, map: mapOf(head, options) } };
    return { ...file, head, columns: matchHeader(headerFile, matched, kinds) };
  };
  const heads = located.map((file) => read(file, options));
  if (heads.some(({ columns }) => columns.layout?.hasHtml)) await loadHtmlReader();
  const hashes = new Map<string, string>();
  const opened: InputFile[] = [];
  for (const file of heads) {
    let found = await scanFile(file, behavior, hashes.get(file.path), report);
    if (found.survey.invalidLine > 0) {
      const { source, format } = found.head;
      if (options.encoding !== undefined || format.encoding !== "utf-8") rejectInvalid(found);
      // A later line shows that the file is not UTF-8.
      const { encoding, assumption } = namingFile(file.given, () => guessFallback(source, format.isCrOnly));
      const again = read(file, { ...options, encoding });
      const head = assumption === undefined ? again.head : { ...again.head, assumption };
      found = await scanFile({ ...again, head }, behavior, found.survey.sha256, report);
      rejectInvalid(found);
    }
    hashes.set(file.path, found.survey.sha256);
    opened.push(found);
  }
  return opened;
}

async function scanFile(
  file: Omit<InputFile, "keyColumn" | "survey">,
  behavior: ImportBehavior,
  sha256: string | undefined,
  report: ReportEvent,
): Promise<InputFile> {
  const { layout, fields, columnOf } = file.columns;
  // Groups the rows of a record, or identifies a repeated record.
  const idColumn = columnOf.get(behavior.groupField ?? behavior.idField ?? "");
  const keyColumn = (layout?.groups ? fields?.groupColumn : idColumn) ?? -1;
  try {
    const onRecords = (rows: number) => report({ type: "reading", doing: "checking", file: file.given, rows });
    const survey = await surveyFile(file.head.source, file.head.format, keyColumn, sha256, onRecords);
    return { ...file, keyColumn, survey };
  } catch (error) {
    throw describeFileError(file.given, error);
  }
}

function* readColumn(given: string, { source, format }: FileHead, column: number): Generator<string> {
  try {
    for (const { rows } of readRowBatches(source, format, undefined)) {
      for (const cells of rows) yield unmarkFormula((cells[column] ?? "").trim());
    }
  } catch (error) {
    throw describeFileError(given, error);
  }
}

function rejectInvalid({ given, head, survey }: InputFile): void {
  if (survey.invalidLine === 0) return;
  const { encoding } = head.format;
  const name = encoding === "utf-8" ? "UTF-8" : encoding;
  const what = head.assumption === undefined ? `not ${name}` : `neither UTF-8 nor ${name}`;
  throw usageError(
    `${given}:${survey.invalidLine}: the text is ${what}`,
    `specify the encoding, for example --encoding ${fallbackEncoding}`,
  );
}

/**
 * The rows of a file.
 * @throws ImportError `failed` if the file has changed since it was scanned
 */
export function* readRows(
  { given, head }: InputFile,
  grouping: Grouping | FamilyGrouping | undefined,
): Generator<RowBatch> {
  try {
    yield* grouping && "familyOf" in grouping
      ? readFamilyBatches(head.source, head.format, grouping)
      : readRowBatches(head.source, head.format, grouping);
  } catch (error) {
    if (!(error instanceof FileFormatError)) throw error;
    throw new ImportError("failed", `${given}: ${error.message}`, { hint: error.hint, cause: error });
  }
}

/** What was detected about the files, for messages. */
export function describeFiles(
  files: readonly InputFile[],
  behavior: ImportBehavior,
  { isVerbose = false }: { readonly isVerbose?: boolean } = {},
): string[] {
  return files.flatMap(({ given, entry, head, columns, survey }) => {
    const name = entry === undefined ? basename(given) : given;
    const unit = unitOf(head.format);
    const notes = describeHead(head).map((note) => `${name}: ${note}`);
    const { layout } = columns;
    if (layout) notes.push(`${name}: ${describeLayout(layout, columns, head.header, isVerbose)}`);
    else if (columns.dateOrder) notes.push(`${name}: ${describeDateOrder(columns.dateOrder)}`);
    const { ignored } = columns;
    if (ignored.length > 0) {
      notes.push(`${name}: ignored columns: ${isVerbose ? ignored.join(", ") : listNames(ignored)}`);
    }
    if (survey.lostCharacters > 0) {
      const lost = survey.lostCharacters === 1 ? "1 character was" : `${survey.lostCharacters} characters were`;
      notes.push(`${name}: ${lost} lost before; export the file again`);
    }
    if (survey.records === 0) notes.push(`${name}: has a header but no rows`);
    if (behavior.idField && survey.repeatedKeys > 0 && !layout?.groups) {
      const rows = survey.repeatedKeys === 1 ? "1 row repeats" : `${survey.repeatedKeys} rows repeat`;
      notes.push(
        `${name}: ${rows} a ${behavior.idField}, first ${unit === "line" ? "on" : "in"} ${unit} ${survey.firstRepeatLine}; the last row wins`,
      );
    }
    return notes;
  });
}

/** What was detected about the text and the header of a file. */
function describeHead({ format, assumption, foundRow }: FileHead): string[] {
  const { encoding, delimiter } = format;
  const notes: string[] = [];
  const shown = delimiter === "\t" ? "tab" : `'${delimiter}'`;
  if (assumption !== undefined) {
    const parted = delimiter === "," ? "" : `, with ${shown} as the delimiter`;
    notes.push(`${assumption}; read as ${encoding}${parted}; to change this, pass --encoding`);
  } else if (encoding !== "utf-8" || delimiter !== ",") {
    notes.push(`read as ${encoding}, with ${shown} as the delimiter`);
  }
  if (foundRow !== undefined) notes.push(describeFoundRow(foundRow));
  if (format.hasNoHeader) notes.push("has no header; the first row is read as a record");
  return notes;
}

type Read = Pick<ColumnMap, "columnOf" | "dateOrder" | "productIdColumns">;

function describeDateOrder(order: DateOrder): string {
  return `dates start with the ${order.replace("-first", "")}`;
}

/** Describes the layout with which a file is read, and the decisions that it entails. */
function describeLayout(
  layout: Layout,
  { columnOf, dateOrder, productIdColumns }: Read,
  header: readonly string[],
  isVerbose: boolean,
): string {
  const lineColumn = layout.lines?.column(header);
  const notes = ["product_id", "order_id"].flatMap((field) => {
    const column = header[columnOf.get(field) ?? -1];
    if (column === undefined) return [];
    const others = field === "product_id" ? productIdColumns.slice(1).map((other) => `, else '${other}'`) : [];
    return [`${field.replace("_id", " ID")}s are ${column === lineColumn ? "in " : ""}'${column}'${others.join("")}`];
  });
  if (dateOrder) notes.push(describeDateOrder(dateOrder));
  const more = [...notes, ...(layout.notes ?? [])].join("; ");
  // If nothing is translated, the columns are read by name anyway.
  const isTranslated = isVerbose && Object.keys(layout.fields).length > 0;
  const other = isTranslated ? " (to read the columns by name, pass --layout none)" : "";
  return `read as ${layout.title}${more === "" ? "" : `: ${more}`}${other}`;
}

/** How to determine the family of a row, and where to spill rows. */
export interface FamilyGrouping {
  readonly familyOf: (cells: readonly string[]) => Family | undefined;
  readonly folder: string;
}

/**
 * The rows of a file with those of one family next to each other, at the position of the first. Rows of families are
 * spilled to `folder`, so memory use does not grow with the file.
 */
export function* readFamilyBatches(
  source: ByteSource,
  format: FileFormat,
  { familyOf, folder }: FamilyGrouping,
): Generator<RowBatch> {
  using onDisk = new RowsOnDisk(folder);
  for (const { rows, lines, problems } of readRowBatches(source, format, undefined)) {
    for (const [at, cells] of rows.entries()) {
      const problem = problems.get(at);
      const family = isParsed(problem) ? familyOf(cells) : undefined;
      if (!family) continue;
      for (const alias of family.aliases ?? []) onDisk.addAlias(alias, family.key);
      onDisk.add({ key: family.key, line: lines[at] ?? 0, cells, problem });
    }
  }
  onDisk.seal();
  const batches = function* () {
    for (const batch of readRowBatches(source, format, undefined)) {
      const isOnDisk = (at: number) => isParsed(batch.problems.get(at)) && familyOf(batch.rows[at] ?? []) !== undefined;
      yield [batch, isOnDisk] as const;
    }
  };
  yield* insertGroups(batches(), onDisk);
}

/** A record with a NUL byte has its cells; other invalid records have only their text. */
function isParsed(problem: RecordProblem | undefined): boolean {
  return problem === undefined || problem === "nul_byte";
}
