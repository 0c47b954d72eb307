import type { Service } from "../service/service.ts";
import type { CallOptions } from "../service/transport.ts";
import type { CsvOptions, ExportForm } from "./column-format.ts";

/** A value of a record; undefined if the service does not return it. */
export type ExportValue = string | number | boolean | null | undefined;

/** The values of the flags that a kind's export declares, by option name. */
export type ExportQuery = Readonly<Record<string, string | undefined>>;

/** One record on its way out. */
export interface ExportRow {
  /** The service's own ID; a record that appears on two pages counts once, in its latest state. */
  readonly id: string | number;
  /** Rows are sorted by these; ties are sorted by the record. */
  readonly sortKeys: readonly (string | number)[];
  /** By column, with the fields that only JSON has. */
  readonly record: Readonly<Record<string, ExportValue>>;
}

/** How the records of a kind are read. */
export interface RecordExporter {
  /** What a row of the export is called. */
  readonly itemName: { readonly one: string; readonly many: string };
  /** Fields that JSON has in addition to the kind's columns. */
  readonly jsonFields?: readonly string[];
  readonly sortKeys: number;
  /** Pages are numbered, so deletions may shift records past the reader; the list is read again until nothing new appears. */
  readonly hasShiftingPages?: boolean;
  pages(service: Service, query: ExportQuery, options: CallOptions): AsyncIterable<readonly ExportRow[]>;
  /** Messages about the records that were read. */
  notices?(counts: ReadonlyMap<string, number>, omitted: number): Iterable<string>;
  /** Whether a CSV file for import omits the record because importing another kind restores it. */
  isOmitted?(row: ExportRow): boolean;
  /** The name under which `notices` counts the record. */
  countAs?(row: ExportRow): string | undefined;
  /** The layouts of other programs, by the name that `--layout` accepts. */
  readonly layouts?: Readonly<Record<string, ExportLayout>>;
}

/** How the records of a kind are written for another program. */
export interface ExportLayout {
  /** The fields of a record that it writes, in the order in which its form receives their values. */
  readonly fields: readonly string[];
  /** Whether it is CSV. */
  readonly isCsv: boolean;
  /**
   * What records are sorted by. It depends only on what the layout holds, so importing the file into an empty account and
   * exporting again yields the same file.
   */
  sortKeyOf(record: ExportRow["record"]): string;
  /** Why it cannot hold a record, after "omitted 2 reviews:"; undefined if it can. */
  omits?(record: ExportRow["record"]): string | undefined;
  createForm(csv: CsvOptions, service: Service, options: CallOptions): Promise<ExportForm>;
}
