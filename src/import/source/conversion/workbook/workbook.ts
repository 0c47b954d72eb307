import { posix } from "node:path";
import { FileFormatError } from "../../../import-error.ts";
import type { StampedFile } from "../../containers/file-pieces.ts";
import { inflateEntry } from "../../containers/inflate.ts";
import { readZipDirectory, type ZipEntry } from "../../containers/zip-directory.ts";
import { rejectUnreadable } from "../../containers/zip-files.ts";
import { damagedWorkbook, parseXml, prefixedAttribute, type XmlHandler } from "./xml.ts";

export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
  /** The path of its contents. */
  readonly part: string;
}

/** The sheets of an .xlsx file, and where their contents are. Source: ECMA-376, parts 1 and 2. */
export interface Workbook {
  readonly sheets: readonly Sheet[];
  /** Whether days are counted from 1904, as in files from old Macs. */
  readonly is1904: boolean;
  readonly stringsPart: string | undefined;
  readonly stylesPart: string | undefined;
  /** Parses a part of the workbook, piece by piece. */
  readonly parse: (part: string, handler: XmlHandler) => Generator<void>;
}

interface Relation {
  readonly id: string;
  /** The last part of its type, such as `worksheet`. */
  readonly type: string;
  readonly target: string;
}

/** Other documents in the same kind of archive, by the extension of their main part. */
const otherDocuments: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\.bin$/i, "a binary Excel workbook (.xlsb)"],
  [/^word\//i, "a Word document"],
  [/^ppt\//i, "a PowerPoint presentation"],
];

/**
 * Opens an .xlsx file.
 * @throws FileFormatError if it is damaged, or another kind of document
 */
export function openWorkbook(file: StampedFile): Workbook {
  const entries = new Map<string, ZipEntry>();
  for (const entry of readZipDirectory(file)) entries.set(keyOf(entry.name), entry);
  const parse = function* (part: string, handler: XmlHandler): Generator<void> {
    const entry = entries.get(keyOf(part));
    if (!entry) throw damagedWorkbook();
    rejectUnreadable(entry);
    yield* parseXml(inflateEntry(file, entry), handler);
  };
  const main = readRelations("", parse).find(({ type }) => type === "officeDocument")?.target;
  if (main === undefined) throw damagedWorkbook();
  const other = otherDocuments.find(([pattern]) => pattern.test(main));
  if (other) {
    throw new FileFormatError(`the file is ${other[1]}`, "save the table as .xlsx or CSV, and import that");
  }
  const relations = readRelations(main, parse);
  const targetOf = (type: string) => relations.find((relation) => relation.type === type)?.target;
  return {
    ...readSheets(main, relations, parse),
    stringsPart: targetOf("sharedStrings"),
    stylesPart: targetOf("styles"),
    parse,
  };
}

/** Names of parts do not depend on case; some programs write backslashes. */
function keyOf(name: string): string {
  return name.replaceAll("\\", "/").toLowerCase();
}

/** The relations of a part; those of the whole package if it is empty. */
function readRelations(part: string, parse: Workbook["parse"]): Relation[] {
  const relations: Relation[] = [];
  const folder = posix.dirname(part);
  const open: XmlHandler["open"] = (name, { Id: id = "", Type: type = "", Target: target = "" }) => {
    if (name !== "Relationship") return;
    const path = posix.join("/", target.startsWith("/") ? "" : folder, target).slice(1);
    relations.push({ id, type: type.slice(type.lastIndexOf("/") + 1), target: path });
  };
  runThrough(parse(posix.join(folder, "_rels", `${posix.basename(part)}.rels`), { open }));
  return relations;
}

function readSheets(
  main: string,
  relations: readonly Relation[],
  parse: Workbook["parse"],
): Pick<Workbook, "sheets" | "is1904"> {
  const sheets: Sheet[] = [];
  let is1904 = false;
  const open: XmlHandler["open"] = (name, attributes) => {
    if (name === "workbookPr") is1904 = ["1", "true"].includes(attributes["date1904"] ?? "");
    if (name !== "sheet") return;
    const id = prefixedAttribute(attributes, "id");
    const relation = relations.find((one) => one.id === id);
    // Charts and dialogs are sheets too.
    if (relation?.type !== "worksheet") return;
    const isHidden = (attributes["state"] ?? "visible") !== "visible";
    sheets.push({ name: attributes["name"] ?? "", isHidden, part: relation.target });
  };
  runThrough(parse(main, { open }));
  return { sheets, is1904 };
}

/** Parses a small part to its end. */
export function runThrough(steps: Generator<void>): void {
  for (const _ of steps);
}
