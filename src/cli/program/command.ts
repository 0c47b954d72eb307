import type { View } from "../../terminal/view.ts";
import type { Context } from "./context.ts";
import type { ExitStatus } from "./exit-status.ts";

/** The accepted values: a fixed list, or names found on this machine without opening a database or making a call. */
export type Values = readonly string[] | "files" | "folders" | "profiles" | "imports" | "topics" | "commands";

/** Describes one positional argument. */
export interface ArgumentHelp {
  readonly description: string;
  readonly values?: Values | undefined;
}

/** A flag of one command. Without `value`, it is a switch. Help, validation, completion, and docs derive from it. */
export interface Flag<T = unknown> {
  /** Placeholder for the value in help: `<n>`. */
  readonly value?: string;
  readonly description: string;
  /** One-letter form, without the dash. */
  readonly short?: string;
  readonly required?: boolean;
  /** Name of the flag that makes this required flag optional. */
  readonly requiredUnless?: string;
  /** Names of flags that cannot be combined with this one; declaring it on one side is enough. */
  readonly exclusive?: readonly string[];
  /** Used if the flag is not set; text and numbers pass through `read`. Help shows it after the description. */
  readonly default?: string | number | boolean;
  readonly isRepeatable?: boolean;
  /** Offered by completion and suggestions. */
  readonly values?: Values;
  /**
   * Parses the value. Without it, the value is the text as typed.
   * @throws UserError `usage`
   */
  readonly read?: (text: string, flag: string) => T;
}

export type Flags = Readonly<Record<string, Flag>>;

type ValueOf<F extends Flag> = F extends { readonly value: string }
  ? F extends { readonly read: (text: string, flag: string) => infer T }
    ? T
    : string
  : boolean;

type ParsedValue<F extends Flag> = F extends { readonly isRepeatable: true }
  ? readonly ValueOf<F>[]
  : ValueOf<F>;

type AlwaysSet = { readonly required: true } | { readonly default: string | number | boolean };

/** Parsed flags by name. A switch such as `no-validate` is true if it was set. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F as F[K] extends AlwaysSet ? K : never]: ParsedValue<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends AlwaysSet ? never : K]?: ParsedValue<F[K]> | undefined;
};

export interface CommandInput<F extends Flags> {
  readonly arguments: readonly string[];
  readonly flags: FlagValues<F>;
}

/** A command as data: `run` returns data, and `render` is a pure function of it. */
export interface CommandOf<F extends Flags, D> {
  /** Noun and verb, as typed. */
  readonly name: string;
  readonly summary: string;
  /** Positional arguments as shown in help: `<file...>`, `<name> <value>`. */
  readonly argument?: string;
  /** Help for each argument, by name without brackets. Defaults to the entries of `argument-help.ts`. */
  readonly argumentHelp?: Readonly<Record<string, ArgumentHelp>>;
  readonly flags?: F;
  /** Complete command lines that work as shown, most common first. */
  readonly examples?: readonly string[];
  /** Paragraphs at the end of the help. */
  readonly notes?: readonly string[];
  /** If it returns undefined, nothing is printed. */
  run(context: Context, input: CommandInput<F>): Promise<D>;
  render(data: Exclude<D, void>): View;
  /** Returns false if the command has already written all of its output. Default: true. */
  isPrinted?(data: D): boolean;
  /** Default: 0. */
  exitStatus?(data: D): ExitStatus;
}

/** Any command, whatever its flags and data. */
export type Command = CommandOf<Flags, unknown>;

/** Declares a command, inferring the types of its flags and data. */
export function command<const F extends Flags, D>(declared: CommandOf<F, D>): Command {
  return declared;
}

/** Whether the flag must be set, at least if no other flag replaces it. */
export function isRequired({ required = false, requiredUnless }: Flag): boolean {
  return required || requiredUnless !== undefined;
}
