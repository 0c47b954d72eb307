import { argumentAt } from "../argument-help.ts";
import type { Command, CommandTable } from "../command.ts";
import { type Flag, type Flags, shortFormOf, type Values } from "../flag.ts";
import { commands, replaceSynonyms } from "../commands.ts";
import { globalFlags, helpFlag } from "../global-flags.ts";
import { nouns } from "../help/groups.ts";
import { findRecordNames, recordsNamed, type RecordSource, type Target } from "./record-names.ts";
import { topics } from "../help/topics/index.ts";
import { listProfileNames } from "../../../config/profile-names.ts";
import { type Paths, resolvePaths } from "../../../config/paths.ts";
import { listRunHeads } from "../../../import/run/run-headers.ts";

/** What the shell completes in addition to the candidates. */
export type Further = "none" | "files" | "folders";

export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly further: Further;
}

const nothing: Completion = { candidates: [], further: "none" };

/**
 * Completes the last word.
 * @param words the words after the program name, the last as typed so far
 */
export async function complete(
  io: RecordSource,
  words: readonly string[],
  table: CommandTable = commands,
): Promise<Completion> {
  const start = words.at(-1) ?? "";
  const given = await expandTyped(io, words.slice(0, -1), table);
  const all = given.includes("api") ? { ...table, ...(await loadApiCommands()) } : table;
  const typed = await readTypedWords(replaceSynonyms(given, all), all);
  const found = await findCandidates(io, typed, start, table);
  const fitting = found.candidates.filter(({ value }) => value.startsWith(start));
  return { candidates: fitting, further: found.further };
}

/** The typed words with their alias expanded. */
async function expandTyped(
  io: RecordSource,
  words: readonly string[],
  table: CommandTable,
): Promise<readonly string[]> {
  const { expandPartly, findFirstWord, isCommandWord, readAliases } = await import("../aliases.ts");
  const at = findFirstWord(words);
  const name = words[at];
  if (name === undefined || isCommandWord(name, table)) return words;
  const expansion = (await readAliases(io)).get(name);
  return expansion === undefined ? words : [...words.slice(0, at), ...expandPartly(expansion, words.slice(at + 1))];
}

async function findAliases(io: RecordSource): Promise<Candidate[]> {
  const { readAliases } = await import("../aliases.ts");
  return [...(await readAliases(io).catch(() => new Map<string, string>()))].map(([value, about]) => ({
    value,
    about,
  }));
}

/** Operations called by name, which the table does not contain. */
async function loadApiCommands(): Promise<CommandTable> {
  return (await import("../../commands/api/operations.ts")).apiCommands;
}

async function findCandidates(
  io: RecordSource,
  typed: TypedWords,
  start: string,
  table: CommandTable,
): Promise<Completion> {
  if (typed.awaiting === "columns") return { candidates: completeColumns(typed.command, start), further: "none" };
  const record = nameOfNext(typed);
  const names = record === undefined ? undefined : recordsNamed(record);
  if (names !== undefined) {
    const found = await findRecordNames(io, names, typed);
    if (found.length > 0) return { candidates: found.map((value) => ({ value })), further: "none" };
  }
  if (typed.awaiting !== undefined) return completeValue(io, valuesOfFlag(typed.command, typed.awaiting), start);
  const [, flag, value] = typed.isEnded ? [] : (/^--([^=]+)=(.*)$/.exec(start) ?? []);
  if (flag !== undefined && flagOf(typed.command, flag)?.value !== undefined) {
    const { candidates } = await findCandidates(io, { ...typed, awaiting: flag }, value ?? "", table);
    return {
      candidates: candidates.map(({ value: found, about }) => ({ value: `--${flag}=${found}`, about })),
      further: "none",
    };
  }
  if (!typed.isEnded && start.startsWith("-") && start !== "-") {
    return { candidates: completeFlag(typed), further: "none" };
  }
  return typed.command ? completeArgument(io, typed, typed.command, start, table) : completeWord(io, typed, table);
}

async function completeWord(io: RecordSource, typed: TypedWords, table: CommandTable): Promise<Completion> {
  if (typed.arguments.length > 0) return nothing;
  const aliases = typed.path.length === 0 ? await findAliases(io) : [];
  return { candidates: [...(await nextWords(typed.path, table)), ...aliases], further: "none" };
}

async function completeArgument(
  io: RecordSource,
  { arguments: given }: TypedWords,
  command: Command,
  start: string,
  table: CommandTable,
): Promise<Completion> {
  if (command.name === "api" && given.length === 1) {
    return { candidates: await findPaths(given[0] ?? ""), further: "none" };
  }
  const values = argumentAt(command, given.length)?.values;
  if (values === "commands") return { candidates: await completeHelp(given, table), further: "none" };
  return completeValue(io, values, start);
}

/** The name of the flag or argument whose value is typed next. */
function nameOfNext({ awaiting, command, arguments: given }: TypedWords): string | undefined {
  return awaiting ?? command?.argument?.split(" ")[given.length]?.replaceAll(/[<>[\].]/g, "");
}

/** Completes the last name of a comma-separated list. */
function completeColumns(command: Command | undefined, start: string): Candidate[] {
  const typed = start.slice(0, start.lastIndexOf(",") + 1);
  return (command?.columns ?? []).map((column) => ({ value: `${typed}${column}` }));
}

