import { parse } from "csv-parse/sync";

const quote = 34;

/** Ends a record for the package. No valid record contains it outside quotes, whether lines end in LF or in CR only. */
const recordEnd = "\r\n";

/**
 * Parses complete records, none of which is empty or has a broken quote, in one call: each call has a fixed cost.
 * Source: RFC 4180; a quote inside an unquoted field is text.
 * @param delimiter one character
 */
export function parseRecords(texts: readonly string[], delimiter: string): string[][] {
  return parse(texts.join(recordEnd), {
    delimiter,
    record_delimiter: recordEnd,
    relax_quotes: true,
    relax_column_count: true,
  });
}

/**
 * The cells of valid records. Plain fields, which are unquoted or have no quote, delimiter, or line break inside their
 * quotes, are sliced; `parseRecords` reads the others, which takes ten times as long.
 * @param delimiter one character
 */
export function splitRecords(texts: readonly string[], delimiter: string): string[][] {
  const fields: string[] = [];
  const places: (readonly [cells: string[], column: number])[] = [];
  const rows = texts.map((text) => {
    const pieces = text.split(delimiter);
    if (!text.includes('"')) return pieces;
    const hasBreak = hasLineBreak(text);
    const cells: string[] = [];
    for (let at = 0; at < pieces.length; at++) {
      const piece = pieces[at] ?? "";
      if (isSimplyQuoted(piece) && !(hasBreak && hasLineBreak(piece))) cells.push(piece.slice(1, -1));
      else if (!piece.includes('"')) cells.push(piece);
      else {
        const end = piece.charCodeAt(0) === quote && hasOddQuotes(piece) ? findClosingPiece(pieces, at + 1) : at;
        fields.push(end === at ? piece : pieces.slice(at, end + 1).join(delimiter));
        places.push([cells, cells.push("") - 1]);
        at = end;
      }
    }
    return cells;
  });
  // As the fields of a single record, since each record has a cost, too.
  const [values = []] = fields.length === 0 ? [] : parseRecords([fields.join(delimiter)], delimiter);
  for (const [at, [cells, column]] of places.entries()) cells[column] = values[at] ?? "";
  return rows;
}

export function splitRecord(text: string, delimiter: string): string[] {
  return splitRecords([text], delimiter)[0] ?? [];
}

function hasLineBreak(text: string): boolean {
  return text.includes("\n") || text.includes("\r");
}

function isSimplyQuoted(piece: string): boolean {
  return piece.charCodeAt(0) === quote && piece.length > 1 && piece.indexOf('"', 1) === piece.length - 1;
}

/** Doubled quotes have no effect on whether their number is odd. */
function hasOddQuotes(piece: string): boolean {
  let isOdd = false;
  for (let at = piece.indexOf('"'); at >= 0; at = piece.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}

/** The piece in which a quoted field with delimiters ends. */
function findClosingPiece(pieces: readonly string[], from: number): number {
  let at = from;
  while (at < pieces.length - 1 && !hasOddQuotes(pieces[at] ?? "")) at++;
  return at;
}
