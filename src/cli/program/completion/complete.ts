import { argumentAt } from "../argument-help.ts";
import type { Command, CommandTable } from "../command.ts";
import { type Flag, type Flags, shortFormOf, type Values } from "../flag.ts";
import { commands, isCommandWord, replaceSynonyms } from "../commands.ts";
import { globalFlags, helpFlag } from "../global-flags.ts";
import { nouns } from "../help/groups.ts";
import { findRecordNames, recordsNamed, type RecordSource, type Target } from "./record-names.ts";
import { topics } from "../help/topics.ts";
import { readVariable } from "../../../config/environment.ts";
import { isProfileName } from "../../../config/profile-name.ts";
import { readRawProfiles, type StoredAccount } from "../../../config/profile-store.ts";
import { type Paths, resolvePaths } from "../../../config/paths.ts";
import { listRunHeads } from "../../../import/run/run-headers.ts";

/** What the shell completes in addition to the candidates. */
export type Further = "none" | "files" | "folders";

export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly further: Further;
}

/** A completion and its description. */
interface Candidate {
  readonly value: string;
  readonly about?: string | undefined;
}

/** Candidates, or what the shell completes instead. */
type Found = readonly Candidate[] | Exclude<Further, "none">;

/** The word to complete, with what is typed before it. */
interface Request {
  readonly io: RecordSource;
  readonly typed: TypedWords;
  readonly start: string;
  readonly table: CommandTable;
}

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
  // Operations called by name, which the table does not contain.
  const operations = given.includes("api") ? (await import("../../commands/api/operations.ts")).apiCommands : {};
  const all = { ...table, ...operations };
  const typed = await readTypedWords(replaceSynonyms(given, all), all);
  const found = await findCandidates({ io, typed, start, table });
  if (typeof found === "string") return { candidates: [], further: found };
  return { candidates: found.filter(({ value }) => value.startsWith(start)), further: "none" };
}

/** The typed words with their alias expanded. */
async function expandTyped(
  io: RecordSource,
  words: readonly string[],
  table: CommandTable,
): Promise<readonly string[]> {
  const { expandPartly, findFirstWord, readAliases } = await import("../aliases.ts");
  const at = findFirstWord(words);
  const name = words[at];
  if (name === undefined || isCommandWord(name, table)) return words;
  const expansion = (await readAliases(io)).get(name);
  return expansion === undefined ? words : [...words.slice(0, at), ...expandPartly(expansion, words.slice(at + 1))];
}

async function findAliases(io: RecordSource): Promise<Candidate[]> {
  const { readAliases } = await import("../aliases.ts");
  const aliases = await readAliases(io).catch(() => new Map<string, string>());
  return [...aliases].map(([value, about]) => ({ value, about }));
}

async function findCandidates(request: Request): Promise<Found> {
  const { io, typed, start } = request;
  if (typed.awaiting === "columns") return completeColumns(typed.command, start);
  const names = recordsNamed(nameOfNext(typed));
  const records = names === undefined ? [] : await findRecordNames(io, names, typed);
  if (records.length > 0) return records.map((value) => ({ value }));
  if (typed.awaiting !== undefined) return findValues(io, valuesOfFlag(typed.command, typed.awaiting), start);
  const [, flag, value = ""] = typed.isEnded ? [] : (/^--([^=]+)=(.*)$/.exec(start) ?? []);
  if (flag !== undefined && flagOf(typed.command, flag)?.value !== undefined) {
    const found = await findCandidates({ ...request, typed: { ...typed, awaiting: flag }, start: value });
    return typeof found === "string"
      ? []
      : found.map(({ value: one, about }) => ({ value: `--${flag}=${one}`, about }));
  }
  if (!typed.isEnded && start.startsWith("-") && start !== "-") return completeFlag(typed);
  return typed.command ? completeArgument(request, typed.command) : completeWord(request);
}

/** The name of the flag or argument whose value is typed next. */
function nameOfNext({ awaiting, command, arguments: given }: TypedWords): string {
  return awaiting ?? command?.argument?.split(" ")[given.length]?.replaceAll(/[<>[\].]/g, "") ?? "";
}

async function completeWord({ io, typed: { arguments: given, path }, table }: Request): Promise<Found> {
  if (given.length > 0) return [];
  return [...(await nextWords(path, table)), ...(path.length === 0 ? await findAliases(io) : [])];
}

async function completeArgument({ io, typed, start, table }: Request, command: Command): Promise<Found> {
  const given = typed.arguments;
  if (command.name === "api" && given.length === 1) return findPaths(given[0] ?? "");
  const values = argumentAt(command, given.length)?.values;
  return values === "commands" ? completeHelp(given, table) : findValues(io, values, start);
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

/** Files and folders are inferred from the placeholder of the flag's value. */
function valuesOfFlag(command: Command | undefined, name: string): Values | undefined {
  if (name === "profile") return "profiles";
  const { value, values } = flagOf(command, name) ?? {};
  if (values !== undefined) return values;
  if (value === "<file>" || value === "<path>") return "files";
  return value === "<folder>" ? "folders" : undefined;
}

/** Flags that can still be set, starting with those of the command. */
function completeFlag({ command, flags }: TypedWords): Candidate[] {
  return [command?.flags ?? {}, { ...globalFlags, help: helpFlag }]
    .flatMap((declared) => Object.entries<Flag>(declared))
    .filter(([name, { isRepeatable }]) => isRepeatable === true || !flags.has(name))
    .map(([name, { description }]) => ({ value: `--${name}`, about: description }));
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
  const about = Object.values(topics).map(({ name, summary }) => ({ value: name, about: summary }));
  return [...next, ...about, { value: "topics", about: "list the topics" }];
}

const maxRuns = 100;

/** Finds values on this machine, without opening a database, making a call, or creating files. */
async function findValues(io: RecordSource, values: Values | undefined, start: string): Promise<Found> {
  if (values === "files" || values === "folders") return values;
  if (values === undefined || values === "commands") return [];
  if (values === "aliases") return findAliases(io);
  if (typeof values !== "string") return values.map((value) => ({ value }));
  const paths = await resolvePaths(io.env, io.cwd);
  if (values === "profiles") return findProfiles(io, paths);
  return listRunHeads(paths.runsFolder, start, maxRuns).map(({ id, kind, files, state }) => ({
    value: id,
    about: `${kind}, ${state === "running" ? "not finished" : state}: ${files.join(" ")}`,
  }));
}

/** Profiles, without accessing their secrets. Entries of the file that are not valid are not completed. */
async function findProfiles({ env }: RecordSource, { configFolder }: Paths): Promise<Candidate[]> {
  const { profiles = {} } = await readRawProfiles(configFolder).catch(() => ({ profiles: {} }));
  const stored = Object.entries<Partial<StoredAccount>>(profiles)
    .filter(([name]) => isProfileName(name))
    .map(([value, { base_url = "separate database", live }]) => ({
      value,
      about: `${base_url}${live ? ", live" : ""}`,
    }));
  const isAdHoc = readVariable(env, "STARPOST_BASE_URL") !== undefined;
  const adHoc = isAdHoc ? [{ value: "env", about: "from environment variables" }] : [];
  return [{ value: "local", about: "embedded database" }, ...adHoc, ...stored];
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
