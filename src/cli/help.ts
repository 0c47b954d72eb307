import { commands, nouns } from "./commands.ts";
import { globalFlags } from "./globals.ts";

const purpose = "Admin tool and batch importer for reviews, questions and review-request mails";

const end = `Exit status: 0 all accepted, 1 failed, 2 used wrongly, 3 some rows rejected, 4 not signed in,
5 temporary and resumable, 6 stopped by --max-errors, 7 not all of it arrived, 130 interrupted and resumable.
`;

/** The first help, made of the tables alone: it is printed without loading the parser. */
export function describeProgram(names: readonly string[] = Object.keys(commands)): string {
  const listed = [...new Set(names.map((name) => name.split(" ")[0] ?? ""))].map((noun) => {
    const verbs = names
      .filter((name) => name.startsWith(`${noun} `))
      .map((name) => name.slice(noun.length + 1));
    return [`${noun} ${verbs.join(" | ")}`.trimEnd(), nouns[noun] ?? ""] as const;
  });
  const flags = [...globalFlags, ["--version", "print the version"], ["--help", "print the help"]] as const;
  return [
    "Usage: starpost <noun> <verb> [arguments] [flags]\n",
    `${purpose}\n`,
    `Commands (more: starpost <noun> <verb> --help):\n${inColumns(listed)}`,
    `Flags of every command:\n${inColumns(flags)}`,
    end,
  ].join("\n");
}

function inColumns(pairs: readonly (readonly [string, string])[]): string {
  const widest = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, says]) => `  ${name.padEnd(widest)}  ${says}\n`).join("");
}
