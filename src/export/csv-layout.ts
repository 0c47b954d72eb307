import { createCsvForm } from "./column-format.ts";
import type { ExportLayout, ExportRow, ExportValue } from "./record-exporter.ts";

type Row = Readonly<Record<string, ExportValue>>;

export interface CsvLayout {
  /** The fields of a record that it writes. */
  readonly fields: readonly string[];
  readonly columns: readonly string[];
  /** The column with the date, by which rows are sorted first. */
  readonly dateColumn: string;
  /**
   * Writes a record as rows, by column; absent columns are empty.
   * @param n the position of the record in the file, from 1
   */
  readonly toRows: (record: ExportRow["record"], n: number) => readonly Row[];
}

/** A layout with a header and one or more rows for each record. */
export function createCsvLayout({ fields, columns, dateColumn, toRows }: CsvLayout): ExportLayout {
  const toCells = (row: Row) => columns.map((column) => row[column] ?? null);
  return {
    fields,
    isCsv: true,
    sortKeyOf: (record) => {
      const rows = toRows(record, 0);
      return `${String(rows[0]?.[dateColumn] ?? "")} ${JSON.stringify(rows.map(toCells))}`;
    },
    createForm: async (csv) => {
      const form = createCsvForm(columns, csv);
      let n = 0;
      return {
        ...form,
        rows: (pieces, isFirst) => {
          const records = pieces.map((values) => Object.fromEntries(fields.map((field, at) => [field, values[at]])));
          return form.rows(records.flatMap((record) => toRows(record, ++n)).map(toCells), isFirst);
        },
      };
    },
  };
}
