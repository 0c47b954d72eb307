import { type UserError, usageError } from "../../../config/user-error.ts";
import type { Command, CommandTable } from "../command.ts";
import { nouns } from "./groups.ts";
import { describeProgram } from "./overview.ts";
import { wrapIndented } from "../../../terminal/text-layout.ts";
import { describePage, sharedFlags } from "./page.ts";
import { type Block, type Entry, type Topic, topics } from "./topics.ts";

/**
 * The help for a command, a noun or group, a topic, or `topics`; with an empty name, for the program.
 * @throws UserError `usage` if nothing has this name
 */
export async function findHelp(commands: CommandTable, name: string, columns: number | undefined): Promise<string> {
  const width = Math.min(maxWidth, Math.max(minWidth, columns ?? defaultWidth));
  const words = name.split(" ");
  if (name === "") return describeProgram();
  if (name === "topics") return textOfTopics(width);
  const topic = Object.hasOwn(topics, name) ? topics[name] : undefined;
  if (topic) return textOfTopic(topic, width);
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) return helpOfCommand(await load(), width);
  if (words[0] === "api") {
    const { apiCommands } = await import("../../commands/api/operations.ts");
    const loadOperation = Object.hasOwn(apiCommands, name) ? apiCommands[name] : undefined;
    if (loadOperation) return helpOfCommand(await loadOperation(), width);
  }
  const loadAll = (isMeant: (known: string) => boolean) =>
    Promise.all(Object.entries(commands).flatMap(([known, loadOne]) => (isMeant(known) ? [loadOne()] : [])));
  const inside = await loadAll((known) => known.startsWith(`${name} `));
  if (inside.length > 0) return helpOfNoun(name, nouns[name] ?? "", inside, width);
  const [found, ...others] = await loadAll((known) => known.endsWith(` ${name}`));
  if (!found) throw unknownName(name, commands);
  return others.length === 0 ? helpOfCommand(found, width) : helpOfVerb([found, ...others], width);
}

function unknownName(name: string, commands: CommandTable): UserError {
  const known = [...Object.keys(commands), ...Object.keys(nouns), ...Object.keys(topics), "topics"];
  return usageError(
    `no help found for ${JSON.stringify(name)}`,
    "Use `starpost --help` to list commands, or `starpost help topics` to list topics.",
    undefined,
    { given: name, known },
  );
}

export function textOfTopic({ name, summary, blocks }: Topic, width: number): string {
  const title = wrapIndented(`${name}: ${summary}`, width, 2).join("\n");
  return `${[title, ...blocks.map((block) => textOfBlock(block, width))].join("\n\n")}\n`;
}

function textOfBlock(block: Block, width: number): string {
  if (typeof block === "string") return wrapIndented(block, width, 0).join("\n");
  if ("lines" in block) return block.lines.map((line) => `  ${line}`).join("\n");
  return listEntries(block.rows, width).join("\n");
}

function textOfTopics(width: number): string {
  const found = Object.values(topics).map(({ name, summary }) => [name, summary] as const);
  return `${["TOPICS (starpost help <topic>)", ...listEntries(found, width)].join("\n")}\n`;
}

const maxWidth = 110;
const minWidth = 40;
const defaultWidth = 80;

/** Longer terms get a line of their own. */
const maxTermLength = 24;

export function helpOfCommand(command: Command, width: number): string {
  const page = describePage(command);
  return joinSections([
    wrapIndented(`${page.summary}.`, width, 0).join("\n"),
    usageSection(page.usage, width),
    listSection("ARGUMENTS", page.arguments, width),
    listSection("FLAGS", page.flags, width),
    listSection("INHERITED FLAGS", sharedFlags, width),
    examplesSection(page.examples),
    page.notes.length === 0
      ? ""
      : `LEARN MORE\n${page.notes.map((note) => wrapIndented(`  ${note}`, width, 2).join("\n")).join("\n\n")}`,
  ]);
}

/** The commands of all nouns with the same verb. */
function helpOfVerb(commands: readonly Command[], width: number): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return joinSections([
    listSection("COMMANDS", rows, width),
    "LEARN MORE\n  Use `starpost help <command>` for a command.",
  ]);
}

/** The help for a noun or a group: its verbs, and examples of some of them. */
export function helpOfNoun(name: string, summary: string, commands: readonly Command[], width: number): string {
  const verbs = commands.map((command) => [command.name.slice(name.length).trim(), command.summary] as const);
  const examples = commands.flatMap((command) => command.examples?.slice(0, 1) ?? []);
  return joinSections([
    wrapIndented(`${summary}.`, width, 0).join("\n"),
    usageSection(`starpost ${name} <verb> [arguments] [flags]`, width),
    listSection("COMMANDS", verbs, width),
    examplesSection(examples.slice(0, 3)),
    `LEARN MORE\n  Use \`starpost ${name} <verb> --help\` for a command.`,
  ]);
}

function usageSection(usage: string, width: number): string {
  return `USAGE\n${wrapIndented(`  ${usage}`, width, 6).join("\n")}`;
}

/** Examples are not wrapped, so that they can be copied. */
function examplesSection(examples: readonly string[]): string {
  return examples.length === 0 ? "" : ["EXAMPLES", ...examples.map((line) => `  $ ${line}`)].join("\n");
}

/** Terms and descriptions in two columns, wrapped to the width. */
function listEntries(entries: readonly Entry[], width: number): string[] {
  const longest = Math.min(maxTermLength, Math.floor(width / 3));
  const short = entries.filter(([term]) => term.length <= longest);
  const column = 4 + Math.max(0, ...short.map(([term]) => term.length));
  return entries.flatMap(([term, description]) => {
    if (description === "") return [`  ${term}`];
    if (term.length <= longest) return wrapIndented(`  ${term}`.padEnd(column) + description, width, column);
    return [`  ${term}`, ...wrapIndented(" ".repeat(column) + description, width, column)];
  });
}

function listSection(title: string, entries: readonly Entry[], width: number): string {
  return entries.length === 0 ? "" : [title, ...listEntries(entries, width)].join("\n");
}

function joinSections(sections: readonly string[]): string {
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}
