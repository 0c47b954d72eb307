import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { commands } from "../../../src/cli/program/commands.ts";
import { globalFlags } from "../../../src/cli/program/global-flags.ts";
import { knownVariables } from "../../../src/doctor/environment-check.ts";
import { manualPages, readCode } from "../../support/manual.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const pages = manualPages.map((page) => ({ page, text: readFileSync(page, "utf8") }));

/** Everything in a page that `find` returns, with the page. */
function findAll(find: (text: string, page: string) => readonly string[]): string[] {
  return pages.flatMap(({ page, text }) => find(text, page).map((found) => `${page}: ${found}`));
}

/** Begins like a command, but is not one. */
const logMessage = "backup failed";

test("every npm script in the manual exists", () => {
  const named = (text: string) => [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name = ""]) => name);
  expect(findAll((text) => named(text).filter((name) => !(name in scripts)))).toEqual([]);
});

test("every file of the repository in the manual exists", () => {
  const isMissing = (code: string) =>
    !["", "src/", "test/support/"].some((folder) =>
      ["", ".ts", ".test.ts"].some((end) => existsSync(`${folder}${code}${end}`)),
    );
  const missing = findAll((text, page) =>
    readCode(withoutFences(text)).filter(
      (code) => (/^(?:src|test|fixtures|docs|\.ci)\/[\w./-]+$/.test(code) || isSource(code, page)) && isMissing(code),
    ),
  );
  expect(missing).toEqual([]);
});

/** Pages for developers name files relative to `src`. */
function isSource(code: string, page: string): boolean {
  return (
    /development|CONTRIBUTING/.test(page) &&
    /^(?!dist\/|node_modules\/)[a-z][\w-]*\/(?:[\w.-]+\/)*(?:[\w.-]+\.ts)?$/.test(code)
  );
}

test("decisions have different IDs, and those that pages and comments name exist", () => {
  const idsIn = (text: string) => [...text.matchAll(/\bA-\d{3}\b/g)].map(([id]) => id);
  const listed = [...readFileSync("docs/reference/assumptions.md", "utf8").matchAll(/^- \*\*(A-\d{3})\*\* /gm)];
  const ids = listed.map(([, id = ""]) => id);
  expect(ids.length).toBeGreaterThan(50);
  expect(new Set(ids).size).toBe(ids.length);
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  const named = [...pages.map(({ text }) => text), ...sources.map((path) => readFileSync(`src/${path}`, "utf8"))];
  expect(named.flatMap(idsIn).filter((id) => !ids.includes(id))).toEqual([]);
});

test("every environment variable in the manual exists", () => {
  const unknown = findAll((text) =>
    [...text.matchAll(/\bSTARPOST_[A-Z_]*[A-Z]\b/g)]
      .map(([name]) => name)
      .filter((name) => !/^STARPOST_(?:TEST|BENCH|ATTACK)_/.test(name) && !(name in knownVariables)),
  );
  expect(unknown).toEqual([]);
});

test("every command and flag in the manual exists", async () => {
  const names = Object.keys(commands);
  const nouns = new Set(names.map((name) => name.split(" ")[0] ?? ""));
  const flags = new Map<string, ReadonlySet<string>>();
  for (const [name, load] of Object.entries(commands)) {
    flags.set(
      name,
      new Set([...Object.keys((await load()).flags ?? {}), ...Object.keys(globalFlags), "help", "version"]),
    );
  }
  const findUnknown = (line: string): string[] => {
    const words = line.split(/\s+/);
    if (!nouns.has(words[0] ?? "") || !/^[a-z-]*$/.test(words[1] ?? "") || line === logMessage) return [];
    const name = [3, 2, 1].map((count) => words.slice(0, count).join(" ")).find((found) => flags.has(found));
    // A noun, or a group of its verbs.
    if (name === undefined) return names.some((found) => found.startsWith(`${line} `)) ? [] : [line];
    const known = flags.get(name);
    return [...line.matchAll(/(?<=\s)--([a-z][\w-]*)/g)].flatMap(([, flag = ""]) =>
      known?.has(flag) ? [] : [`${name} --${flag}`],
    );
  };
  expect(findAll((text) => linesOf(text).flatMap(findUnknown))).toEqual([]);
});

function withoutFences(text: string): string {
  return text.replaceAll(/^```.*?^```/gms, "");
}

/** Command lines without `starpost` and quoted arguments: from code in a sentence, and from lines of shell code. */
function linesOf(text: string): string[] {
  const inline = readCode(withoutFences(text)).map((code) => code.replace(/^starpost /, ""));
  const fenced = [...text.matchAll(/^```(?:sh|console|bash)\n(.*?)^```/gms)].flatMap(([, code = ""]) =>
    [...code.replaceAll("\\\n", " ").matchAll(/(?:^|[(\s])starpost ([^\n|;&>#)]+)/g)].map(([, line = ""]) =>
      line.trim(),
    ),
  );
  return [...inline, ...fenced].map((line) => line.replaceAll(/'[^']*'/g, "''"));
}
