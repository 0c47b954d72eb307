import { makeZip, type ZipPart } from "./archives.ts";

/** A cell as the XML of a sheet contains it: its type, style, and content. */
export interface CellXml {
  readonly t?: string;
  readonly s?: number;
  /** The content of the cell, such as `<v>1</v>`. */
  readonly xml: string;
}

/** A cell: a number as written, a text (inline), a cell's XML, or none. */
export type Cell = number | string | CellXml | undefined;

export interface SheetForm {
  readonly name: string;
  readonly state?: string;
  /** By row number, from 1. */
  readonly rows?: Readonly<Record<number, readonly Cell[]>>;
  /** Replaces the XML of the sheet. */
  readonly xml?: string;
}

export interface WorkbookForm {
  readonly sheets: readonly SheetForm[];
  readonly is1904?: boolean;
  /** The content of the part with shared strings. */
  readonly strings?: string;
  /** Format codes; a cell with the style n has the nth, from 1. */
  readonly formats?: readonly (string | number)[];
  /** Added to the parts, or replacing them. */
  readonly parts?: readonly ZipPart[];
}

const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const relationType = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** Builds an .xlsx file part by part. */
export function makeWorkbook({ sheets, is1904, strings, formats, parts = [] }: WorkbookForm): Buffer {
  const listed = sheets.map(({ name, state }, at) => {
    const hidden = state === undefined ? "" : ` state="${state}"`;
    return `<sheet name="${escape(name)}" sheetId="${at + 1}"${hidden} r:id="rId${at + 1}"/>`;
  });
  const relations = sheets.map((_, at) => relation(`rId${at + 1}`, "worksheet", `worksheets/sheet${at + 1}.xml`));
  if (strings !== undefined) relations.push(relation("strings", "sharedStrings", "sharedStrings.xml"));
  if (formats !== undefined) relations.push(relation("styles", "styles", "/xl/styles.xml"));
  const main = `<workbook ${namespace} xmlns:r="${relationType}"><workbookPr${is1904 === true ? ' date1904="1"' : ""}/>`;
  const own: Record<string, string> = {
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": relationsPart([relation("rId1", "officeDocument", "xl/workbook.xml")]),
    "xl/workbook.xml": `${main}<sheets>${listed.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationsPart(relations),
  };
  for (const [at, sheet] of sheets.entries()) own[`xl/worksheets/sheet${at + 1}.xml`] = sheet.xml ?? sheetXml(sheet);
  if (strings !== undefined) own["xl/sharedStrings.xml"] = `<sst ${namespace}>${strings}</sst>`;
  if (formats !== undefined) own["xl/styles.xml"] = stylesXml(formats);
  const all = Object.entries(own).map(([name, text]): ZipPart => ({
    name,
    bytes: Buffer.from(`<?xml version="1.0"?>\n${text}`),
  }));
  const replaced = new Set(parts.map(({ name }) => name));
  return makeZip([...all.filter(({ name }) => !replaced.has(name)), ...parts]);
}

/** A workbook with one sheet, whose rows start at row 1. */
export function makeSheet(rows: readonly (readonly Cell[])[]): Buffer {
  return makeWorkbook({
    sheets: [{ name: "Orders", rows: Object.fromEntries(rows.map((cells, at) => [at + 1, cells])) }],
  });
}

export function columnName(at: number): string {
  return at < 26 ? String.fromCharCode(65 + at) : columnName(Math.floor(at / 26) - 1) + columnName(at % 26);
}

function sheetXml({ rows = {} }: SheetForm): string {
  const lines = Object.entries(rows).map(([row, cells]) => {
    const xml = cells.map((cell, at) => cellXml(cell, `${columnName(at)}${row}`)).join("");
    return `<row r="${row}">${xml}</row>`;
  });
  return `<worksheet ${namespace}><sheetData>${lines.join("\n")}</sheetData></worksheet>`;
}

function cellXml(cell: Cell, reference: string): string {
  if (cell === undefined) return "";
  if (typeof cell === "number") return `<c r="${reference}"><v>${cell}</v></c>`;
  if (typeof cell === "string") return `<c r="${reference}" t="inlineStr"><is><t>${escape(cell)}</t></is></c>`;
  const type = cell.t === undefined ? "" : ` t="${cell.t}"`;
  const style = cell.s === undefined ? "" : ` s="${cell.s}"`;
  return `<c r="${reference}"${style}${type}>${cell.xml}</c>`;
}

function stylesXml(formats: readonly (string | number)[]): string {
  const own = formats.map((code, at) =>
    typeof code === "number" ? "" : `<numFmt numFmtId="${164 + at}" formatCode="${escape(code)}"/>`,
  );
  const cells = formats.map((code, at) => `<xf numFmtId="${typeof code === "number" ? code : 164 + at}"/>`);
  const others = '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>';
  return `<styleSheet ${namespace}><numFmts>${own.join("")}</numFmts>${others}<cellXfs><xf numFmtId="0"/>${cells.join("")}</cellXfs></styleSheet>`;
}

function relation(id: string, type: string, target: string): string {
  return `<Relationship Id="${id}" Type="${relationType}/${type}" Target="${target}"/>`;
}

function relationsPart(relations: readonly string[]): string {
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join("")}</Relationships>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
