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
 * quotes, are sliced; `parseRecords` reads the others, each distinct one once, since that takes ten times as long.
 * @param delimiter one character
 */
export function splitRecords(texts: readonly string[], delimiter: string): string[][] {
  /** Where each distinct field that is not plain occurs. */
  const fields = new Map<string, { readonly cells: string[]; readonly column: number }[]>();
  const rows = texts.map((text) => {
    let quoteAt = text.indexOf('"');
    if (quoteAt < 0) return text.split(delimiter);
    const cells: string[] = [];
    for (let at = 0; at <= text.length;) {
      const isQuoted = quoteAt === at;
      const last = isQuoted ? findClosingQuote(text, at) : at;
      const found = text.indexOf(delimiter, last);
      const end = found < 0 ? text.length : found;
      if (!isQuoted && (quoteAt < 0 || quoteAt > end)) cells.push(text.slice(at, end));
      else if (isQuoted && last === end - 1 && isPlain(text, at + 1, last, delimiter))
        cells.push(text.slice(at + 1, last));
      else {
        const field = text.slice(at, end);
        const place = { cells, column: cells.push("") - 1 };
        const others = fields.get(field);
        if (others) others.push(place);
        else fields.set(field, [place]);
      }
      if (quoteAt >= 0 && quoteAt < end) quoteAt = text.indexOf('"', end);
      at = end + 1;
    }
    return cells;
  });
  // As the fields of a single record, since each record has a cost, too.
  const [values = []] = fields.size === 0 ? [] : parseRecords([[...fields.keys()].join(delimiter)], delimiter);
  for (const [at, places] of [...fields.values()].entries()) {
    for (const { cells, column } of places) cells[column] = values[at] ?? "";
  }
  return rows;
}

export function splitRecord(text: string, delimiter: string): string[] {
  return splitRecords([text], delimiter)[0] ?? [];
}

/** The closing quote of a quoted field, in which quotes are doubled. */
function findClosingQuote(text: string, opening: number): number {
  let at = text.indexOf('"', opening + 1);
  while (at >= 0 && text.charCodeAt(at + 1) === quote) at = text.indexOf('"', at + 2);
  return at < 0 ? text.length : at;
}

/** Whether the text inside quotes has no quote, delimiter, or line break. */
function isPlain(text: string, from: number, end: number, delimiter: string): boolean {
  if (text.indexOf('"', from) < end) return false;
  const inside = text.substring(from, end);
  return !inside.includes(delimiter) && !inside.includes("\n") && !inside.includes("\r");
}
