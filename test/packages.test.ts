import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listImports, readSources } from "../.ci/house.js";

const root = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Readonly<
  Record<"dependencies" | "optionalDependencies" | "devDependencies", Readonly<Record<string, string>>>
>;

/** `got` for `got`, `csv-parse` for `csv-parse/sync`, `@a/b` for `@a/b/c`. */
const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "";

const packagesOf = (text: string) =>
  listImports(text)
    .filter((specifier) => !/^(?:\.|node:)/.test(specifier))
    .map(packageOf);

test.each([
  ["commander", "src/cli/program/command-line.ts", "parses the command line"],
  ["inquirer", "src/terminal/prompt.ts", "asks questions"],
  ["csv-parse", "src/import/csv/split-record.ts", "parses records that are not plain"],
  ["p-limit", "src/import/send/sender.ts", "bounds the importer's calls in flight"],
  ["got", "src/client/wire.ts", "calls the service"],
  ["conf", "src/config/private-file.ts", "stores profiles and settings"],
  ["chalk", "src/terminal/colors.ts", "colors output"],
  ["ora", "src/terminal/progress.ts", "shows progress"],
  ["vitest", "test/packages.test.ts", "runs the tests"],
])("%s in %s %s", (name, file) => {
  expect(packagesOf(readFileSync(join(root, file), "utf8"))).toContain(name);
});

test("the packages that src/ uses, and no others, are dependencies", () => {
  const used = new Set(readSources(join(root, "src")).flatMap(({ text }) => packagesOf(text)));
  const listed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expect([...used].toSorted()).toEqual(listed.toSorted());
  expect(listed.filter((name) => name in manifest.devDependencies)).toEqual([]);
});

test("only native packages are not bundled", () => {
  const config = readFileSync(join(root, "esbuild.config.js"), "utf8");
  const native = JSON.parse(/const nativePackages = (\[[^\]]*\])/.exec(config)?.[1] ?? "[]") as string[];
  expect(native.toSorted()).toEqual(
    [...Object.keys(manifest.optionalDependencies), "@photostructure/sqlite"].toSorted(),
  );
});
