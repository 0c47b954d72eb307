import { fields, silent, table, type View } from "../../terminal/view.ts";
import type { Context, DatabaseUse } from "./context.ts";
import type { ExitStatus } from "./exit-status.ts";
import type { Flags, FlagValues, Values } from "./flag.ts";

export interface ArgumentHelp {
  readonly description: string;
  readonly values?: Values | undefined;
}

export interface CommandInput<F extends Flags> {
  readonly arguments: readonly string[];
  readonly flags: FlagValues<F>;
}

/** A command as data: `run` returns data, and `render` is a pure function of it. */
export interface CommandOf<F extends Flags, D> {
  readonly summary: string;
  /** Positional arguments as shown in help: `<file...>`, `<name> <value>`. */
  readonly argument?: string;
  /** Help for each argument, by name without brackets. Defaults to the entries of `argument-help.ts`. */
  readonly argumentHelp?: Readonly<Record<string, ArgumentHelp>>;
  readonly flags?: F;
  /**
   * Set if the command can show its calls of the service instead of making them (`--curl`, `--dry-run`). `write`: it changes
   * one record, after reads that are made; `read`: it only reads; `any`: the arguments decide.
   */
  readonly calls?: "read" | "write" | "any";
  /**
   * Set if the command changes settings of this machine or the operator's records of a database, always with
   * `Context.change`, so that it can describe the change instead of making it (`--dry-run`).
   */
  readonly isLocalChange?: true;
  /**
   * What it does if the profile has no local database yet. `created`: it creates the database, because it adds records;
   * `optional`: it works without one (default: it fails, and creates nothing).
   */
  readonly database?: DatabaseUse;
  /** Complete command lines that work as shown, most common first. */
  readonly examples?: readonly string[];
  /** All columns of its table, for completion. */
  readonly columns?: readonly string[];
  /** Paragraphs at the end of the help. */
  readonly notes?: readonly string[];
  /** If it returns undefined, nothing is printed. */
  run(context: Context, input: CommandInput<F>): Promise<D>;
  /**
   * A pure function of the data, the columns of a table of it, or `silent`, because messages have reported the result
   * (default: one line per field).
   */
  readonly render?: ((data: Exclude<D, void>) => View) | readonly string[] | "silent";
  /** Returns false if the command has already written all of its output. Default: true. */
  isPrinted?(data: D): boolean;
  /** Default: 0. */
  exitStatus?(data: D): ExitStatus;
  /** Describes the error if the exit status means that the command has not finished: 5, 6, or 130. */
  problem?(data: D): string | null;
}

export interface Command extends CommandOf<Flags, unknown> {
  /** Noun and verb, as typed: the path of its file. */
  readonly name: string;
  readonly render: (data: unknown) => View;
}

/** Makes a command from its name. */
export type CommandFactory = (name: string) => Command;

/** Commands by name, each loaded by its own import to keep startup fast. */
export type CommandTable = Readonly<Record<string, () => Promise<Command>>>;

/** Declares a command, inferring the types of its flags and data. */
export function command<const F extends Flags, D>(declared: CommandOf<F, D>): CommandFactory {
  const { calls, isLocalChange, flags, render } = declared;
  const added = calls === undefined ? isLocalChange && localFlags : previewFlags(calls);
  const rendered = { ...declared, render: typeof render === "function" ? render : rendererOf(render) };
  return (name) => ({ ...rendered, name, ...(added && { flags: { ...flags, ...added, ...flags } }) }) as Command;
}

function rendererOf(columns: readonly string[] | "silent" | undefined) {
  if (columns === undefined) return (record: Parameters<typeof fields>[0]) => fields({ ...record });
  if (columns === "silent") return (record: Parameters<typeof silent>[0]) => silent({ ...record });
  return (rows: Parameters<typeof table>[0]) => table(rows, columns);
}

const localFlags = { "dry-run": { description: "check and describe the change without making it" } };

/** The flags of commands that can show their calls. */
function previewFlags(calls: NonNullable<Command["calls"]>): Flags {
  const curl = { description: "print the request as a curl command instead of sending it" };
  if (calls === "read") return { curl };
  return { curl, "dry-run": { description: "check and print the call without making it", exclusive: ["curl"] } };
}
