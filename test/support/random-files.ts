import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import iconv from "iconv-lite";
import { makeGzip, makeZip } from "./archives.ts";

/** The error of a row, and the expected reject code. */
export const faults = {
  bad_email: { code: "bad_email", column: "email", cell: "nobody" },
  bad_date: { code: "bad_date", column: "order_date", cell: "31st of May" },
  no_name: { code: "missing", column: "product_name", cell: " " },
  bad_id: { code: "bad_id", column: "product_id", cell: "lamp 03" },
  long_id: { code: "too_long", column: "product_id", cell: "p".repeat(300) },
  bad_price: { code: "bad_price", column: "product_price", cell: "cheap" },
  bad_url: { code: "bad_url", column: "product_url", cell: "nowhere" },
  conflict: { code: "order_conflict", column: "email", cell: "somebody.else@example.com" },
  short: { code: "ragged_row" },
  long: { code: "ragged_row" },
  open_quote: { code: "bad_quote" },
  tail_after_quote: { code: "bad_quote" },
  nul: { code: "nul_byte" },
} as const;
export type Fault = keyof typeof faults;

export const columns = [
  "order_id",
  "order_date",
  "customer_name",
  "email",
  "currency_iso",
  "user_reference",
  "product_id",
  "product_name",
  "product_url",
  "product_description",
  "product_price",
] as const;
export type Cells = Record<(typeof columns)[number], string>;

const encodings = {
  "utf-8": { name: "utf8", hasMark: false },
  "utf-8 with mark": { name: "utf8", hasMark: true },
  "utf-16le with mark": { name: "utf-16le", hasMark: true },
  "utf-16be with mark": { name: "utf-16be", hasMark: true },
  "utf-16le": { name: "utf-16le", hasMark: false },
  "utf-16be": { name: "utf-16be", hasMark: false },
  "windows-1252": { name: "windows-1252", hasMark: false },
} as const;

interface RowPlan {
  readonly order: number;
  readonly product: number;
  readonly fault: Fault | undefined;
  readonly isTwice: boolean;
  readonly isQuoted: boolean;
}

interface FilePlan {
  readonly rows: readonly RowPlan[];
  readonly columns: readonly (keyof Cells)[];
  readonly encoding: keyof typeof encodings;
  readonly delimiter: string;
  readonly lineEnds: "\n" | "\r\n" | "\r" | "mixed";
  readonly hasSepLine: boolean;
  readonly hasLastLineEnd: boolean;
  readonly hasBlankLines: boolean;
  readonly container: "none" | "gzip" | "gzip members" | "zip" | "zip stored" | "shared zip";
}

/** Generates random files for one import of orders. */
export interface Plan {
  readonly files: readonly FilePlan[];
  readonly texts: readonly string[];
  readonly isLatin: boolean;
  readonly toldDelimiter: string | undefined;
  readonly isEncodingTold: boolean;
  readonly isPattern: boolean;
  readonly batchSize: number;
}

const orderCount = 8;
const productCount = 12;

const anyLetters = ["é", "ß", "€", "“", "😀", "漢字", "ł", "\u2028"];
const latinLetters = ["é", "ß", "€", "“", "ü", "×"];

/** Possible cell texts; none starts with a delimiter or line break, which would be ambiguous after a broken quote. */
function textOf(letters: readonly string[]): fc.Arbitrary<string> {
  const pieces = ['"', ",", ";", "\t", "|", "\n", "\r\n", "\r", '""', "'", "=", " ", "a", ...letters];
  // ASCII between all parts, because two adjacent Windows-1252 characters can be valid UTF-8 by chance.
  return fc
    .array(fc.constantFrom(...pieces), { maxLength: 6 })
    .map((found) => `N${found.map((piece) => `${piece}o`).join("")}${found.length % 3 === 0 ? " " : ""}`);
}

const row: fc.Arbitrary<RowPlan> = fc.record({
  order: fc.nat({ max: orderCount - 1 }),
  product: fc.nat({ max: productCount - 1 }),
  fault: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(faults) as Fault[])) },
  ),
  isTwice: fc.nat({ max: 5 }).map((drawn) => drawn === 0),
  isQuoted: fc.boolean(),
});