/** The paths of the API's operations for an HTTP method. */
async function findPaths(method: string): Promise<Candidate[]> {
  const { listOperations } = await import("../../commands/api/operations.ts");
  const found = listOperations().filter((operation) => operation.method === method.toUpperCase());
  return found.map(({ path, summary }) => ({ value: path, about: summary }));
}

async function completeValue(io: RecordSource, values: Values | undefined, start: string): Promise<Completion> {
  if (values === "files" || values === "folders") return { ...nothing, further: values };
  return { candidates: await findValues(io, values, start), further: "none" };
}

function valuesOfFlag(command: Command | undefined, name: string): Values | undefined {
  if (name === "profile") return "profiles";
  const flag = flagOf(command, name);
  return flag?.values ?? inferValues(flag);
}

/** Infers files and folders from the placeholder of the flag's value. */
function inferValues(flag: Flag | undefined): Values | undefined {
  if (flag?.value === "<file>" || flag?.value === "<path>") return "files";
  return flag?.value === "<folder>" ? "folders" : undefined;
}

/** Flags that can still be set, starting with those of the command. */
function completeFlag({ command, flags }: TypedWords): Candidate[] {
  const own = Object.entries(command?.flags ?? {})
    .filter(([name, { isRepeatable }]) => isRepeatable === true || !flags.has(name))
    .map(([name, { description }]) => ({ value: `--${name}`, about: description }));
  const shared = Object.entries<Flag>({ ...globalFlags, help: helpFlag })
    .filter(([name]) => !flags.has(name))
    .map(([name, { description }]) => ({ value: `--${name}`, about: description }));
  return [...own, ...shared];
}

async function nextWords(path: readonly string[], table: CommandTable): Promise<Candidate[]> {
  const names = Object.keys(table).filter((name) => startsWithWords(name, path));
  const words = [...new Set(names.map((name) => name.split(" ")[path.length] ?? ""))];
  return Promise.all(
    words.map(async (value) => {
      const name = [...path, value].join(" ");
      const load = path.length === 0 ? undefined : table[name];
      return { value, about: load ? (await load()).summary : (nouns[name] ?? "") };
    }),
  );
}

/** `help` accepts the name of a command or a topic. */
async function completeHelp(words: readonly string[], table: CommandTable): Promise<Candidate[]> {
  const next = await nextWords(words, table);
  if (words.length > 0) return next;
  const about = Object.entries(topics).map(([value, { summary }]) => ({ value, about: summary }));
  return [...next, ...about, { value: "topics", about: "list the topics" }];
}

/** A completion and its description. */
interface Candidate {
  readonly value: string;
  readonly about?: string | undefined;
}

const maxRuns = 100;

/** Finds values on this machine, without opening a database, making a call, or creating files. */
async function findValues(io: RecordSource, values: Values | undefined, start: string): Promise<readonly Candidate[]> {
  if (values === undefined || values === "files" || values === "folders" || values === "commands") return [];
  if (values === "topics") {
    return Object.entries(topics).map(([value, { summary }]) => ({ value, about: summary }));
  }
  if (values === "aliases") return findAliases(io);
  if (values === "profiles") return findProfiles(io, await resolvePaths(io.env, io.cwd));
  if (values === "imports") return findRuns(await resolvePaths(io.env, io.cwd), start);
  return values.map((value) => ({ value }));
}

function findProfiles({ env }: Pick<RecordSource, "env">, paths: Paths): Candidate[] {
  return listProfileNames(env, paths).map(({ name, about }) => ({ value: name, about }));
}

function findRuns({ runsFolder }: Paths, start: string): Candidate[] {
  return listRunHeads(runsFolder, start, maxRuns).map(({ id, kind, files, state }) => ({
    value: id,
    about: `${kind}, ${state === "running" ? "not finished" : state}: ${files.join(" ")}`,
  }));
}

/** The command line before the word to complete. */
interface TypedWords extends Target {
  /** Noun and verb, as far as typed. */
  readonly path: readonly string[];
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
async function readTypedWords(words: readonly string[], table: CommandTable): Promise<TypedWords> {
  const names = Object.keys(table);
  const path: string[] = [];
  const given: string[] = [];
  const flags = new Set<string>();
  const values = new Map<string, string>();
  let command: Command | undefined;
  let awaiting: string | undefined;
  let isEnded = false;
  for (const word of words) {
    if (awaiting !== undefined) {
      values.set(awaiting, word);
      awaiting = undefined;
    } else if (!isEnded && word === "--") isEnded = true;
    else if (!isEnded && /^-./.test(word)) {
      const name = flagNameOf(command, word);
      flags.add(name);
      if (word.includes("=")) values.set(name, word.slice(word.indexOf("=") + 1));
      if (flagOf(command, name)?.value !== undefined && !word.includes("=")) awaiting = name;
    } else if (given.length === 0 && names.some((name) => startsWithWords(name, [...path, word]))) {
      path.push(word);
      command = await table[path.join(" ")]?.();
    } else given.push(word);
  }
  const target = { profile: values.get("profile"), account: values.get("account") };
  return { path, command, arguments: given, flags, awaiting, isEnded, ...target };
}

function flagOf(command: Command | undefined, name: string): Flag | undefined {
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
function startsWithWords(name: string, words: readonly string[]): boolean {
  return `${name} `.startsWith([...words, ""].join(" "));
}
