import { commands, nouns } from "../commands.ts";
import { globalFlags } from "../global-flags.ts";

const purpose = "Admin tool and batch importer for reviews, questions and review-request mails";

const end = `Exit status: 0 all accepted, 1 failed, 2 used wrongly, 3 some rows rejected,
4 not signed in, 5 temporary and resumable, 6 stopped by --max-errors,
7 not all of it arrived, 130 interrupted and resumable.
`;

/** Columns of the narrowest screen that nothing is broken on. */
const width = 80;

/** The first help, made of the tables alone: it is printed without loading the parser. */
export function describeProgram(names: readonly string[] = Object.keys(commands)): string {
  const listed = [...listVerbs(names)].flatMap(([noun, verbs]) =>
    [[noun, nouns[noun] ?? ""] as const].concat(
      foldList(verbs, width - 20, " | ").map((line) => ["", `  ${line}`] as const),
    ),
  );
  const flags = [...globalFlags, ["--version", "print the version"], ["--help", "print the help"]] as const;
  return [
    "Usage: starpost <noun> <verb> [arguments] [flags]\n",
    `${purpose}\n`,
    `Commands (more: starpost <noun> <verb> --help, starpost help topics):\n${inColumns(listed)}`,
    `Flags of every command:\n${inColumns(flags)}`,
    end,
  ].join("\n");
}

/** The verbs of each noun; `list|edit` are those of a group of its own. */
function listVerbs(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Map<string, string[]>>();
  for (const name of names) {
    const [noun = "", verb, ...further] = name.split(" ");
    const verbs = found.get(noun) ?? new Map<string, string[]>();
    found.set(noun, verbs);
    if (verb !== undefined) verbs.set(verb, [...(verbs.get(verb) ?? []), ...further]);
  }
  const write = ([verb, further]: readonly [string, readonly string[]]) =>
    `${verb} ${further.join("|")}`.trimEnd();
  return new Map([...found].map(([noun, verbs]) => [noun, [...verbs].map(write)]));
}

/** Items with something between, on as many lines as they need. */
function foldList(items: readonly string[], room: number, between: string): string[] {
  const lines: string[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (last !== undefined && `${last}${between}${item}${between}`.trimEnd().length <= room) {
      lines[lines.length - 1] = `${last}${between}${item}`;
    } else lines.push(item);
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line}${between}`.trimEnd() : line));
}

function inColumns(pairs: readonly (readonly [string, string])[]): string {
  const widest = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, says]) => `  ${name.padEnd(widest)}  ${says}\n`).join("");
}
