import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFolder, generateFiles } from "../.ci/generate/files.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
const files = await generateFiles(version);

test.each([...files])("%s is up to date; if not, run npm run generate", (path, text) => {
  expect(readFileSync(path, "utf8") === text).toBe(true);
});

test("the folder of command pages contains generated files only", () => {
  const pages = readdirSync(generatedFolder).map((name) => `${generatedFolder}/${name}`);
  expect(pages.filter((path) => !files.has(path))).toEqual([]);
});
