import type { CallOptions } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";
import type { Item, SourceRow } from "../item.ts";

/** A record that the service must hold because of a row. */
export interface ExpectedRecord {
  /** Identifies it among the keys of the stored records. */
  readonly key: string;
  /** How many of the item's units, `of`, must be stored for this row to count as stored. */
  readonly needs: number;
  readonly of: number;
  readonly row: SourceRow;
  /** The ID of the part of the item, if it has parts. */
  readonly part?: string;
  readonly field: string;
  /** Its IDs under their wire names: `order_id`, `product_id`. */
  readonly names: Readonly<Record<string, string>>;
}

/** How a run's items are compared with the records that the service holds. */
export interface StoredRecords {
  expected(item: Item): Iterable<ExpectedRecord>;
  /** Streams the keys of the stored records, one per unit; with `since`, at least those written since then. */
  list(service: Service, options: CallOptions, since?: Date): AsyncIterable<readonly string[]>;
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
  { rows }: Item,
  key: string,
  field: string,
  names: Readonly<Record<string, string>>,
): Generator<ExpectedRecord> {
  const [row] = rows;
  if (row) yield { key, needs: 1, of: 1, row, field, names };
}
