import type { View } from "../../terminal/view.ts";
import type { Context } from "./context.ts";
import type { ExitStatus } from "./exit-status.ts";

/** What a value may be: one of a list, or what is found on the machine at once, without a database or a call. */
export type Values = readonly string[] | "files" | "folders" | "profiles" | "imports" | "topics" | "commands";

/** An argument of a command, for its help. */
export interface ArgumentNote {
  readonly says: string;
  readonly values?: Values | undefined;
}

/** A flag of one command. Without `takes` it is a switch. */
export interface Flag<T = unknown> {
  /** What the flag's value is called in the help: `<n>`. */
  readonly takes?: string;
  readonly summary: string;
  readonly isRepeatable?: boolean;
  /** What it may be: completed, and guessed at where it is misspelt. */
  readonly values?: Values;
  /**
   * Reads the value; texts are taken as they are where there is no reader.
   * @throws UserError `usage`
   */
  readonly read?: (text: string, flag: string) => T;
}

export type Flags = Readonly<Record<string, Flag>>;

type ValueOf<F extends Flag> = F extends { readonly takes: string }
  ? F extends { readonly read: (text: string, flag: string) => infer T }
    ? T
    : string
  : boolean;

/** The flags that were given; a switch such as `no-validate` is true when it was. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F]?:
    | (F[K] extends { readonly isRepeatable: true } ? readonly ValueOf<F[K]>[] : ValueOf<F[K]>)
    | undefined;
};

export interface Given<F extends Flags> {
  readonly arguments: readonly string[];
  readonly flags: FlagValues<F>;
}

/** A command as a value: `run` returns data, and showing it is a pure function of that data. */
export interface CommandOf<F extends Flags, D> {
  /** Noun and verb, as they are typed. */
  readonly name: string;
  readonly summary: string;
  /** In the form of the help: `<file...>`, `<name> <value>`. */
  readonly argument?: string;
  /** The arguments in words, by their names without brackets; those of `argument-notes.ts` where absent. */
  readonly argumentNotes?: Readonly<Record<string, ArgumentNote>>;
  readonly flags?: F;
  /** Whole command lines that work as they stand, the commonest first: for the help, the docs and the man pages. */
  readonly examples?: readonly string[];
  /** What the help says at its end, a paragraph each. */
  readonly notes?: readonly string[];
  /** Nothing is printed where it returns nothing. */
  run(context: Context, given: Given<F>): Promise<D>;
  render(data: Exclude<D, void>): View;
  /** Whether the data is to be printed: not where the command has written all that there is to print. True where absent. */
  isPrinted?(data: D): boolean;
  /** 0 where absent. */
  exitStatus?(data: D): ExitStatus;
}

/** Any command, whatever its flags and data. */
export type Command = CommandOf<Flags, unknown>;

/** Declares a command; what its flags and data are is known inside alone. */
export function command<const F extends Flags, D>(declared: CommandOf<F, D>): Command {
  return declared;
}
