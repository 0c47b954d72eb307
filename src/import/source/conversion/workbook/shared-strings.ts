import { FileFormatError } from "../../../import-error.ts";
import { unescapeText } from "./cell-text.ts";
import type { XmlHandler } from "./xml.ts";

const chunkBytes = 1024 * 1024;
/** Maximum size of the texts in memory. */
const maxChunks = 128;
const maxTexts = 8 * 1024 * 1024;
/**
 * Limits of what a workbook contains. Of the elements with texts, plain texts have two each, formatted ones more;
 * elements that are not cells are those in cells, and lists such as that of merged cells.
 */
export const workbookLimits = {
  texts: maxTexts,
  bytes: maxChunks * chunkBytes,
  textElements: 3 * maxTexts,
  listElements: 1_000_000,
  otherElements: 4_000_000,
  otherElementsPerCell: 8,
} as const;
export const maxTextLength = 1024 * 1024;

/** The texts to which cells refer by number, as UTF-8 in few large buffers. */
export class SharedStrings {
  readonly #chunks: Buffer[] = [];
  #used = chunkBytes;
  /** Where each text is: the number of its chunk and the offset in it. */
  #places = new Uint32Array(1024);
  #lengths = new Uint32Array(1024);
  #count = 0;

  add(text: string): void {
    const bytes = Buffer.from(text);
    if (bytes.length > chunkBytes || this.#count === maxTexts) throw tooMuchText();
    if (this.#used + bytes.length > chunkBytes) {
      if (this.#chunks.length === maxChunks) throw tooMuchText();
      this.#chunks.push(Buffer.allocUnsafeSlow(chunkBytes));
      this.#used = 0;
    }
    if (this.#count === this.#places.length) {
      this.#places = grow(this.#places);
      this.#lengths = grow(this.#lengths);
    }
    this.#places[this.#count] = (this.#chunks.length - 1) * chunkBytes + this.#used;
    this.#lengths[this.#count] = bytes.length;
    this.#count++;
    this.#used += bytes.copy(this.#chunks.at(-1) ?? bytes, this.#used);
  }

  /** The text with a number from 0; undefined if no text has it. */
  get(at: number): string | undefined {
    if (!Number.isInteger(at) || at < 0 || at >= this.#count) return undefined;
    const place = this.#places[at] ?? 0;
    const start = place % chunkBytes;
    return this.#chunks[(place - start) / chunkBytes]?.toString("utf8", start, start + (this.#lengths[at] ?? 0));
  }
}

/** Collects the texts of the part with shared strings. Formatted texts are in parts; phonetic hints are not text. */
export function collectStrings(strings: SharedStrings): XmlHandler {
  let text = "";
  let isText = false;
  let isHint = false;
  return {
    open: (name, { uniqueCount }) => {
      // The number of different texts is declared at the beginning.
      if (name === "sst" && Number(uniqueCount) > maxTexts) throw tooMuchText();
      if (name === "si") text = "";
      else if (name === "rPh") isHint = true;
      else if (name === "t") isText = !isHint;
    },
    text: (piece) => {
      if (!isText) return;
      text += piece;
      if (text.length > maxTextLength) throw tooMuchText();
    },
    close: (name) => {
      if (name === "si") strings.add(unescapeText(text));
      else if (name === "rPh") isHint = false;
      else if (name === "t") isText = false;
    },
  };
}

function grow(list: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(list.length * 2);
  larger.set(list);
  return larger;
}

export function tooMuchText(): FileFormatError {
  return new FileFormatError(
    "the Excel workbook contains more than 8,388,608 different texts, 128 MiB of text, or a text of more than 1 MiB",
    "export the sheet as CSV, and import that",
  );
}
