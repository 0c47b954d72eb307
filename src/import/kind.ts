import type { OperationName } from "../contract/index.ts";
import type { CallOptions } from "../service/transport.ts";
import type { Service } from "../service/service.ts";
import type { ImportOptions, KindName } from "./types.ts";

/** A field that a kind of import knows, and the header names that stand for it. */
export interface FieldSpec {
  readonly name: string;
  /** Header names of other layouts; compared without case, spaces, `_` and `-`, as `name` is. */
  readonly aliases?: readonly string[];
  readonly required?: boolean;
  /** No column of our own: only a shop's layout or `--map` gives it. */
  readonly isMappedOnly?: boolean;
}

/** A row of a file with its place, kept until its outcome is known. */
export interface SourceRow {
  readonly file: number;
  /** The line on which it starts, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** What is wrong with a row: the field, a stable code, and words for a person. */
export interface RowProblem {
  readonly field: string;
  readonly code: string;
  readonly reason: string;
  /** Of an item of several rows: the position of the one that is at fault; all of them where absent. */
  readonly row?: number;
}

/** What a call carries: one or more rows. */
export interface Item {
  /** What makes it one item, for example the order id. */
  readonly key: string;
  /** Items of different lanes never share a call. */
  readonly lane: string;
  readonly rows: SourceRow[];
  /** About how much of a body it takes; characters. */
  size: number;
  payload: unknown;
  /** Its rows are only understood together: none of them can be sent again alone. */
  isWhole?: boolean;
  /** Of an item of several things: each of them, and the row that says it; a row may say none, or several. */
  parts?: { readonly id: string; readonly row: SourceRow }[];
}

/** Something that a row of an item says to be on the service. */
export interface Claim {
  /** Finds it among the keys of what is held. */
  readonly key: string;
  /** Of the units that the item says to be there, `of`, so many have to be there for this row. */
  readonly needs: number;
  readonly of: number;
  readonly row: SourceRow;
  /** The field that a person looks at. */
  readonly field: string;
  /** Names it in the words of the wire: `order_id`, `product_id`. */
  readonly names: Readonly<Record<string, string>>;
}

/** How what a run's items say is compared with what the service holds. */
export interface Holdings {
  claims(item: Item): Iterable<Claim>;
  /** Streams the keys of what the service holds, a unit a key; with `since`, at least those written since. */
  held(service: Service, options: CallOptions, since?: Date): AsyncIterable<readonly string[]>;
  /** Whether `since` means anything. */
  readonly canNarrow?: boolean;
  /** Whether the run took away what its rows name, so that it is to be gone. */
  readonly isRemoval?: boolean;
}

/** A row's cells by field; blanks at both ends are taken off. Empty where the file has no such column. */
export type RowView = (field: string) => string;

/** A problem with an item, found by the service: none of the item's rows was taken. */
export interface ItemProblem extends RowProblem {
  /** Position of the item in the call. */
  readonly item: number;
}

/** Says that a cell was not sent although its row was. */
export type NoteLeftOut = (field: string, reason: string) => void;

/** One kind of import with a person's options applied. */
export interface Importing {
  readonly operation: OperationName;
  readonly fields: readonly FieldSpec[];
  /** Rows with the same value of it make one item. */
  readonly groupField?: string;
  /** Fields of the record that its rows make together, which a shop's layout gives on any one of them. */
  readonly sharedFields?: readonly string[];
  /** The field with a product's address, which `--product-url` makes. */
  readonly urlField?: string;
  /** Names a record that a later row may name again, only to say so. */
  readonly idField?: string;
  /** Fields with an id that the service drops for its characters, and that may be put right; none where absent. */
  readonly legalIds?: readonly string[];
  /** The fields that an empty value erases, and why the others' empty cells erase nothing; no field where absent. */
  readonly erasing?: { readonly fields: readonly string[]; readonly otherwise: string };
  readonly itemName: { readonly one: string; readonly many: string };
  /** What a person knows an item by; its key where absent. */
  nameOf?(item: Item): string;
  /**
   * Checks a row: an item of this one row, or every problem that the row has.
   * @param erased the fields of `erasing` that are to be sent empty
   */
  read(
    row: RowView,
    source: SourceRow,
    leaveOut: NoteLeftOut,
    erased: readonly string[],
  ): Item | readonly RowProblem[];
  /**
   * The records that an item overwrites, by id, as text to compare: the last one written wins, so two items that
   * write one record differently must be sent in order.
   */
  writes?(item: Item): Iterable<readonly [string, string]>;
  /** Puts the next row's item into the one before it, of the same key, or says why it cannot belong there. */
  join?(item: Item, next: Item): RowProblem | undefined;
  /** Sends items in one call and gives back the problems of single ones. */
  send(service: Service, items: readonly Item[], options: CallOptions): Promise<ItemProblem[]>;
  /** For calls that cannot be repeated: which of the items the service holds. */
  readBack?(service: Service, items: readonly Item[], options: CallOptions): Promise<boolean[]>;
  /**
   * For records that may be there twice: makes the n-th item of a name in this run the n-th of that name.
   * @param count gives how many of a name there were by now, this one included
   * @returns the item with its own key, and the keys by which the service may hold it already
   */
  numberDouble?(
    item: Item,
    count: (name: string) => number,
  ): { readonly item: Item; readonly keys: readonly string[] };
  /** For calls that cannot be repeated: every key that the service holds before the run. */
  existingKeys?(service: Service, options: CallOptions): Promise<readonly string[]>;
  /** What of the service's answers a person should know at the end. */
  notices?(): Iterable<string>;
  /** How a run is verified; a kind without it cannot be. */
  readonly holdings?: Holdings;
}

export interface Kind {
  readonly name: KindName;
  /** @throws ImportError `usage` where an option is missing or wrong */
  prepare(options: ImportOptions): Importing;
}
