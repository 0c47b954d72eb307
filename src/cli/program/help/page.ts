import { argumentsOf } from "../argument-notes.ts";
import type { Command, Flag } from "../command.ts";
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
  const given = Object.entries(flags);
  const needed = given.filter(([, flag]) => isNeeded(flag));
  const usage = [
    "starpost",
    name,
    ...(argument === undefined ? [] : [argument]),
    ...needed.map(([flag, { takes }]) => (takes === undefined ? `--${flag}` : `--${flag} ${takes}`)),
    "[flags]",
  ];
  return {
    name,
    summary,
    usage: usage.join(" "),
    arguments: argumentsOf(command).map(([term, note]) => ({ term, says: note?.says ?? "" })),
    flags: [...needed, ...given.filter(([, flag]) => !isNeeded(flag))].map(describeFlag),
    examples,
    notes,
  };
}

function isNeeded({ summary }: Flag): boolean {
  return /\(required\b/.test(summary);
}

function describeFlag([name, { takes, summary }]: readonly [string, Flag]): Entry {
  return { term: takes === undefined ? `--${name}` : `--${name} ${takes}`, says: summary };
}

/** The flags that every command takes. */
export const sharedFlags: readonly Entry[] = [
  ...globalFlags,
  ["--version", "print the version"] as const,
  ["--help", "print this help"] as const,
].map(([term, says]) => ({ term, says }));
