import type { Command, CommandTable } from "../command.ts";
import { type Flag, type Flags, shortFormOf } from "../flag.ts";
import { globalFlags } from "../global-flags.ts";

/** The command line before the word to complete. */
export interface TypedWords {
  /** Noun and verb, as far as typed. */
  readonly path: readonly string[];
  /** The command that they name. */
  readonly command: Command | undefined;
  readonly arguments: readonly string[];
  /** Names of the flags that are set, without dashes. */
  readonly flags: ReadonlySet<string>;
  /** The flag that the next word is the value of. */
  readonly awaiting: string | undefined;
  /** After `--`, where words are not flags. */
  readonly isEnded: boolean;
}

/** Parses the typed words; any that are not part of a command or a flag are arguments. */
export async function readTypedWords(words: readonly string[], table: CommandTable): Promise<TypedWords> {
  const names = Object.keys(table);
  const path: string[] = [];
  const given: string[] = [];
  const flags = new Set<string>();
  let command: Command | undefined;
  let awaiting: string | undefined;
  let isEnded = false;
  for (const word of words) {
    if (awaiting !== undefined) awaiting = undefined;
    else if (!isEnded && word === "--") isEnded = true;
    else if (!isEnded && /^-./.test(word)) {
      const name = flagNameOf(command, word);
      flags.add(name);
      if (flagOf(command, name)?.value !== undefined && !word.includes("=")) awaiting = name;
    } else if (given.length === 0 && names.some((name) => startsWithWords(name, [...path, word]))) {
      path.push(word);
      command = await table[path.join(" ")]?.();
    } else given.push(word);
  }
  return { path, command, arguments: given, flags, awaiting, isEnded };
}

export function flagOf(command: Command | undefined, name: string): Flag | undefined {
  const flags = flagsOf(command);
  return Object.hasOwn(flags, name) ? flags[name] : undefined;
}

function flagsOf(command: Command | undefined): Flags {
  return { ...globalFlags, ...command?.flags };
}

/** The long name of a flag as typed: `--out=x`, `-o`. */
function flagNameOf(command: Command | undefined, word: string): string {
  if (word.startsWith("--")) return word.slice(2).split("=")[0] ?? "";
  const letter = word.slice(1);
  const found = Object.entries(flagsOf(command)).find(([name, flag]) => shortFormOf(name, flag) === letter);
  return found?.[0] ?? letter;
}

/** Whether a command's name begins with these words. */
export function startsWithWords(name: string, words: readonly string[]): boolean {
  return `${name} `.startsWith([...words, ""].join(" "));
}
