import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { manualPages } from "./support/manual.ts";

const root = join(import.meta.dirname, "..");

/** Phrases that are never right in the program's English. Each pattern is matched against single lines. */
const phrases: readonly RegExp[] = [
  /\b(tells?|telling|told)\b/i,
  /(?<!\bthere )(?<!\bThere )\bis no (?!(longer|more|less)\b)[a-z]/,
  /\bbe had\b/i,
  /\b(the|its|keeps?) books\b/i,
  /\bfound out\b/i,
  /\bunder way\b/i,
  /\bheed(s|ed|ing)?\b/i,
  /\bmended\b/i,
  /\b(take|takes|taken|taking|took) (it |them |that )?back\b/i,
  /\b(keep|keeps|kept|keeping) (it |them )?back\b/i,
  /\b(put|puts|putting) (it |them |ids )?right\b/i,
  /\bpass(ed|es)? over\b/i,
  /\bso many\b/i,
  /\bwithout a word\b/i,
  /\bnothing but\b/i,
  /\bfor what\b/i,
  /\b(left|leaves?|leaving) out\b/i,
  /\blook(s|ed)? through\b/i,
  /\bat fault\b/i,
  /\b(is|are|was) said\b/i,
  /\bsays? (so|of|whether|which|what|how|who|why)\b/i,
  /\bwhoever\b/i,
  /\bin words\b/i,
  /\bin none of\b/i,
  /\banew\b/i,
  /\bbroken off\b/i,
  /\bbe mailed\b|\bis mailed\b|\bmails nobody\b/i,
  /\bwhole (command|document|number|list|order|call|answer|path|line|table)s?\b/i,
  /\bof (a|an) (place|folder|page|file|process|thread|transaction) of (its|their|his) own\b/i,
  /\bsomebody of their own\b/i,
  /\bwhat (is|stands|comes) (between|behind|before|after)\b/i,
  /\bbehind (this|the|an?) id\b/i,
  /\be-mails?\b/i,
  /\bthere (is|are) none\b/i,
  /\blikewise\b.*\blikewise\b/i,
];

/** `mails` is a table and a path segment on the wire; in prose, the noun is "emails". */
const prosePhrases: readonly RegExp[] = [...phrases, /(?<!Columns: )(?<![/`_."'-])\bmails\b(?![/`_."'(-])/i];

interface Text {
  readonly path: string;
  readonly lines: readonly string[];
}

function readTexts(folder: string, ending: string): Text[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => readText(join(folder, path)));
}

function readText(path: string): Text {
  return { path, lines: readFileSync(join(root, path), "utf8").split("\n") };
}

function findPhrases(texts: readonly Text[], patterns: readonly RegExp[]): string[] {
  return texts.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      patterns.some((pattern) => pattern.test(line)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
    ),
  );
}

describe("the language of the program", () => {
  test("in help, messages, and comments contains no phrase of the list", () => {
    const sources = [...readTexts("src", ".ts"), ...readTexts("bin", ".js"), ...readTexts(".ci", ".js")];
    expect(findPhrases(sources, phrases)).toEqual([]);
  });

  test("in the manual contains no phrase of the list", () => {
    expect(findPhrases(manualPages.map(readText), prosePhrases)).toEqual([]);
  });

  test.each([
    "Say of an order why its mails were sent or not, rule by rule",
    "Look at everything that starpost needs here, and say what to do",
    "Tell an address of no more events",
    "what is between cells (found out)",
    "Show the books of an import run",
    "calls under way at once",
    "put ids right that the service would drop, and write the pairs down",
    "after how long without a word another worker takes over",
    "GIVE is no method",
    "they cannot be had together",
    "The rows that were left out are said",
    "Take back what an import run did",
    "a rule that keeps mails back",
    "What was forgotten, in words; nothing where nothing was kept.",
  ])("is protected against a former line: %s", (line) => {
    expect(findPhrases([{ path: "", lines: [line] }], prosePhrases)).toHaveLength(1);
  });
});
