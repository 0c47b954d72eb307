import { formatFlag } from "../flag.ts";
import { globalFlags, helpFlag, versionFlag } from "../global-flags.ts";
import { nounGroups } from "./groups.ts";

const purpose = "Import, moderate, and serve product reviews, questions, and review requests.";

const examples = ["starpost orders import orders.csv --dry-run"];

/** The help of the program. It needs neither the parser nor any command, so `--help` starts fast. */
export function describeProgram(): string {
  const { profile, json } = globalFlags;
  const flags = { profile, json, help: helpFlag, version: versionFlag };
  const groups = Object.entries(nounGroups).map(([title, nouns]) =>
    section(title.toUpperCase(), Object.entries(nouns)),
  );
  return [
    `${purpose}\n`,
    "USAGE\n  starpost <noun> <verb> [arguments] [flags]\n",
    ...groups,
    section(
      "FLAGS",
      Object.entries(flags).map(([name, flag]) => [formatFlag(name, flag), flag.description]),
    ),
    `EXAMPLES\n${examples.map((line) => `  $ ${line}\n`).join("")}`,
    "LEARN MORE\n  Use `starpost <noun> <verb> --help` or `starpost help topics`; `ls` is `list`.\n",
  ].join("\n");
}

/** Padded here, because `formatSections` would delay `--help` by 3%. */
function section(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(16, ...rows.map(([term]) => term.length)) + 2;
  return `${title}\n${rows.map(([term, text]) => `  ${term.padEnd(width)}${text}\n`).join("")}`;
}
