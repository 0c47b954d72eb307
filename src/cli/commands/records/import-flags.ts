import { emptyCells, type ImportOptions } from "../../../import/options.ts";
import { UserError } from "../../../config/user-error.ts";
import type { FlagValues } from "../../program/command.ts";
import {
  readDelimiter,
  readMapping,
  readMaxErrors,
  readRate,
  readSetting,
  readShare,
  readText,
  readWholeNumber,
} from "../../program/flag-values.ts";

/** The flags that a resumed run may be given anew. */
export const paceFlags = {
  rate: { value: "<n>", description: "calls a second; 0 is no pacing (remote: 5)", read: readRate },
  "rate-share": {
    value: "<n%>",
    description: "take only this part of the rate, and leave the rest to others",
    read: readShare,
  },
  concurrency: { value: "<n>", description: "calls under way at once", read: readWholeNumber },
  "max-errors": {
    value: "<n|n%>",
    description: "stop when more rows than this are rejected",
    read: readMaxErrors,
  },
} as const;

/** Layouts by name; each of them may have -dmy or -mdy behind it. */
const layoutNames = [
  "none",
  "catalogue",
  "shopify-orders",
  "shopify-products",
  "shopify-variants",
  "woocommerce-orders",
  "woocommerce-products",
  "magento-orders",
  "magento-products",
  "bigcommerce-orders",
  "bigcommerce-products",
] as const;

/** The flags of every import. */
export const importFlags = {
  "dry-run": { description: "check everything, send and write nothing" },
  "batch-size": { value: "<n>", description: "items a call", read: readWholeNumber },
  ...paceFlags,
  map: {
    value: "<field=column>",
    description: "take a field from this column",
    isRepeatable: true,
    read: readMapping,
  },
  delimiter: {
    value: "<c>",
    description: "what is between cells, or `tab` (found out)",
    read: readDelimiter,
  },
  encoding: {
    value: "<name>",
    description: "the files' character encoding (found out)",
    values: ["utf-8", "utf-16le", "utf-16be", "windows-1252", "iso-8859-1"],
    read: readText,
  },
  rejects: { value: "<file>", description: "write rejected rows to this file", read: readText },
  layout: {
    value: "<name>",
    description: "the layout of the file, or `none` (recognised)",
    values: layoutNames,
    read: readText,
  },
  set: {
    value: "<field=value>",
    description: "the value of a field where a row has none",
    isRepeatable: true,
    read: readSetting,
  },
  mapping: { value: "<file>", description: "take columns and values from this mapping file", read: readText },
  "fix-ids": { description: "put ids right that the service would drop, and write the pairs down" },
  empty: {
    value: "<keep|clear|error>",
    description: "what an empty cell does: nothing, erase what is stored, reject its row (keep)",
    values: emptyCells,
    read: (text: string, flag: string) => readOneOf(text, emptyCells, flag),
  },
  undoable: { description: "keep what is overwritten, so that `imports undo` can put it back" },
  verify: { description: "read back at the end what was taken" },
} as const;

/** The flag of those imports that need products' addresses. */
export const productUrlFlag = {
  "product-url": {
    value: "<pattern>",
    description: "products' addresses: https://shop.example/p/{product_id}",
    read: readText,
  },
} as const;

/** What the flags of every import ask for. */
export function readImportOptions(flags: FlagValues<typeof importFlags>): ImportOptions {
  return {
    dryRun: flags["dry-run"] ?? false,
    batchSize: flags["batch-size"],
    concurrency: flags.concurrency,
    rate: flags.rate,
    maxErrors: flags["max-errors"],
    map: readPairs(flags.map ?? [], "--map"),
    delimiter: flags.delimiter,
    encoding: flags.encoding,
    rejects: flags.rejects,
    layout: flags.layout,
    set: readPairs(flags.set ?? [], "--set"),
    mapping: flags.mapping,
    fixIds: flags["fix-ids"] ?? false,
    empty: flags.empty,
    rateShare: flags["rate-share"],
    undoable: flags.undoable ?? false,
    verify: flags.verify ?? false,
  };
}

function readPairs(pairs: readonly (readonly [string, string])[], flag: string): Record<string, string> {
  const fields = pairs.map(([field]) => field);
  const doubled = fields.find((field, at) => fields.indexOf(field) !== at);
  if (doubled !== undefined)
    throw new UserError("usage", `${flag} gives the field ${doubled} twice`, "Keep the one that is meant.");
  return Object.fromEntries(pairs);
}

/** Checks that a flag's value is one of a list. */
export function readOneOf<const T extends string>(value: string, allowed: readonly T[], flag: string): T {
  const known = allowed.find((one) => one === value);
  if (known !== undefined) return known;
  throw new UserError(
    "usage",
    `${flag}: ${JSON.stringify(value)} is not known`,
    `It is one of: ${allowed.join(", ")}.`,
    undefined,
    { given: value, known: allowed },
  );
}
