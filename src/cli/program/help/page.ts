import { argumentsOf } from "../argument-help.ts";
import { type Command, type Flag, isRequired } from "../command.ts";
import { globalFlags } from "../global-flags.ts";

/** A name and what it means. */
export interface Entry {
  readonly term: string;
  readonly says: string;
}

/** What is told of a command wherever it is told: in its help, its manual page and the documents. */
export interface CommandPage {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly arguments: readonly Entry[];
  /** Those that must be given come first. */
  readonly flags: readonly Entry[];
  readonly examples: readonly string[];
  readonly notes: readonly string[];
}

export function describePage(command: Command): CommandPage {
  const { name, summary, argument, flags = {}, examples = [], notes = [] } = command;
  const all = Object.entries(flags);
  const required = all.filter(([, flag]) => isRequired(flag));
  const optional = all.filter(([, flag]) => !isRequired(flag));
  const usage = [
    "starpost",
    name,
    ...(argument === undefined ? [] : [argument]),
    ...required.map(([flag, { value }]) => (value === undefined ? `--${flag}` : `--${flag} ${value}`)),
    "[flags]",
  ];
  return {
    name,
    summary,
    usage: usage.join(" "),
    arguments: argumentsOf(command).map(([term, help]) => ({ term, says: help?.description ?? "" })),
    flags: [...required, ...optional].map(describeFlag),
    examples,
    notes,
  };
}

function describeFlag([name, flag]: readonly [string, Flag]): Entry {
  const { short, value } = flag;
  const term = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
  return { term, says: describeFlagEffect(flag) };
}

/** The description, followed by what the declaration adds: `(required; repeatable)`, `(default: 20)`. */
export function describeFlagEffect(flag: Flag): string {
  const { description, requiredUnless, exclusive = [] } = flag;
  const details = [
    requiredUnless === undefined ? flag.required && "required" : `required unless --${requiredUnless} is set`,
    flag.default !== undefined && `default: ${flag.default}`,
    flag.isRepeatable === true && "repeatable",
    exclusive.length > 0 && `not with ${exclusive.map((other) => `--${other}`).join(", ")}`,
  ].filter((detail) => typeof detail === "string");
  return details.length === 0 ? description : `${description} (${details.join("; ")})`;
}

/** The flags that every command takes. */
export const sharedFlags: readonly Entry[] = [
  ...globalFlags,
  ["--version", "print the version"] as const,
  ["--help", "print this help"] as const,
].map(([term, says]) => ({ term, says }));
