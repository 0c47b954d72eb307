import { argumentAt } from "../argument-help.ts";
import type { Command, CommandTable } from "../command.ts";
import type { Flag, Values } from "../flag.ts";
import { commands } from "../commands.ts";
import { globalFlags, helpFlag } from "../global-flags.ts";
import { nouns } from "../help/groups.ts";
import { replaceSynonyms } from "../synonyms.ts";
import type { Io } from "../io.ts";
import { topics } from "../help/topics/index.ts";
import { type Candidate, findValues } from "./dynamic-values.ts";
import { flagOf, readTypedWords, startsWithWords, type TypedWords } from "./typed-words.ts";

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
  io: Pick<Io, "env" | "cwd">,
  words: readonly string[],
  table: CommandTable = commands,
): Promise<Completion> {
  const start = words.at(-1) ?? "";
  const all = words.includes("api") ? { ...table, ...(await loadApiCommands()) } : table;
  const typed = await readTypedWords(replaceSynonyms(words.slice(0, -1), all), all);
  const found = await findCandidates(io, typed, start, table);
  const fitting = found.candidates.filter(({ value }) => value.startsWith(start));
  return { candidates: fitting, further: found.further };
}

/** Operations called by name, which the table does not contain. */
async function loadApiCommands(): Promise<CommandTable> {
  return (await import("../../commands/api/operations.ts")).apiCommands;
}

async function findCandidates(
  io: Pick<Io, "env" | "cwd">,
  typed: TypedWords,
  start: string,
  table: CommandTable,
): Promise<Completion> {
  if (typed.awaiting !== undefined)
    return completeValue(io, valuesOfFlag(typed.command, typed.awaiting), start);
  const [, flag, value] = typed.isEnded ? [] : (/^--([^=]+)=(.*)$/.exec(start) ?? []);
  if (flag !== undefined) {
    const { candidates } = await completeValue(io, valuesOfFlag(typed.command, flag), value ?? "");
    return {
      candidates: candidates.map(({ value: found, about }) => ({ value: `--${flag}=${found}`, about })),
      further: "none",
    };
  }
  if (!typed.isEnded && start.startsWith("-") && start !== "-") {
    return { candidates: completeFlag(typed), further: "none" };
  }
  if (!typed.command && typed.arguments.length > 0) return nothing;
  if (!typed.command) return { candidates: await nextWords(typed.path, table), further: "none" };
  const values = argumentAt(typed.command, typed.arguments.length)?.values;
  if (values === "commands")
    return { candidates: await completeHelp(typed.arguments, table), further: "none" };
  return completeValue(io, values, start);
}

async function completeValue(
  io: Pick<Io, "env" | "cwd">,
  values: Values | undefined,
  start: string,
): Promise<Completion> {
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

/** The words that can follow in the name of a command. */
async function nextWords(path: readonly string[], table: CommandTable): Promise<Candidate[]> {
  const names = Object.keys(table).filter((name) => startsWithWords(name, path));
  const words = [...new Set(names.map((name) => name.split(" ")[path.length] ?? ""))];
  return Promise.all(
    words.map(async (value) => {
      const load = path.length === 0 ? undefined : table[[...path, value].join(" ")];
      return { value, about: load ? (await load()).summary : (nouns[value] ?? "") };
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
