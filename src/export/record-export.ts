import type { Service } from "../service/service.ts";
import type { CallOptions } from "../service/transport.ts";

export type ExportNoun = "products" | "orders" | "coupons" | "unsubscribers" | "reviews";

/** A value of a record; absent where the service does not tell it. */
export type ExportValue = string | number | boolean | null | undefined;

/** What is to be exported of a noun. */
export interface ExportQuery {
  /** A day, YYYY-MM-DD: what was created on the service from then on. */
  readonly since?: string | undefined;
  /** Coupon codes of this action alone. */
  readonly action?: string | undefined;
}

/** One record of the service on its way out. */
export interface ExportRow {
  /** The service's own id of it: what pages bring twice counts once, as it came last. */
  readonly id: string | number;
  /** What rows are sorted by; where all are the same, by the record. */
  readonly sortKeys: readonly (string | number)[];
  /** By column, and the fields that only JSON has. */
  readonly record: Readonly<Record<string, ExportValue>>;
}

/** How the records of a noun are read, and what a row of them holds. */
export interface Noun {
  readonly name: ExportNoun;
  readonly itemName: { readonly one: string; readonly many: string };
  /** Of a CSV file, which the same noun's import reads. */
  readonly columns: readonly string[];
  /** What JSON has besides. */
  readonly furtherFields?: readonly string[];
  /** How many sort keys a row has. */
  readonly sortKeys: number;
  /** Pages are counted off, so that one may be passed over while others are taken away: read again until nothing new comes. */
  readonly isCountedOff?: boolean;
  pages(service: Service, query: ExportQuery, options: CallOptions): AsyncIterable<readonly ExportRow[]>;
  /** What a person should know of the records that were read. */
  notices?(counts: ReadonlyMap<string, number>, leftOut: number): Iterable<string>;
  /** Whether a file to be imported goes without a row, which the import of another noun brings back. */
  isLeftOut?(row: ExportRow): boolean;
  /** Counts a row under a name, for the notices. */
  countedAs?(row: ExportRow): string | undefined;
}
