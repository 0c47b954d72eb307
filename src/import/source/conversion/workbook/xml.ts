import { StringDecoder } from "node:string_decoder";
import { Parser } from "htmlparser2";
import { FileFormatError } from "../../../import-error.ts";

/** The elements of an XML document in order. Names have no namespace prefix. */
export interface XmlHandler {
  readonly open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

/** Maximum number of bytes without an element or text, such as those of a huge attribute. */
const maxSilentBytes = 4 * 1024 * 1024;

/** Parses an XML document, piece by piece. No entities but the predefined ones and characters are expanded. */
export function* parseXml(pieces: Iterable<Buffer>, handler: XmlHandler): Generator<void> {
  let silentBytes = 0;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        silentBytes = 0;
        handler.open?.(localName(name), attributes);
      },
      ontext: (text) => {
        silentBytes = 0;
        handler.text?.(text);
      },
      onclosetag: (name) => handler.close?.(localName(name)),
    },
    { xmlMode: true },
  );
  const decoder = new StringDecoder("utf8");
  for (const piece of pieces) {
    silentBytes += piece.length;
    parser.write(decoder.write(piece));
    if (silentBytes > maxSilentBytes) throw damagedWorkbook();
    yield;
  }
  parser.end(decoder.end());
}

/** An attribute with a namespace prefix, such as `r:id`; the prefix is chosen by the writing program. */
export function prefixedAttribute(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(attributes).find(([key]) => key.endsWith(`:${name}`))?.[1];
}

export function damagedWorkbook(cause?: unknown): FileFormatError {
  return new FileFormatError(
    "the Excel workbook is damaged or incomplete",
    "open it in a spreadsheet program and save it again, or export the sheet as CSV",
    { cause },
  );
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
