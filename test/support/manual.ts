import { readdirSync, readFileSync } from "node:fs";

/** All pages of the manual, including generated ones. */
export const manualPages: readonly string[] = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `docs/${path}`),
];

/** The rows of the tables below a heading, as cells without the header; without a heading, of the first part of the page. */
export function readTable(page: string, heading = ""): string[][] {
  const text = readFileSync(page, "utf8");
  const part = heading === "" ? text : text.split(`\n${heading}\n`)[1];
  if (part === undefined) throw new Error(`${page} has no heading "${heading}"`);
  const [section = ""] = part.split(/\n#+ /);
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines
    .filter((line, at) => !/^\|[ :|-]+\|$/.test(line) && !/^\|[ :|-]+\|$/.test(lines[at + 1] ?? ""))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The texts in backticks. */
export function readCode(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}
