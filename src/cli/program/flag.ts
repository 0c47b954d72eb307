/** The accepted values: a fixed list, or names found on this machine without opening a database or making a call. */
export type Values = readonly string[] | "files" | "folders" | "profiles" | "imports" | "commands" | "aliases";

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
  /** Whether the value names a file to write. Before an existing file is replaced, the user must confirm. */
  readonly isOutput?: true;
  /** Offered by completion and suggestions. */
  readonly values?: Values;
  /**
   * Parses the value (default: any text that is not empty).
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

type ParsedValue<F extends Flag> = F extends { readonly isRepeatable: true } ? readonly ValueOf<F>[] : ValueOf<F>;

type AlwaysSet = { readonly required: true } | { readonly default: string | number | boolean };

/** Parsed flags by name. A switch such as `no-validate` is true if it was set. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F as F[K] extends AlwaysSet ? K : never]: ParsedValue<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends AlwaysSet ? never : K]?: ParsedValue<F[K]> | undefined;
};

/** Whether the flag must be set, at least if no other flag replaces it. */
export function isRequired({ required = false, requiredUnless }: Flag): boolean {
  return required || requiredUnless !== undefined;
}

/** A flag as typed, with its short form and the placeholder for its value: `-o, --out <file>`. */
export function formatFlag(name: string, flag: Flag): string {
  const short = shortFormOf(name, flag);
  return `${short === undefined ? "" : `-${short}, `}--${name}${flag.value === undefined ? "" : ` ${flag.value}`}`;
}

/** Every `--out` can be written as `-o`. */
export function shortFormOf(name: string, { short }: Flag): string | undefined {
  return short ?? (name === "out" ? "o" : undefined);
}
