import { paceFlags } from "./import-flags.ts";
import { readDay, readText } from "../../program/flag-values.ts";

/** The flags of every export. */
export const exportFlags = {
  out: { value: "<file>", description: "write to this file, and not to standard output", read: readText },
  "safe-for-excel": {
    description: "CSV for looking at: a ' before cells that a spreadsheet would take for a formula",
  },
  rate: paceFlags.rate,
  "rate-share": paceFlags["rate-share"],
} as const;

/** The flag of those exports whose records the service can give from a day on. */
export const sinceFlag = {
  since: {
    value: "<date>",
    description: "only what was created on the service from this day on",
    read: readDay,
  },
} as const;
