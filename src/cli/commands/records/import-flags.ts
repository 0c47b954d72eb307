import { usageError } from "../../../config/user-error.ts";
import type { KindFlag, RecordKind } from "../../../import/kind.ts";
import { type DateFormat, dateFormats, emptyCells, maxHeaderRow, type ImportOptions } from "../../../import/options.ts";
import type { Flag, Flags, FlagValues } from "../../program/flag.ts";
import { valuesOfField } from "../../program/field-values.ts";
import {
  integerFrom,
  oneOf,
  readDateFormat,
  readDelimiter,
  readList,
  readMapping,
  readMaxErrors,
  readRate,
  readSetting,
  readShare,
  readWholeNumber,
} from "../../program/flag-values.ts";
import { readRelativeDay } from "../../program/relative-time.ts";

/** A flag for the file that a command writes. */
export function outFlag(description: string) {
  return { value: "<file>", short: "o", description, isOutput: true } as const;
}

/** The flags that also apply to a resumed run. */
export const paceFlags = {
  rate: {
    value: "<n>",
    description: "calls per second; 0 disables pacing (default: 5 for remote profiles)",
    read: readRate,
  },
  "rate-share": { value: "<n%>", description: "use only this share of the rate limit", read: readShare },
  concurrency: { value: "<n>", description: "maximum number of calls in flight", read: readWholeNumber },
  "max-errors": { value: "<n|n%>", description: "stop if more rows than this are rejected", read: readMaxErrors },
} as const;

export const importFlags = {
  "dry-run": { description: "check the files without sending or writing anything" },
  "batch-size": { value: "<n>", description: "number of items per call", read: readWholeNumber },
  ...paceFlags,
  map: { value: "<field=column>", description: "read a field from this column", isRepeatable: true, read: readMapping },
  set: {
    value: "<field=value>",
    description: "value of a field in rows that have no value for it",
    isRepeatable: true,
    read: readSetting,
  },
  mapping: { value: "<file>", description: "mapping file with columns and values" },
  delimiter: { value: "<c>", description: "field delimiter, or `tab` (default: auto-detect)", read: readDelimiter },
  encoding: {
    value: "<name>",
    description: "character encoding of the files (default: auto-detect)",
    values: ["utf-8", "utf-16le", "utf-16be", "windows-1252", "iso-8859-1"],
  },
  "header-row": {
    value: "<n>",
    description: "row with the column names (default: auto-detect)",
    read: integerFrom(1, maxHeaderRow),
  },
  sheet: { value: "<name>", description: "sheet of Excel workbooks (default: the first visible one)" },
  force: { description: "import files that look like another type of record" },
  empty: {
    value: "<keep|clear|error>",
    description: "how to treat empty cells: keep the stored value, clear it, or reject the row (default: keep)",
    ...oneOf(emptyCells),
  },
  rejects: { value: "<file>", description: "write rejected rows to this file", isOutput: true },
  verify: { description: "after the import, read back and compare the accepted rows" },
} as const;

export function importFlagsOf(kind: RecordKind) {
  return { ...listKindFlags(kind.importCommand.flags), ...sharedImportFlags(kind) } as const;
}

/** The flags of an import of this kind, without those that only this kind has. */
export function sharedImportFlags(kind: RecordKind) {
  const idColumns = Object.keys(kind.productIdColumns ?? {});
  const productUrl = "pattern for product URLs: https://shop.example/p/{product_id}";
  const idsFrom = `columns to take product IDs from, in order of preference: ${idColumns.join(", ")}`;
  const undoable = "save overwritten values, so that `imports undo` can restore them";
  return {
    ...importFlags,
    layout: {
      value: "<name>",
      description: "layout of the files, or `none` (default: auto-detect)",
      values: ["none", ...(kind.layoutNames ?? [])],
    },
    ...(kind.urlField !== undefined && {
      "product-url": { value: "<pattern>", description: productUrl },
      "store-url": {
        value: "<url>",
        description: "address of the shop, for product URLs that find products by a search",
      },
    }),
    ...(idColumns.length > 0 && {
      "product-id-from": { value: "<columns>", description: idsFrom, read: readList },
    }),
    ...(kind.dateField !== undefined && {
      "date-format": {
        value: "<dmy|mdy|ymd>",
        description: "order of day, month, and year in dates such as 01/02/2026 (default: auto-detect)",
        values: dateFormats,
        read: readDateFormat,
      },
    }),
    ...(kind.fixableFields && { "fix-ids": { description: "rewrite invalid IDs and record the mapping" } }),
    ...(kind.isUndoable && { undoable: { description: undoable } }),
  } as const;
}

export function listKindFlags(flags: Readonly<Record<string, KindFlag>> = {}): Flags {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, toFlag(flag)]));
}

function toFlag({ description, value, values: declared, readValue, type }: KindFlag): Flag {
  if (value === undefined) return { description };
  const values = declared && "operation" in declared ? valuesOfField(declared.operation, declared.field) : declared;
  const flag = { value, description };
  if (values) return { ...flag, ...oneOf(values, readValue) };
  return type === "date" ? { ...flag, read: readRelativeDay } : flag;
}

/** The options that a kind's own flags set. */
export function readKindFlags(
  flags: Readonly<Record<string, KindFlag>> = {},
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = Object.entries(flags).map(([name, { option, value, isNegated = false }]) => {
    if (value !== undefined) return [option, values[name]];
    const isSet = values[name] === true;
    return [option, isNegated ? !isSet : isSet];
  });
  return Object.fromEntries(entries);
}

export function readImportOptions(
  flags: FlagValues<typeof importFlags> & { readonly [flag: string]: unknown },
  kind?: RecordKind,
): ImportOptions {
  if (flags["dry-run"] && flags.verify) {
    throw usageError("--verify cannot be used with --dry-run", "Remove --verify: a dry run stores nothing to verify.");
  }
  if (flags["product-url"] !== undefined && flags["store-url"] !== undefined) {
    throw usageError("--store-url cannot be used with --product-url", "Remove one of them.");
  }
  return {
    dryRun: flags["dry-run"] ?? false,
    batchSize: flags["batch-size"],
    concurrency: flags.concurrency,
    rate: flags.rate,
    maxErrors: flags["max-errors"],
    map: readPairs(flags.map ?? [], "--map"),
    delimiter: flags.delimiter,
    encoding: flags.encoding,
    headerRow: flags["header-row"],
    sheet: flags.sheet,
    rejects: flags.rejects,
    layout: flags["layout"] as string | undefined,
    productUrl: flags["product-url"] as string | undefined,
    storeUrl: flags["store-url"] as string | undefined,
    productIdFrom: flags["product-id-from"] as readonly string[] | undefined,
    dateFormat: flags["date-format"] as DateFormat | undefined,
    set: readPairs(flags.set ?? [], "--set"),
    mapping: flags.mapping,
    force: flags.force ?? false,
    fixIds: flags["fix-ids"] === true,
    empty: flags.empty,
    rateShare: flags["rate-share"],
    undoable: flags["undoable"] === true,
    verify: flags.verify ?? false,
    ...readKindFlags(kind?.importCommand.flags, flags),
  };
}

function readPairs(pairs: readonly (readonly [string, string])[], flag: string): Record<string, string> {
  const fields = pairs.map(([field]) => field);
  const duplicate = fields.find((field, at) => fields.indexOf(field) !== at);
  if (duplicate !== undefined) {
    throw usageError(`${flag} sets the field ${duplicate} more than once`, "Remove all but one of them.");
  }
  return Object.fromEntries(pairs);
}
