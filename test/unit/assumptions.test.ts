import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

/** What is assumed in a source file: each text after `Assumed:` up to the end of its paragraph. */
function findAssumed(source: string): string[] {
  const comments = source.match(/\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm) ?? [];
  return comments.flatMap((comment) => {
    const text = comment
      .replace(/^[ \t]*(?:\/\*\*|\*\/|\*|\/\/)[ \t]?/gm, "")
      .replace(/\*\/$/, "")
      .replace(/\n(?:@|Source:)/g, "\n\n$&");
    return [...text.matchAll(/Assumed:([\s\S]*?)(?=\n\s*\n|Assumed:|$)/g)].map((found) =>
      (found[1] ?? "").replace(/\s+/g, " ").trim(),
    );
  });
}

async function readSources(): Promise<string[]> {
  const names = await readdir(join(root, "src"), { recursive: true });
  const files = names.filter((name) => name.endsWith(".ts")).map((name) => `src/${name}`);
  const found = await Promise.all(
    files.map(async (file) => {
      const assumed = findAssumed(await readFile(join(root, file), "utf8"));
      return assumed.map((text) => `${file}: ${text}`);
    }),
  );
  return found.flat();
}

/** The rows of the document's tables: a file in backticks, and the text as it stands there. */
async function readDocument(): Promise<string[]> {
  const text = await readFile(join(root, "docs/development/assumptions.md"), "utf8");
  const rows = text.matchAll(/^\| `(src\/[^`]+)` \| (.*) \|$/gm);
  return [...rows].map(([, file, assumed = ""]) => `${file}: ${assumed.replaceAll("\\|", "|")}`);
}

it("lists in docs/development/assumptions.md what the sources assume, and nothing else", async () => {
  const [sources, listed] = [await readSources(), await readDocument()];
  expect(sources.length).toBeGreaterThan(20);
  expect(listed.toSorted()).toEqual(sources.toSorted());
});

it("reads an assumption over lines, to the end of its paragraph", () => {
  const source = [
    "/**",
    " * Lists. Source: spec. Assumed: the first",
    " * and the second.",
    " * @returns nothing",
    " */",
    "// Assumed: a third.",
    "const a = 1; /** Assumed: a fourth. */",
  ].join("\n");
  expect(findAssumed(source)).toEqual(["the first and the second.", "a third.", "a fourth."]);
});
