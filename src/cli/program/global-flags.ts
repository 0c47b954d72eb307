import { type Environment, readVariable } from "../../config/environment.ts";
import { UserError } from "../../config/user-error.ts";
import type { Format } from "../../terminal/view.ts";

/** The flags that every command takes. */
export interface Globals {
  readonly profile: string | undefined;
  readonly format: Format;
  /** Whether questions may be asked. */
  readonly input: boolean;
  /** Whether every question is answered with yes. */
  readonly yes: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Columns of tables and CSV, where they are chosen. */
  readonly columns: readonly string[] | undefined;
}

/** As the command line gives them. */
export interface GlobalFlags {
  readonly profile?: string;
  readonly json?: boolean;
  readonly format?: Format;
  readonly input?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly columns?: string;
}

/** Every format; a name that is missing here does not compile. */
const isFormat: Readonly<Record<Format, true>> = { table: true, json: true, ndjson: true, csv: true };
export const formats = Object.keys(isFormat);

export const globalFlags: readonly (readonly [string, string])[] = [
  ["--profile <name>", "use this profile"],
  ["--json", "print one JSON document, as --format json"],
  ["--format <format>", "print the data as table, json, ndjson or csv"],
  ["--columns <names>", "show these columns of a table or CSV, with commas between"],
  ["--no-input", "ask nothing"],
  ["--yes", "answer every question with yes"],
  ["--redact", "hide e-mail addresses in all that is printed"],
  ["--no-color", "print and say without colour, as NO_COLOR"],
  ["--quiet", "say nothing but errors"],
  ["--verbose", "say more"],
];

export function readGlobals(flags: GlobalFlags): Globals {
  const { profile, json = false, format, input = true, yes = false, quiet = false, verbose = false } = flags;
  if (profile === "")
    throw new UserError(
      "usage",
      "--profile: a name is missing",
      "Leave the flag out for the current profile.",
    );
  if (json && format !== undefined && format !== "json") {
    throw new UserError("usage", `--json and --format ${format} cannot be had together`, "Give one of them.");
  }
  const printed = json ? "json" : (format ?? "table");
  const columns = readColumns(flags.columns, printed);
  return { profile, format: printed, input, yes, quiet, verbose, columns };
}

/** Assumed: JSON is whole, since what picks from it is there already. */
function readColumns(text: string | undefined, format: Format): readonly string[] | undefined {
  if (text === undefined) return undefined;
  if (isForScripts(format)) {
    const hint = "Pick fields of JSON with jq: starpost … --json | jq '.[].id'";
    throw new UserError("usage", `--columns is for tables and CSV, and not for ${format}`, hint);
  }
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => name !== "")) return names;
  throw new UserError("usage", `--columns: ${JSON.stringify(text)} is no list of names with commas between`);
}

/** Whether scripts read what is printed, errors included. */
export function isForScripts(format: Format): boolean {
  return format === "json" || format === "ndjson";
}

/** Whether addresses are to be hidden, found without parsing: the command line itself may be the error. */
export function wantsRedaction(argv: readonly string[], env: Environment): boolean {
  const variable = readVariable(env, "STARPOST_REDACT");
  return argv.includes("--redact") || (variable !== undefined && !["0", "false", "no"].includes(variable));
}

/** Whether colour is not wanted, found without parsing: the command line itself may be the error. */
export function wantsNoColor(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--no-color");
}

/** Whether errors are wanted as JSON, found without parsing: the command line itself may be the error. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const flags = end === -1 ? argv : argv.slice(0, end);
  return flags.some((flag, at) => {
    if (flag === "--json") return true;
    const format = flag === "--format" ? flags[at + 1] : /^--format=(.*)$/.exec(flag)?.[1];
    return format === "json" || format === "ndjson";
  });
}
