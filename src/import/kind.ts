import type { GroupName, OperationName } from "../contract/index.ts";
import type { RecordExporter } from "../export/record-exporter.ts";
import type { CallOptions } from "../service/transport.ts";
import type { Service } from "../service/service.ts";
import type { RejectCode } from "./check/reject-codes.ts";
import type { RecordUnit } from "./csv/file-format.ts";
import type { ReportEvent } from "./events.ts";
import type { ImportError } from "./import-error.ts";
import type { Item, ReportDropped, RowError, RowView, SourceRow } from "./item.ts";
import type { Layout } from "./layouts/layout.ts";
import type { FieldSynonyms } from "./mapping/names.ts";
import type { ImportOptions } from "./options.ts";
import type { SendResult } from "./outcome.ts";
import type { PlanBehavior } from "./plan/plan-behavior.ts";
import type { UndoBehavior } from "./undo/undo-behavior.ts";
import type { ExistingRecord } from "./run/key-store.ts";
import type { Values } from "./verify/comparable.ts";
import type { StoredRecords } from "./verify/stored-records.ts";

/**
 * A kind of record that can be imported and exported: plain data, from which the commands, help, and shell completion
 * derive, and the loaders of the code that imports and exports it. `records/index.ts` lists the kinds.
 */
export interface RecordKind {
  /** The noun of its commands, in the plural: `orders`. */
  readonly name: string;
  readonly itemName: ItemName;
  /** The fields that an import reads, with those required by default. */
  readonly fields: readonly FieldSpec[];
  /** The columns of an export, in order; an import reads all of them. */
  readonly columns: readonly string[];
  /** Columns of free text: when an export is imported again, whitespace at both ends is part of the value. */
  readonly textColumns?: readonly string[];
  /** The field with a product URL, which `--product-url` and `--store-url` can fill in; enables these flags. */
  readonly urlField?: string;
  /** Whether files may lack URLs of products that are stored with one. */
  readonly hasStoredUrls?: true;
  /** Fields with IDs that the service would drop if they are invalid; enables `--fix-ids`. */
  readonly fixableFields?: readonly string[];
  /**
   * The columns from which `--product-id-from` can take product IDs; enables that flag. By the name that the flag
   * accepts: the field, and further column names.
   */
  readonly productIdColumns?: Readonly<Record<string, readonly string[]>>;
  /** Fields with IDs, in which a number in scientific notation is a damaged ID. */
  readonly idFields?: readonly string[];
  /**
   * The field that holds the date of what happened: it is never in the future, and its order of day and month may have
   * to be detected. Enables `--date-format`.
   */
  readonly dateField?: string;
  /** What to do about rows without a value in a required field, instead of filling in the cell. */
  readonly missingHints?: Readonly<Record<string, string>>;
  /** Whether the API can undo an import; enables `--undoable`. */
  readonly isUndoable?: boolean;
  /** The layouts that `--layout` accepts, without the `-dmy` and `-mdy` variants. */
  readonly layoutNames?: readonly string[];
  readonly importCommand: KindCommand;
  readonly exportCommand: KindCommand;
  readonly planExamples: readonly string[];
  /** Reject codes that only this kind uses. */
  readonly rejectCodes?: Readonly<Record<string, RejectCode>>;
  /** How a plan obtains the state that an import depends on when the account is remote. */
  readonly rehearsal?: RehearsalState;
  /** The question before a run that overwrites, deletes, or sends emails; undefined if it only adds. */
  confirmation?(options: ImportOptions, files: string): string | undefined;
  /** What an undo does, if it cannot restore the records themselves. */
  readonly undoEffect?: string;
  /** What an import makes of a field without a value, after its number: `12 titles from the content`. */
  readonly filledFields?: Readonly<Record<string, ItemName>>;
  /** An item's key as a person knows it. */
  describeKey?(key: string): string;
  loadImporter(): Promise<RecordImporter>;
  loadExporter(): Promise<RecordExporter>;
}

export interface ItemName {
  readonly one: string;
  readonly many: string;
}

/** What is specific to one kind's import or export command. */
export interface KindCommand {
  readonly summary: string;
  readonly examples: readonly string[];
  readonly flags?: Readonly<Record<string, KindFlag>>;
}

