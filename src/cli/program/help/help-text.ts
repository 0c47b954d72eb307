import { wrapIndented } from "../../../terminal/wrap-text.ts";
import type { Command } from "../command.ts";
import { describePage, type Entry, sharedFlags } from "./page.ts";

const maxWidth = 110;
const minWidth = 40;
const defaultWidth = 80;

/** Longer terms get a line of their own. */
const maxTermLength = 24;

export function widthOfHelp(columns: number | undefined): number {
  return Math.min(maxWidth, Math.max(minWidth, columns ?? defaultWidth));
}

export function helpOfCommand(command: Command, width: number): string {
  const page = describePage(command);
  return joinSections([
    wrapIndented(`${page.summary}.`, width, 0).join("\n"),
    ...page.notes.map((note) => wrapIndented(note, width, 0).join("\n")),
    usageSection(page.usage, width),
    listSection("ARGUMENTS", page.arguments, width),
    listSection("FLAGS", page.flags, width),
    listSection("INHERITED FLAGS", sharedFlags, width),
    examplesSection(page.examples),
  ]);
}

/** The help for a noun or a group: its verbs, and examples of some of them. */
export function helpOfNoun(
  name: string,
  summary: string,
  commands: readonly Command[],
  width: number,
): string {
  const verbs = commands.map((command) => ({
    term: command.name.slice(name.length).trim(),
    description: command.summary,
  }));
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
export function listEntries(entries: readonly Entry[], width: number): string[] {
  const longest = Math.min(maxTermLength, Math.floor(width / 3));
  const short = entries.filter(({ term }) => term.length <= longest);
  const column = 4 + Math.max(0, ...short.map(({ term }) => term.length));
  return entries.flatMap(({ term, description }) => {
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
