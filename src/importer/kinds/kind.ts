import type { OperationName } from "../../contract/index.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Service } from "../../service/service.ts";
import type { ImportOptions, KindName } from "../types.ts";

/** A field that a kind of import knows, and the header names that stand for it. */
export interface FieldSpec {
  readonly name: string;
  /** Header names of other layouts; compared without case, spaces, `_` and `-`, as `name` is. */
  readonly aliases?: readonly string[];
  readonly required?: boolean;
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
  /** Names a record that a later row may name again, only to say so. */
  readonly idField?: string;
  readonly itemName: { readonly one: string; readonly many: string };
  /** Checks a row: an item of this one row, or every problem that the row has. */
  read(row: RowView, source: SourceRow, leaveOut: NoteLeftOut): Item | readonly RowProblem[];
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
  /** For calls that cannot be repeated: every key that the service holds before the run. */
  existingKeys?(service: Service, options: CallOptions): Promise<readonly string[]>;
}

export interface Kind {
  readonly name: KindName;
  /** @throws ImportError `usage` where an option is missing or wrong */
  prepare(options: ImportOptions): Importing;
}