/** A flag that only one kind has. */
export interface KindFlag {
  readonly description: string;
  /** The placeholder for its value in help, such as `<name>`; a flag without one is a switch. */
  readonly value?: string;
  /** The option that it sets. Switches set `true`, unless `isNegated`. */
  readonly option: string;
  /** A switch such as `--no-validate`, which sets its option to false; without the flag, the option is true. */
  readonly isNegated?: boolean;
  /** The accepted values: those of a field of the contract, or a list. */
  readonly values?: readonly string[] | { readonly operation: OperationName; readonly field: string };
  /** Reads a value in another notation; undefined if it is invalid. */
  readonly readValue?: (text: string) => string | undefined;
  /** How the value is parsed; text by default. A `date` is YYYY-MM-DD. */
  readonly type?: "date";
}

/** The flag of exports of records with a creation date. */
export const sinceFlag: KindFlag = {
  value: "<date>",
  description: "only records created on the service on or after this date (UTC), or within an age such as 7d",
  option: "since",
  type: "date",
};

/** A field of a kind, and the header names that stand for it. */
export interface FieldSpec {
  readonly name: string;
  /** Header names of other layouts, compared as `name` is: without regard to case, spaces, `_`, and `-`. */
  readonly aliases?: readonly string[];
  readonly required?: boolean;
  /** Optional, but a wrong column would do harm: `map` never chooses one that only resembles it. */
  readonly isGuarded?: boolean;
  /** The flag of the import that gives a value for all rows. */
  readonly flag?: string;
  /** It has no column of its own; only a layout or `--map` provides it. */
  readonly isMappedOnly?: boolean;
}

export interface RehearsalState {
  /** The records to copy; by default, those with the kind's own name. */
  readonly resources: readonly GroupName[];
  /**
   * Copies what `resources` does not cover.
   * @returns what could not be read, for messages
   */
  readonly copy?: (from: Service, to: Service, options: CallOptions) => Promise<readonly string[]>;
}

/** The code that imports a kind. */
export interface RecordImporter {
  /** @throws ImportError `usage` if an option is missing or invalid */
  prepare(options: ImportOptions, kind: RecordKind): PreparedImport;
  readonly layouts?: readonly Layout[];
  /**
   * Names the columns of a file whose first row is a record, not a header; undefined for other files.
   * @param mapped the columns that `--map` names
   */
  readonly nameColumns?:
    | ((rows: readonly (readonly string[])[], mapped: readonly string[]) => readonly string[] | undefined)
    | undefined;
  /** Column names by which `map` recognizes a field. */
  readonly synonyms?: Readonly<Record<string, FieldSynonyms>>;
  readonly plan?: PlanBehavior;
  undo?(options: ImportOptions): UndoBehavior;
}

/** An attempt at a run that is about to begin. */
export interface PreparedAttempt {
  /** The folder of the run. */
  readonly folder: string;
  readonly options: ImportOptions;
  /** Undefined if nothing is sent. */
  readonly service: Service | undefined;
  readonly callOptions: CallOptions;
  /** Whether the run has not sent anything yet. */
  readonly isFirst: boolean;
  /** The error for products without a URL, if a file lacks URLs. */
  readonly withoutUrl: ImportError | undefined;
  readonly report: ReportEvent;
  /** Asks for confirmation. @throws if the answer is no */
  confirm(question: string): Promise<void>;
  /** Reads all items of the run. */
  readItems(visit: (items: readonly Item[]) => void): Promise<void>;
}

/** Changes items before they are sent. */
export interface ItemPreparation extends Disposable {
  /** Is called with each complete item, in the order of the rows. */
  prepare(item: Item): void;
  /** Messages for the end of the run. */
  notices(): Iterable<string>;
}

/** A column of a file. Its values are read again each time. */
export interface FileColumn {
  readonly name: string;
  readonly values: Iterable<string>;
}

/** The columns of a file that is about to be imported. */
export interface FileColumns {
  /** The file as given. */
  readonly given: string;
  readonly columns: readonly FileColumn[];
  /** The column that holds a field. */
  readonly columnOf: (field: string) => FileColumn | undefined;
}

