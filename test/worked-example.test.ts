import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "csv-parse/sync";
import { execa } from "execa";
import { expect, test } from "vitest";
import { isSlowSuite } from "./support/suite-size.ts";
import { useTemporaryFolder } from "./support/temporary-folder.ts";

const temporary = useTemporaryFolder();

/** The steps of the worked example in CONTRIBUTING.md: in a file, a text that occurs once is replaced. */
function readSteps() {
  const [, section = ""] = readFileSync("CONTRIBUTING.md", "utf8").split("\n## A column\n");
  const blocks = (section.split("\n## ")[0] ?? "").matchAll(/^\d\. `([^`]+)`(?:(?!^```).)*^```diff\n(.*?)\n^```$/gms);
  return [...blocks].map(([, file = "", diff = ""]) => {
    const linesWithout = (sign: string) => diff.split("\n").filter((line) => !line.startsWith(sign));
    const [before, after] = ["+", "-"].map((sign) => linesWithout(sign).map((line) => line.slice(1)));
    return { file, before: before?.join("\n") ?? "", after: after?.join("\n") ?? "" };
  });
}

const steps = readSteps();

const types = ["node_modules/typescript/bin/tsc", "-p", "types.json"];
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--maxWorkers=1"];

/** What detects that a step is missing: the test in a file, or the compiler, and what it prints. */
const detections: Readonly<Record<string, readonly [file: string | undefined, output: string]>> = {
  "src/contract/record-fields.ts": [undefined, "TS2353: .*'gift_note' does not exist"],
  "src/storage/schema/migrations.ts": ["test/unit/storage/upgrade.test.ts", "gets the schema of a new database"],
  "src/records/orders/synonyms.ts": [undefined, "TS2741: Property 'gift_note' is missing"],
  "docs/reference/columns.md": ["test/unit/docs/tables.test.ts", "columns\\.md lists the columns of each kind"],
  "test/wire/details.test.ts": ["test/wire/details.test.ts", "GET /apps/\\{app_key\\}/purchases"],
};
/** The tests that detect a missing step; in the slow suite, all in their files. */
const tests = Object.values(detections).flatMap(([file]) => file ?? []);
const names = Object.values(detections).flatMap(([file, output]) => (file === undefined ? [] : output));
const filter = isSlowSuite ? [] : ["-t", names.join("|")];

/** The types that a missing step breaks. */
const onlySynonyms = { files: ["src/records/orders/synonyms.ts"], include: [] };

/** A copy of the repository in which the steps are done, except for one, and what the compiler checks there. */
function copyRepository(name: string, checked: object, omitted?: string): string {
  const folder = join(temporary, name);
  const folders = ["src", "test", "docs", "fixtures", ".ci"];
  const files = readdirSync(".").filter((entry) => /\.(?:json|js|md|ts)$/.test(entry));
  for (const entry of [...folders, ...files]) cpSync(entry, join(folder, entry), { recursive: true });
  // Tests start its threads.
  symlinkSync(resolve("dist"), join(folder, "dist"));
  // A folder of its own, because caches are written there.
  mkdirSync(join(folder, "node_modules"));
  for (const entry of readdirSync("node_modules").filter((one) => !one.startsWith("."))) {
    symlinkSync(resolve("node_modules", entry), join(folder, "node_modules", entry));
  }
  for (const { file, before, after } of steps.filter((step) => step.file !== omitted)) {
    const parts = readFileSync(join(folder, file), "utf8").split(before);
    if (parts.length !== 2) throw new Error(`In "A column" of CONTRIBUTING.md, update the diff of ${file}:\n${before}`);
    writeFileSync(join(folder, file), parts.join(after));
  }
  writeFileSync(join(folder, "types.json"), JSON.stringify({ extends: "./tsconfig.json", ...checked }));
  return folder;
}

function run(folder: string, ...command: readonly string[]) {
  const { PATH, STARPOST_TEST_POSTGRES } = process.env;
  const env = { PATH, STARPOST_TEST_POSTGRES, STARPOST_HOME: join(folder, "home"), STARPOST_KEYRING: "off" };
  return execa(process.execPath, command, { cwd: folder, all: true, reject: false, extendEnv: false, env });
}

async function succeed(folder: string, ...command: readonly string[]) {
  const result = await run(folder, ...command);
  expect(result.exitCode, result.all).toBe(0);
  return result;
}

/** Runs the commands of the example, and the tests. In the slow suite, checks that tests fail without the commands. */
async function runCommands(folder: string): Promise<void> {
  const generated = isSlowSuite ? ["test/generated-files.test.ts", "test/unit/import/mapping"] : [];
  if (isSlowSuite) {
    const { all } = await run(folder, ...vitest, ...generated);
    expect(all).toMatch(/FAIL .*openapi\.json is up to date/);
    expect(all).toMatch(/FAIL .*the draft of a mapping/);
    await succeed(folder, ...vitest, "test/unit/import/mapping", "-u");
  }
  await succeed(folder, ".ci/generate.js");
  await succeed(folder, ...vitest, ...tests, ...generated, ...filter);
}

test("the example takes at most five files, and each has a check", () => {
  expect(steps.map(({ file }) => file)).toEqual(Object.keys(detections));
  expect(steps.length).toBeLessThanOrEqual(5);
});

test.concurrent("with all steps, the checks pass, and the column arrives", { timeout: 300_000 }, async () => {
  const folder = copyRepository("complete", isSlowSuite ? {} : onlySynonyms);
  await Promise.all([succeed(folder, ...types), runCommands(folder)]);
  for (const [note, outcome] of [
    ["For Ada", "1 created, 0 changed"],
    ["For Ada, with love", "0 created, 1 changed"],
  ] as const) {
    const required = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
    const values = "1001,ada@mail.example,Ada,2026-08-03,mug,Mug,https://shop.example/mug";
    writeFileSync(join(folder, "orders.csv"), `${required},gift_note\n${values},"${note}"\n`);
    const { all } = await succeed(folder, ".ci/dev.js", "orders", "import", "orders.csv", "--verify");
    expect(all).toContain(outcome);
    expect(all).toContain("Verified 1 row (1 order): no differences.");
    const { stdout } = await succeed(folder, ".ci/dev.js", "orders", "export");
    expect(parse(stdout, { columns: true })).toMatchObject([{ order_id: "1001", gift_note: note }]);
  }
});

test.skipIf(!isSlowSuite).concurrent.for(Object.entries(detections))(
  "without the step in %s, a check fails",
  async ([file, detection]) => {
    const [testFile, output] = detection;
    const folder = copyRepository(file.replaceAll("/", "-"), onlySynonyms, file);
    const named = [...vitest, testFile ?? "", "-t", output];
    const { exitCode, all } = await run(folder, ...(testFile === undefined ? types : named));
    expect(all).toMatch(new RegExp(testFile === undefined ? `synonyms\\.ts.* ${output}` : `FAIL .*${output}`));
    expect(exitCode).toBeGreaterThan(0);
  },
);
