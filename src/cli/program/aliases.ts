import { join } from "node:path";
import { split } from "shlex";
import { resolvePaths } from "../../config/paths.ts";
import { readSettings } from "../../config/private-file.ts";
import { usageError } from "../../config/user-error.ts";
import type { CommandTable } from "./command.ts";
import { isCommandWord } from "./commands.ts";
import type { Flag } from "./flag.ts";
import { globalFlags } from "./global-flags.ts";
import type { Io } from "./io.ts";

/** Expansions by alias. */
export type Aliases = ReadonlyMap<string, string>;

type Place = Pick<Io, "env" | "cwd">;

/** The file that contains the aliases. */
export async function findAliasFile({ env, cwd }: Place): Promise<string> {
  return join((await resolvePaths(env, cwd)).configFolder, "aliases.json");
}

/** @throws UserError `failed` if the file is invalid */
export async function readAliases(place: Place): Promise<Aliases> {
  const hint = "Delete the file, and set the aliases again.";
  return (await readSettings(await findAliasFile(place), parseAliases, hint)) ?? new Map();
}

function parseAliases(text: string): Aliases {
  const { aliases } = JSON.parse(text) as { readonly aliases: Readonly<Record<string, unknown>> };
  return new Map(Object.entries(aliases).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** The words of an expansion. @throws UserError `usage` */
export function splitExpansion(expansion: string): readonly string[] {
  try {
    return split(expansion);
  } catch (error) {
    throw usageError(`invalid expansion ${JSON.stringify(expansion)}: a quote is not closed`, undefined, error);
  }
}

const placeholder = /\$([1-9])/g;

/**
 * Replaces `$1` to `$9` with the arguments, and appends those that have no placeholder.
 * @throws UserError `usage` if an argument is missing
 */
export function expandAlias(name: string, expansion: string, args: readonly string[]): readonly string[] {
  const words = splitExpansion(expansion);
  const count = countPlaceholders(words);
  if (args.length < count) {
    throw usageError(
      `alias ${name} needs ${count} ${count === 1 ? "argument" : "arguments"}, got ${args.length}`,
      `It stands for: starpost ${expansion}`,
    );
  }
  return [...fillPlaceholders(words, args), ...args.slice(count)];
}

/** The expansion up to the first placeholder without an argument, for completion. */
export function expandPartly(expansion: string, args: readonly string[]): readonly string[] {
  const words = splitExpansion(expansion);
  if (args.length >= countPlaceholders(words)) return expandAlias("", expansion, args);
  const open = words.findIndex((word) => countPlaceholders([word]) > args.length);
  return fillPlaceholders(words.slice(0, open), args);
}

function fillPlaceholders(words: readonly string[], args: readonly string[]): string[] {
  return words.map((word) => word.replaceAll(placeholder, (found, digit: string) => args[Number(digit) - 1] ?? found));
}

function countPlaceholders(words: readonly string[]): number {
  const digits = words.flatMap((word) => [...word.matchAll(placeholder)].map(([, digit]) => Number(digit)));
  return Math.max(0, ...digits);
}

/** The position of the first word that is not a global flag or its value. */
export function findFirstWord(argv: readonly string[]): number {
  const flags: Readonly<Record<string, Flag>> = globalFlags;
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-")) return at;
    const flag = Object.entries(flags).find(([name, { short }]) => word === `--${name}` || word === `-${short}`);
    if (flag?.[1].value !== undefined) at += 1;
  }
  return -1;
}

/** The command line with its alias expanded. Commands take precedence over aliases. */
export async function replaceAlias(io: Io, table: CommandTable): Promise<readonly string[]> {
  const { argv } = io;
  const at = findFirstWord(argv);
  const name = argv[at];
  if (name === undefined || isCommandWord(name, table)) return argv;
  const expansion = (await readAliases(io)).get(name);
  return expansion === undefined ? argv : [...argv.slice(0, at), ...expandAlias(name, expansion, argv.slice(at + 1))];
}
