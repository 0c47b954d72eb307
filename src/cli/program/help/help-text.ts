import { wrapIndented } from "../../../terminal/wrap-text.ts";
import type { Command } from "../command.ts";
import { describePage, type Entry, sharedFlags } from "./page.ts";

/** A screen on which help is read well; a wider one is not filled. */
const widest = 110;
const narrowest = 40;

/** Names are in one column where they are no longer than this; what a longer one means goes under it. */
const longestName = 24;

/** Where nothing tells how wide the screen is. */
const usual = 80;

/** How wide a help is on a screen. */
export function widthOfHelp(columns: number | undefined): number {
  return Math.min(widest, Math.max(narrowest, columns ?? usual));
}

/** The help of one command. */
export function helpOfCommand(command: Command, width: number): string {
  const page = describePage(command);
  return joinSections([
    wrapIndented(`${page.summary}.`, width, 0).join("\n"),
    wrapIndented(`Usage: ${page.usage}`, width, 4).join("\n"),
    listSection("Arguments", page.arguments, width),
    listSection("Flags", page.flags, width),
    // Lines to copy: a break would have to be taken out again.
    page.examples.length === 0 ? "" : ["Examples:", ...page.examples.map((line) => `  ${line}`)].join("\n"),
    ...page.notes.map((note) => wrapIndented(note, width, 0).join("\n")),
    describeSharedFlags(width),
  ]);
}

/** The help of a noun: its verbs, each with what it does. */
export function helpOfNoun(
  name: string,
  summary: string,
  commands: readonly Command[],
  width: number,
): string {
  const verbs = commands.map((command) => ({
    term: command.name.slice(name.length).trim(),
    says: command.summary,
  }));
  return joinSections([
    wrapIndented(`${summary}.`, width, 0).join("\n"),
    wrapIndented(`Usage: starpost ${name} <verb> [arguments] [flags]`, width, 4).join("\n"),
    listSection("Verbs", verbs, width),
    `More of one: starpost ${name} <verb> --help`,
  ]);
}

function describeSharedFlags(width: number): string {
  const names = sharedFlags.map(({ term }) => term).join(", ");
  return wrapIndented(`Flags of every command, told by \`starpost --help\`: ${names}.`, width, 2).join("\n");
}

/** What is named, in columns; no line is wider than the screen, if no word is. */
export function listEntries(entries: readonly Entry[], width: number): string[] {
  const longest = Math.min(longestName, Math.floor(width / 3));
  const short = entries.filter(({ term }) => term.length <= longest);
  const column = 4 + Math.max(0, ...short.map(({ term }) => term.length));
  return entries.flatMap(({ term, says }) => {
    if (says === "") return [`  ${term}`];
    if (term.length <= longest) return wrapIndented(`  ${term}`.padEnd(column) + says, width, column);
    return [`  ${term}`, ...wrapIndented(" ".repeat(column) + says, width, column)];
  });
}

function listSection(title: string, entries: readonly Entry[], width: number): string {
  return entries.length === 0 ? "" : [`${title}:`, ...listEntries(entries, width)].join("\n");
}

function joinSections(sections: readonly string[]): string {
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}
