import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/development/testing.md", "utf8");

/** The first cells of the rows of a table. */
const listNames = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, name = ""]) => name).toSorted();

test("the page about tests lists every helper once", () => {
  const files = readdirSync("test/support", { recursive: true, encoding: "utf8" });
  expect(listNames(/^\| `([\w/-]+\.ts)` \|/gm)).toEqual(files.filter((name) => name.endsWith(".ts")).toSorted());
});

test("the page about tests lists every folder once", () => {
  const folders = readdirSync("test", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const listed = folders
    .map(({ name }) => name)
    .filter((name) => name !== "support")
    .toSorted();
  expect(listNames(/^\| `test\/([\w-]+)` \|/gm)).toEqual(listed);
});
