import { type Environment, readVariable } from "../../config/environment.ts";
import { usageError } from "../../config/user-error.ts";
import type { Format } from "../../terminal/view.ts";
import type { Flag, Flags } from "./flag.ts";

/** The flags that every command accepts, parsed. */
export interface Globals {
  readonly profile: string | undefined;
  /** The app key of an account of the embedded database. */
  readonly account: string | undefined;
  readonly format: Format;
  /** Whether prompts are allowed. */
  readonly input: boolean;
  /** Whether every confirmation is answered with yes. */
  readonly yes: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Whether CSV output contains formulas unchanged. */
  readonly raw: boolean;
  /** Columns to show in tables and CSV. */
  readonly columns: readonly string[] | undefined;
  /** Whether long tables may be shown with a pager. */
  readonly pager: boolean;
  /** The jq expression that filters JSON output. */
  readonly jq: string | undefined;
}

/** As the parser returns them. */
export type GlobalFlags = Partial<Omit<Globals, "columns">> & { readonly json?: boolean; readonly columns?: string };

/** Every format; the type makes sure that none is missing. */
const isFormat: Readonly<Record<Format, true>> = { table: true, json: true, ndjson: true, csv: true };
export const formats = Object.keys(isFormat);

export const globalFlags = {
  profile: { short: "p", value: "<name>", description: "profile to use (default: the current profile)" },
  account: { value: "<app-key>", description: "account of the embedded database (default: the first account)" },
  json: { description: "print one JSON document; same as --format json" },
  format: {
    value: "<format>",
    description: `output format: ${formats.slice(0, -1).join(", ")}, or ${formats.at(-1)}`,
    values: formats,
  },
  columns: { value: "<names>", description: "comma-separated list of columns to show in table or CSV output" },
  jq: { value: "<expression>", description: "filter JSON output with a jq expression; implies --json" },
  raw: { description: "do not protect spreadsheets from formulas in CSV output" },
  "no-input": { description: "never prompt" },
  yes: { short: "y", description: "answer yes to every confirmation" },
  redact: { description: "hide email addresses and names of people in all output" },
  "no-color": { description: "disable colors; same as setting NO_COLOR" },
  "no-pager": { description: "print long tables without a pager" },
  quiet: { short: "q", description: "print only errors to standard error" },
  verbose: { description: "trace calls, and print stack traces of unexpected errors" },
} as const satisfies Flags;

export const helpFlag: Flag = { short: "h", description: "show help" };
export const versionFlag: Flag = { description: "show the version" };

/** @throws UserError `usage` */
export function readGlobals(flags: GlobalFlags): Globals {
  const { profile, account, json = false, format, jq, columns, ...switches } = flags;
  for (const [name, value] of Object.entries({ profile, account })) {
    if (value === "") throw usageError(`invalid value "" for --${name}: must not be empty`);
  }
  if (format !== undefined && !formats.includes(format)) {
    const message = `invalid value ${JSON.stringify(format)} for --format: must be one of ${formats.join(", ")}`;
    throw usageError(message, undefined, undefined, { given: format, known: formats });
  }
  if (json && format !== undefined && format !== "json") {
    throw usageError("flags --json and --format cannot be used together", "Remove one of them.");
  }
  const outputFormat = json ? "json" : (format ?? (jq === undefined ? "table" : "json"));
  if (jq !== undefined) checkJq(jq, outputFormat);
  const unset = { input: true, yes: false, quiet: false, verbose: false, raw: false, pager: true };
  const shown = readColumns(columns, outputFormat);
  return { ...unset, ...switches, profile, account, format: outputFormat, columns: shown, jq };
}

function checkJq(jq: string, format: Format): void {
  if (jq.trim() === "") throw usageError(`invalid value ${JSON.stringify(jq)} for --jq: must not be empty`);
  if (!isForScripts(format)) {
    throw usageError(`--jq cannot be used with --format ${format}`, "Use --format json or --format ndjson.");
  }
}

/** Assumed: --columns does not apply to JSON, because jq already selects fields. */
function readColumns(text: string | undefined, format: Format): readonly string[] | undefined {
  if (text === undefined) return undefined;
  if (isForScripts(format)) {
    throw usageError(`--columns is not supported with --format ${format}`, "To select JSON fields, use --jq '.[].id'.");
  }
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => name !== "")) return names;
  throw usageError(`invalid value ${JSON.stringify(text)} for --columns: must be a comma-separated list of names`);
}

/** Whether the output is for scripts, which also expect errors as JSON. */
export function isForScripts(format: Format): boolean {
  return format === "json" || format === "ndjson";
}

/** Whether to hide addresses. Does not parse the command line, which may itself be invalid. */
export function wantsRedaction(argv: readonly string[], env: Environment): boolean {
  const variable = readVariable(env, "STARPOST_REDACT");
  return argv.includes("--redact") || (variable !== undefined && !["0", "false", "no"].includes(variable));
}

/** Whether colors are disabled. Does not parse the command line, which may itself be invalid. */
export function wantsNoColor(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--no-color");
}

/** Whether to print errors as JSON. Does not parse the command line, which may itself be invalid. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const flags = end === -1 ? argv : argv.slice(0, end);
  return flags.some((flag, at) => {
    if (flag === "--json" || flag === "--jq" || flag.startsWith("--jq=")) return true;
    const format = flag === "--format" ? flags[at + 1] : /^--format=(.*)$/.exec(flag)?.[1];
    return format === "json" || format === "ndjson";
  });
}