/** How one import behaves: what `prepare` returns, and what the kind declares. */
export interface ImportBehavior
  extends PreparedImport, Pick<RecordKind, "itemName" | "urlField" | "fixableFields" | "idFields" | "dateField"> {
  readonly fields: readonly FieldSpec[];
}

/** What a person's options make of a kind. */
export interface PreparedImport {
  readonly operation: OperationName;
  /** How many items a call carries, if the contract does not define it. */
  readonly itemsPerCall?: { readonly recommended: number; readonly max: number };
  /** The kind's fields, if the options change which of them are required. */
  readonly fields?: readonly FieldSpec[];
  /** Rows with the same value in this field make one item. */
  readonly groupField?: string;
  /** Fields of the record that its rows make together; a layout may provide them on any of the rows. */
  readonly sharedFields?: readonly string[];
  /** Identifies a record that a later row may name again; only used to report repetitions. */
  readonly idField?: string;
  /** Values that options give for fields, ahead of a layout's constants. */
  readonly suppliedFields?: Readonly<Record<string, string>>;
  /**
   * Values that all rows of a file have because of what its columns hold, by field.
   * @throws ImportError `usage` if the columns cannot be read
   */
  impliedFields?(file: FileColumns): Readonly<Record<string, string>>;
  /** Why a row is skipped, as a phrase after `skipped 2 rows`; undefined if it is not. Skipped rows do not count as read. */
  skip?(row: RowView): string | undefined;
  /** The fields that an empty value erases, and why empty cells of other fields erase nothing. */
  readonly erasing?: { readonly fields: readonly string[]; readonly otherwise: string };
  /** What a person knows an item by; its key by default. */
  nameOf?(item: Item): string;
  /**
   * Checks a row.
   * @param erased the fields of `erasing` that are to be sent empty
   * @returns an item of this one row, or all errors of the row
   */
  read(
    row: RowView,
    source: SourceRow,
    reportDropped: ReportDropped,
    erased: readonly string[],
  ): Item | readonly RowError[];
  /**
   * The records that an item overwrites, by ID, with values that are compared as JSON. The last write wins, so two items that write the
   * same record differently must be sent in order.
   */
  writes?(item: Item): Iterable<readonly [id: string, value: unknown]>;
  /** Merges the next row's item into the one before it, which has the same key; or returns why it does not belong there. */
  join?(item: Item, next: Item, unit: RecordUnit): RowError | undefined;
  /** How many rows an item may have; further rows with its key form another one. By default, `join` decides. */
  readonly maxRows?: number;
  /**
   * What makes the idempotency keys of calls unique: the run, or, if the same items are the same records in any run, only
   * the items. Without it, calls have no keys. `send` must use the key for one call only.
   */
  readonly keyedBy?: "run" | "items";
  /** Sends items in one call. */
  send(service: Service, items: readonly Item[], options: CallOptions): Promise<SendResult>;
  /** For calls that cannot be repeated: which of the items, none of which it held before the run as they are, the service holds. */
  readBack?(service: Service, items: readonly Item[], options: CallOptions): Promise<boolean[]>;
  /**
   * For records that may exist more than once: makes the nth item of a name in this run the nth of that name.
   * @param count returns how many of a name there have been, this one included
   * @returns the item with a key of its own, and the keys under which the service may already hold it
   */
  numberDouble?(item: Item, count: (name: string) => number): { readonly item: Item; readonly keys: readonly string[] };
  /** For items whose content depends on other rows: prepares an attempt at a run, before its first item is read. */
  prepareItems?(attempt: PreparedAttempt): Promise<ItemPreparation>;
  /**
   * For calls that cannot be repeated: all records that the service holds before the run. If they can be changed, an item
   * that is stored is not rejected: it is sent only if it differs, with the ID of the record that it `replaces`.
   */
  existing?(service: Service, options: CallOptions): AsyncIterable<readonly ExistingRecord[]>;
  /** Whether a stored record with the content of an item also has its other values. */
  isStored?(item: Item, values: Values): boolean;
  /** Messages for the end of the run, drawn from the service's responses. */
  notices?(): Iterable<string>;
  /** How a run is verified; a kind without it cannot be. */
  readonly storedRecords?: StoredRecords;
}
