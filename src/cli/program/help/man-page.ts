import type { Command } from "../command.ts";
import { commands, nouns } from "../commands.ts";
import { topics } from "./topics/index.ts";
import type { Block, Topic } from "./topics/topic.ts";
import { describePage, type Entry, sharedFlags } from "./page.ts";

const purpose = "admin tool and batch importer for reviews, questions and review-request mails";

/** A page of the manual: its file's name, and what stands in it. */
type Page = readonly [string, string];

/**
 * The manual, made of what the help is made of: `starpost.1`, a page of section 1 for each noun, and one of section 7 for
 * each topic, by the names of their files.
 */
export async function writeManual(version: string): Promise<ReadonlyMap<string, string>> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const found = await Promise.all(Object.values(topics).map((topic) => topic.load()));
  const names = [...new Set(all.map(nounOf))];
  return new Map([
    writeProgramPage(names, found, version),
    ...names.map((noun) =>
      writeNounPage(
        noun,
        all.filter((command) => nounOf(command) === noun),
        version,
      ),
    ),
    ...found.map((topic) => writeTopicPage(topic, version)),
  ]);
}

function nounOf({ name }: Command): string {
  return name.split(" ")[0] ?? "";
}

function writeProgramPage(names: readonly string[], found: readonly Topic[], version: string): Page {
  const own = names.map((noun) => ({ term: `starpost-${noun}(1)`, says: nouns[noun] ?? "" }));
  const about = found.map(({ name, summary }) => ({ term: `starpost-${name}(7)`, says: summary }));
  const statuses = found.find(({ name }) => name === "exit-statuses")?.blocks ?? [];
  return [
    "starpost.1",
    page({ name: "starpost", section: 1, version, summary: purpose }, [
      ".SH SYNOPSIS",
      paragraph("starpost <noun> <verb> [arguments] [flags]"),
      ".SH COMMANDS",
      ...own.flatMap(writeEntry),
      ".SH FLAGS OF EVERY COMMAND",
      ...sharedFlags.flatMap(writeEntry),
      ".SH EXIT STATUS",
      ...statuses.flatMap(writeBlock),
      ".SH FURTHER PAGES",
      ...about.flatMap(writeEntry),
    ]),
  ];
}

function writeNounPage(noun: string, own: readonly Command[], version: string): Page {
  const name = `starpost-${noun}`;
  return [
    `${name}.1`,
    page({ name, section: 1, version, summary: nouns[noun] ?? "" }, [
      ".SH SYNOPSIS",
      ...own.flatMap((command, at) => [...(at === 0 ? [] : [".br"]), escape(describePage(command).usage)]),
      ".SH DESCRIPTION",
      ...own.flatMap(writeCommand),
      ".SH SEE ALSO",
      "starpost(1), starpost\\-exit\\-statuses(7)",
    ]),
  ];
}

function writeCommand(command: Command): string[] {
  const { name, summary, arguments: given, flags, examples, notes } = describePage(command);
  return [
    `.SS starpost ${escape(name)}`,
    escape(`${summary}.`),
    ...[...given, ...flags].flatMap(writeEntry),
    ...(examples.length === 0 ? [] : [paragraph("Examples:"), ...writeLines(examples)]),
    ...notes.map(paragraph),
  ];
}

function writeTopicPage({ name, summary, blocks }: Topic, version: string): Page {
  const title = `starpost-${name}`;
  return [
    `${title}.7`,
    page({ name: title, section: 7, version, summary }, [
      ".SH DESCRIPTION",
      ...blocks.flatMap(writeBlock),
      ".SH SEE ALSO",
      "starpost(1)",
    ]),
  ];
}

interface Head {
  readonly name: string;
  readonly section: 1 | 7;
  readonly version: string;
  readonly summary: string;
}

function page({ name, section, version, summary }: Head, body: readonly string[]): string {
  const title = `.TH ${escape(name.toUpperCase())} ${section} "" "starpost ${escape(version)}" "starpost"`;
  const start = [
    '.\\" Made from the program: do not edit.',
    title,
    ".SH NAME",
    `${escape(name)} \\- ${escape(summary)}`,
  ];
  // A heading begins a paragraph by itself.
  return `${[...start, ...body].join("\n").replaceAll(/^(\.SH .*)\n\.PP$/gm, "$1")}\n`;
}

function writeBlock(block: Block): string[] {
  if (typeof block === "string") return [paragraph(block)];
  if ("lines" in block) return writeLines(block.lines);
  return block.rows.flatMap(([term, says]) => writeEntry({ term, says }));
}

function paragraph(text: string): string {
  return `.PP\n${escape(text)}`;
}

function writeEntry({ term, says }: Entry): string[] {
  return [".TP", `.B "${escape(term).replaceAll('"', "\\(dq")}"`, escape(says === "" ? term : says)];
}

/** Lines to copy, as they stand. */
function writeLines(lines: readonly string[]): string[] {
  return [".PP", ".RS 4", ".nf", ...lines.map(escape), ".fi", ".RE"];
}

/** Text as it is: a dash is one that can be copied, and a sign at the beginning of a line is no request. */
function escape(text: string): string {
  const plain = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replaceAll("…", "\\[u2026]");
  return plain.startsWith(".") ? `\\&${plain}` : plain;
}
