import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BuiltRun, sendSignalsRepeatedly, loadCommands, runBuilt } from "../support/built-program.ts";
import { type CommandLine, commandLineOf, listedNames, stockHome } from "../support/command-lines.ts";
import { sample } from "../support/suite-size.ts";

/** The folder with every printed document in its own file, to pass to jq. */
const piped = mkdtempSync(join(tmpdir(), "starpost-piped-"));
const commands = await loadCommands();
let stock: Awaited<ReturnType<typeof stockHome>>;
let documents = 0;

beforeAll(async () => {
  stock = await stockHome();
});
afterAll(() => {
  stock.remove();
  rmSync(piped, { recursive: true, force: true });
});

function keep(text: string): void {
  documents += 1;
  writeFileSync(join(piped, `${documents}.json`), text);
}

/** Expects one document or nothing on stdout; after a failure without one, exactly one document on stderr. */
function expectJson({ status, stdout, stderr }: BuiltRun): void {
  if (stdout !== "") {
    expect(() => JSON.parse(stdout), stdout).not.toThrow();
    keep(stdout);
  }
  for (const line of stderr.split("\n").slice(0, -1)) expect(() => JSON.parse(line), line).not.toThrow();
  if (status === 0) return;
  if (stdout === "" || stderr.includes('{"error":')) {
    expect(() => JSON.parse(stderr), stderr).not.toThrow();
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: expect.any(String), message: expect.any(String) } });
    keep(stderr);
  }
}

function expectLines({ status, stdout, stderr }: BuiltRun): void {
  for (const line of stdout.split("\n").slice(0, -1)) expect(() => JSON.parse(line), line).not.toThrow();
  expect(stdout === "" || stdout.endsWith("\n")).toBe(true);
  if (status !== 0 && stdout === "") expect(() => JSON.parse(stderr), stderr).not.toThrow();
}

async function call(argv: readonly string[], home: string, { stdin, waits }: CommandLine): Promise<BuiltRun> {
  const signalling = waits === undefined ? undefined : sendSignalsRepeatedly();
  try {
    const io = signalling && { signals: signalling.signals };
    return await runBuilt(argv, { env: { STARPOST_HOME: home, CI: "true" }, stdin, io });
  } finally {
    signalling?.end();
  }
}

test("lists every command and no others", () => {
  const names = new Set(commands.map(({ name }) => name));
  expect(commands.filter((command) => !commandLineOf(command)).map(({ name }) => name)).toEqual([]);
  expect(listedNames.filter((name) => !names.has(name))).toEqual([]);
});

describe("--json prints one document, whatever the result:", () => {
  /** Commands with which the flags of all commands are tested. */
  const withGlobalFlags = new Set(sample(commands, { offset: 0, step: 5 }));
  test.each(commands.map((command) => [command.name, command] as const))("%s", async (name, command) => {
    const line = commandLineOf(command);
    if (!line) throw new Error("the command is not listed");
    stock.renew();
    const home = stock.folder;
    const named = name.split(" ");
    const whole = [...named, ...line.words(stock)];
    const done = await call([...whole, "--json"], home, line);
    expectJson(done);
    expect(done.status === 0, `${done.status} ${done.stdout}${done.stderr}`).toBe(line.refused === undefined);
    expectJson(await call([...named, "--json"], home, line));
    if (withGlobalFlags.has(command)) {
      for (const flags of [["--nope"], ["--profile", "nope"], ["--help"]]) {
        expectJson(await call([...whole, "--json", ...flags], home, line));
      }
    }
    stock.renew();
    expectLines(await call([...whole, "--format", "ndjson"], home, line));
  });
});

test.each([
  ["nothing", []],
  ["an unknown command", ["nope"]],
  ["half a command", ["orders"]],
  ["an unknown verb", ["orders", "nope"]],
  ["a format that is none", ["imports", "list", "--format", "xml"]],
  ["two formats", ["imports", "list", "--format", "csv"]],
  ["a missing argument", ["orders", "import"]],
  ["a missing value", ["orders", "import", "x.csv", "--rate"]],
  ["the version", ["--version"]],
  ["the help", ["--help"]],
])("--json with %s is one document", async (_, argv) => {
  expectJson(await call(["--json", ...argv], stock.folder, { words: () => [] }));
});

test("jq parses every document", () => {
  const { error, status, stderr } = spawnSync("sh", ["-c", `jq . ${piped}/*.json > ${piped}/all`]);
  // Without jq, the tests above have already parsed the documents.
  if (error || status === 127) return;
  expect(String(stderr)).toBe("");
  expect(status).toBe(0);
  expect(documents).toBeGreaterThan(commands.length);
});
