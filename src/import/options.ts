/**
 * The options of one import, common to all kinds. The run's manifest stores them, so a resume uses the same ones.
 * The options of a kind stand beside them, under the names that the kind's flags declare.
 */
export interface ImportOptions {
  dryRun: boolean;
  /** Items per call; by default, the number that the contract recommends. */
  batchSize?: number | undefined;
  concurrency?: number | undefined;
  /** Calls per second; 0 disables pacing. */
  rate?: number | undefined;
  maxErrors?: { count: number } | { percent: number } | undefined;
  /** Field to column. */
  map: Record<string, string>;
  delimiter?: string | undefined;
  encoding?: string | undefined;
  /** The sheet of Excel workbooks; by default, the first visible one. */
  sheet?: string | undefined;
  /** The row with the names of the columns, from 1; by default, the first one or the one below a title. */
  headerRow?: number | undefined;
  rejects?: string | undefined;
  /** Whether files that look like another kind are imported anyway. */
  force?: boolean | undefined;
  /** The name of the files' layout, or `none`; by default, detected from the header. */
  layout?: string | undefined;
  /** Pattern for product URLs when the file has none: `https://shop.example/p/{product_id}`. */
  productUrl?: string | undefined;
  /** The address of the shop, from which product URLs are built as its software does. */
  storeUrl?: string | undefined;
  /** Which columns product IDs come from, in order of preference: names that the kind declares. */
  productIdFrom?: readonly string[] | undefined;
  /** Field to the value for rows without a value of their own. */
  set?: Record<string, string> | undefined;
  /** The order of day, month, and year in dates; by default, detected from the dates. */
  dateFormat?: DateFormat | undefined;
  /** The mapping file; its contents have already been merged into the other options. */
  mapping?: string | undefined;
  /** Whether invalid IDs are replaced by valid ones. */
  fixIds?: boolean | undefined;
  /** What an empty cell of an optional field means; `keep` by default. */
  empty?: EmptyCells | undefined;
  /** The share of the service's rate limit that the run may use, above 0 up to 1. */
  rateShare?: number | undefined;
  /** Whether the run records the values that it overwrites, so that they can be restored. */
  undoable?: boolean | undefined;
  /** Whether the run ends by reading back what was accepted. */
  verify?: boolean | undefined;
  /** Options of a single kind. */
  [option: string]: unknown;
}

/** The last row that can be the header, which bounds what is read to find it. */
export const maxHeaderRow = 1_000;

/** What an empty cell does: nothing, erase the stored value, or reject its row. */
export const emptyCells = ["keep", "clear", "error"] as const;
export type EmptyCells = (typeof emptyCells)[number];

/** The order of day, month, and year in dates of three numbers. */
export const dateFormats = ["dmy", "mdy", "ymd"] as const;
export type DateFormat = (typeof dateFormats)[number];
