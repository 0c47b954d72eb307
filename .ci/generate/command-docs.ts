import type { Command } from "../../src/cli/program/command.ts";
import { nouns } from "../../src/cli/program/help/groups.ts";
import { describePage, sharedFlags } from "../../src/cli/program/help/page.ts";
import type { Block, Entry, Topic } from "../../src/cli/program/help/topics.ts";

export const marker = "<!-- Generated from the program by `npm run generate`. Do not edit. -->";

export function nounOf({ name }: Pick<Command, "name">): string {
  return name.split(" ")[0] ?? "";
}

/** The page of a noun: all that its commands' help description. */
export function writeNounPage(noun: string, commands: readonly Command[]): string {
  const own = commands.filter((command) => nounOf(command) === noun);
  const contents = own.map(
    ({ name, summary }) => `- [\`starpost ${name}\`](#starpost-${name.replaceAll(" ", "-")}): ${mark(summary)}`,
  );
  return join([
    marker,
    `# starpost ${noun}`,
    `${mark(nouns[noun] ?? "")}.`,
    ...(own.length > 1 ? [contents.join("\n")] : []),
    "The flags of every command and the exit statuses are [with the other nouns](README.md).",
    ...own.flatMap(writeCommand),
  ]);
}

/** The index of the pages, with what holds for every command. */
export function writeIndex(commands: readonly Command[], topics: readonly Topic[]): string {
  const found = [...new Set(commands.map(nounOf))];
  return join([
    marker,
    "# Commands",
    "The same reference is available offline: `starpost <noun> <verb> --help`, `starpost help topics`, and `man starpost` where starpost is installed globally.",
    found.map((noun) => `- [\`${noun}\`](${noun}.md): ${mark(nouns[noun] ?? "")}`).join("\n"),
    "## Flags of every command",
    writeEntries("flag", sharedFlags),
    ...topics.flatMap(({ name, summary, blocks }) => [
      `## ${name}`,
      `${summary.charAt(0).toUpperCase()}${mark(summary.slice(1))}.`,
      ...blocks.map(writeBlock),
    ]),
  ]);
}

function writeCommand(command: Command): string[] {
  const { name, summary, usage, arguments: given, flags, examples, notes } = describePage(command);
  return [
    `## starpost ${name}`,
    `${mark(summary)}.`,
    fence([usage]),
    ...(given.length === 0 ? [] : [writeEntries("argument", given)]),
    ...(flags.length === 0 ? [] : [writeEntries("flag", flags)]),
    ...(examples.length === 0 ? [] : [fence(examples)]),
    ...notes.map(mark),
  ];
}

function writeBlock(block: Block): string {
  if (typeof block === "string") return mark(block);
  if ("lines" in block) return fence(block.lines);
  return writeEntries("", block.rows);
}

function writeEntries(title: string, entries: readonly Entry[]): string {
  const rows = entries.map(
    ([term, description]) => `| \`${term.replaceAll("|", "\\|")}\` | ${mark(description).replaceAll("|", "\\|")} |`,
  );
  return [`| ${title} | meaning |`, "|---|---|", ...rows].join("\n");
}

function fence(lines: readonly string[]): string {
  return ["```sh", ...lines, "```"].join("\n");
}

/** Escapes text for Markdown, except for code spans. */
export function mark(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith("`")
        ? part
        : part.replaceAll(/[\\*_<>[\]{}]/g, (sign) => (sign === "{" || sign === "}" ? sign : `\\${sign}`)),
    )
    .join("");
}

function join(parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}