function fileOf(isLatin: boolean): fc.Arbitrary<FilePlan> {
  const all = Object.keys(encodings) as (keyof typeof encodings)[];
  return fc.record({
    rows: fc.array(row, { maxLength: 25, size: "max" }),
    columns: fc.shuffledSubarray([...columns], { minLength: columns.length }),
    encoding: fc.constantFrom(...all.filter((name) => isLatin || name !== "windows-1252")),
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    lineEnds: fc.constantFrom("\n", "\r\n", "\r", "mixed"),
    hasSepLine: fc.boolean(),
    hasLastLineEnd: fc.boolean(),
    hasBlankLines: fc.boolean(),
    container: fc.constantFrom("none", "none", "gzip", "gzip members", "zip", "zip stored", "shared zip"),
  });
}

export const anyPlan: fc.Arbitrary<Plan> = fc.boolean().chain((isLatin) =>
  fc.record({
    files: fc.array(fileOf(isLatin), { minLength: 1, maxLength: 3 }),
    texts: fc.array(textOf(isLatin ? latinLetters : anyLetters), {
      minLength: orderCount + 2 * productCount,
      maxLength: orderCount + 2 * productCount,
    }),
    isLatin: fc.constant(isLatin),
    toldDelimiter: fc.option(fc.constantFrom(",", ";", "\t", "|", "^"), { nil: undefined, freq: 4 }),
    isEncodingTold: fc.boolean(),
    isPattern: fc.boolean(),
    batchSize: fc.integer({ min: 1, max: 9 }),
  }),
);

/** A row in a file. */
export interface PutRow {
  /** The file name as shown in messages. */
  readonly file: string;
  /** The byte offset of its start. */
  readonly line: number;
  /** The intended values. */
  readonly cells: Cells;
  readonly fault: Fault | undefined;
}

export interface PutFiles {
  readonly given: readonly string[];
  readonly fileCount: number;
  readonly rows: readonly PutRow[];
  readonly options: { readonly encoding?: string; readonly delimiter?: string };
  /** How to interpret the rejects. */
  readonly rejects: { readonly delimiter: string; readonly encoding: string };
}

/** Writes the planned files, each in its own format, and returns the position of each row. */
export function putFiles(plan: Plan, folder: string): PutFiles {
  mkdirSync(join(folder, "in"));
  const [first] = plan.files;
  const toldEncoding = plan.isEncodingTold ? encodings[first?.encoding ?? "utf-8"].name : undefined;
  const files = plan.files.map((file) => ({
    ...file,
    encoding: plan.isEncodingTold ? (first?.encoding ?? "utf-8") : file.encoding,
    delimiter: plan.toldDelimiter ?? file.delimiter,
  }));
  const met = new Set<string>();
  const rows: PutRow[] = [];
  const shared: { name: string; bytes: Buffer }[] = [];
  const paths: string[] = [];
  for (const [at, file] of files.entries()) {
    const inner = `${at}.csv`;
    const place = placeOf(file.container, at);
    const written = writeText(plan, file, met);
    const { name, hasMark } = encodings[file.encoding];
    const bytes = iconv.encode(written.text, name, { addBOM: hasMark });
    for (const { line, cells, fault } of written.rows) rows.push({ file: place.given, line, cells, fault });
    if (file.container === "shared zip") shared.push({ name: inner, bytes });
    else {
      writeFileSync(join(folder, place.path), pack(file.container, inner, bytes));
      paths.push(place.path);
    }
  }
  if (shared.length > 0) {
    writeFileSync(join(folder, "in/shared"), makeZip([...shared, { name: "notes/", bytes: Buffer.alloc(0) }]));
    paths.push("in/shared");
  }
  const alike = (values: readonly string[]) => (new Set(values).size === 1 ? values[0] : undefined);
  const encoding = toldEncoding ?? alike(files.map((file) => encodings[file.encoding].name));
  return {
    given: plan.isPattern ? ["in/*"] : paths,
    fileCount: files.length,
    rows,
    options: {
      ...(toldEncoding === undefined ? {} : { encoding: toldEncoding }),
      ...(plan.toldDelimiter === undefined ? {} : { delimiter: plan.toldDelimiter }),
    },
    rejects: {
      delimiter: plan.toldDelimiter ?? alike(files.map((file) => file.delimiter)) ?? ",",
      encoding:
        encoding === undefined || (encoding === "windows-1252" && toldEncoding === undefined) ? "utf8" : encoding,
    },
  };
}

