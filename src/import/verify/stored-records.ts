import type { CallOptions } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";
import type { Item, SourceRow } from "../item.ts";
import type { Values } from "./comparable.ts";

/** A record that the service must hold because of a row. */
export interface ExpectedRecord {
  /** Identifies it among the keys of the stored records. */
  readonly key: string;
  /** How many of the item's units, `of`, must be stored for this row to count as stored; 0 if only values are compared. */
  readonly needs: number;
  readonly of: number;
  readonly row: SourceRow;
  /** The ID of the part of the item, if it has parts. */
  readonly part?: string;
  readonly field: string;
  /** Its IDs under their wire names: `order_id`, `product_id`. */
  readonly names: Readonly<Record<string, string>>;
  /** The values that were sent, by field: those of each unit, or of the record. */
  readonly values?: readonly Values[] | undefined;
  /** The first unit to compare, from 0. */
  readonly firstUnit?: number | undefined;
  /** For an item whose rows overwrite each other: the row that wrote each field last. */
  readonly writtenIn?: ReadonlyMap<string, SourceRow> | undefined;
  /** Whether each row is compared, even if a later row writes the record again. By default, the last one wins. */
  readonly isEachCompared?: boolean;
  /** A key of the record that its changed values leave the same; with the values. Used if nothing has `key`. */
  readonly changed?: { readonly key: string; readonly values: Values } | undefined;
}

/** What the service holds: one unit, or values. */
export interface StoredRecord {
  readonly key: string;
  readonly values?: Values | undefined;
  /** Belongs to several units, such as an order to its products: it counts as no unit, and the last one is kept. */
  readonly isShared?: boolean | undefined;
}

/** How a run's items are compared with the records that the service holds. */
export interface StoredRecords {
  expected(item: Item): Iterable<ExpectedRecord>;
  /** Streams the stored records; with `since`, at least those written since then. */
  list(service: Service, options: CallOptions, since?: Date): AsyncIterable<readonly StoredRecord[]>;
  /** Whether `list` honors `since`. */
  readonly canNarrow?: boolean;
  /** Whether the run deleted what its rows name, so that it must not be stored. */
  readonly isRemoval?: boolean;
}

/** One key of several parts, none of which contains a line break. */
export function joinKey(...parts: readonly string[]): string {
  return parts.join("\n");
}

/** For an item that is a single record: its first row stands for it. */
export function* expectOne(
  { rows, writtenIn }: Item,
  key: string,
  field: string,
  names: Readonly<Record<string, string>>,
  values?: Values,
): Generator<ExpectedRecord> {
  const [row] = rows;
  if (row) yield { key, needs: 1, of: 1, row, field, names, writtenIn, ...(values && { values: [values] }) };
}
