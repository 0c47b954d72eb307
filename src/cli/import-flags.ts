import type { ImportOptions } from "../importer/types.ts";
import { Problem } from "../config/problem.ts";
import type { FlagValues } from "./command.ts";
import {
  readDelimiter,
  readMapping,
  readMaxErrors,
  readRate,
  readText,
  readWholeNumber,
} from "./flag-values.ts";

/** The flags that a resumed run may be given anew. */
export const paceFlags = {
  rate: { takes: "<n>", summary: "calls a second; 0 is no pacing (remote: 5)", read: readRate },
  concurrency: { takes: "<n>", summary: "calls under way at once", read: readWholeNumber },
  "max-errors": {
    takes: "<n|n%>",
    summary: "stop when more rows than this are rejected",
    read: readMaxErrors,
  },
} as const;

/** The flags of every import. */
export const importFlags = {
  "dry-run": { summary: "check everything, send and write nothing" },
  "batch-size": { takes: "<n>", summary: "items a call", read: readWholeNumber },
  ...paceFlags,
  map: {
    takes: "<field=column>",
    summary: "take a field from this column (repeatable)",
    isRepeatable: true,
    read: readMapping,
  },
  delimiter: { takes: "<c>", summary: "what is between cells, or `tab` (found out)", read: readDelimiter },
  encoding: { takes: "<name>", summary: "the file's character encoding (utf-8)", read: readText },
  rejects: { takes: "<file>", summary: "write rejected rows to this file", read: readText },
} as const;

/** What the flags of every import ask for. */
export function readImportOptions(flags: FlagValues<typeof importFlags>): ImportOptions {
  return {
    dryRun: flags["dry-run"] ?? false,
    batchSize: flags["batch-size"],
    concurrency: flags.concurrency,
    rate: flags.rate,
    maxErrors: flags["max-errors"],
    map: readMap(flags.map ?? []),
    delimiter: flags.delimiter,
    encoding: flags.encoding,
    rejects: flags.rejects,
  };
}

function readMap(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const fields = pairs.map(([field]) => field);
  const doubled = fields.find((field, at) => fields.indexOf(field) !== at);
  if (doubled !== undefined) throw new Problem("usage", `--map gives the field ${doubled} twice`);
  return Object.fromEntries(pairs);
}

/** Checks that a flag's value is one of a list. */
export function readOneOf(value: string, allowed: readonly string[], flag: string): string {
  if (allowed.includes(value)) return value;
  throw new Problem(
    "usage",
    `${flag}: ${JSON.stringify(value)} is not known`,
    `It is one of: ${allowed.join(", ")}.`,
  );
}