function placeOf(container: FilePlan["container"], at: number): { path: string; given: string } {
  if (container === "shared zip") return { path: "in/shared", given: `in/shared/${at}.csv` };
  const path = `in/${at}.${container === "none" ? "csv" : "packed"}`;
  return { path, given: container.startsWith("zip") ? `${path}/${at}.csv` : path };
}

function pack(container: FilePlan["container"], name: string, bytes: Buffer): Buffer {
  if (container === "none") return bytes;
  if (container.startsWith("gzip")) return makeGzip(bytes, container === "gzip" ? 1 : 3);
  return makeZip([{ name, bytes, isStored: container === "zip stored", hasDescriptor: container === "zip" }]);
}

interface Written {
  readonly text: string;
  readonly rows: Omit<PutRow, "file">[];
}

function writeText(plan: Plan, file: FilePlan, met: Set<string>): Written {
  let text = file.hasSepLine ? `sep=${file.delimiter}${endOf(file, 0)}` : "";
  text += `${file.columns.join(file.delimiter)}${endOf(file, 1)}`;
  const rows: Omit<PutRow, "file">[] = [];
  const goodOrders = new Set<number>();
  for (const [at, planned] of file.rows.entries()) {
    const pair = `${planned.order} ${planned.product}`;
    // An order contains a product once, except for intentional duplicates.
    if (met.has(pair)) continue;
    met.add(pair);
    const fault = planned.fault === "conflict" && !goodOrders.has(planned.order) ? undefined : planned.fault;
    if (fault === undefined) goodOrders.add(planned.order);
    const cells = cellsOf(plan, planned);
    for (let copy = 0; copy < (planned.isTwice && fault === undefined ? 2 : 1); copy++) {
      rows.push({ line: lineOf(text, file.lineEnds), cells, fault });
      text += `${writeRow(cells, fault, file, planned.isQuoted)}${endOf(file, at)}`;
      if (file.hasBlankLines && at % 4 === 0) text += endOf(file, at);
    }
  }
  const last = file.hasLastLineEnd ? undefined : /(?:\r\n|\r|\n)+$/.exec(text)?.[0].length;
  return { text: last === undefined ? text : text.slice(0, -last), rows };
}

/** Returns the line number of the next character, given the file's line endings. */
function lineOf(text: string, lineEnds: FilePlan["lineEnds"]): number {
  return text.split(lineEnds === "\r" ? "\r" : "\n").length;
}

function endOf({ lineEnds }: FilePlan, at: number): string {
  if (lineEnds !== "mixed") return lineEnds;
  return at % 3 === 0 ? "\n" : "\r\n";
}

function cellsOf({ texts }: Plan, { order, product }: RowPlan): Cells {
  return {
    order_id: `o-${order}`,
    order_date: `2026-03-0${order + 1}`,
    customer_name: texts[order] ?? "",
    email: `buyer${order}@example.com`,
    currency_iso: "EUR",
    user_reference: `u-${order}`,
    product_id: `p_${product}`,
    product_name: texts[orderCount + product] ?? "",
    product_url: `https://shop.example/p?id=${product}&a=1,2;3|4`,
    product_description: texts[orderCount + productCount + product] ?? "",
    product_price: `${product + 1}.50`,
  };
}

function writeRow(meant: Cells, fault: Fault | undefined, file: FilePlan, isQuoted: boolean): string {
  const { delimiter } = file;
  const cells = { ...meant };
  const spoiled = fault && faults[fault];
  if (spoiled && "column" in spoiled) cells[spoiled.column] = spoiled.cell;
  const quote = (cell: string) =>
    isQuoted || /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const written = file.columns.map((column) => quote(cells[column]));
  const flat = () => file.columns.map((column) => cells[column].replaceAll(/["\r\n]/g, "").replaceAll(delimiter, ""));
  if (fault === "short") return written.slice(0, 4).join(delimiter);
  if (fault === "long") return [...written, "one more"].join(delimiter);
  if (fault === "open_quote")
    return flat()
      .map((cell, at) => (at === 2 ? `"${cell}` : cell))
      .join(delimiter);
  if (fault === "tail_after_quote") {
    return flat()
      .map((cell, at) => (at === 2 ? `"${cell}"tail` : cell))
      .join(delimiter);
  }
  if (fault === "nul") return written.map((cell, at) => (at === 5 ? `a\0b` : cell)).join(delimiter);
  return written.join(delimiter);
}
