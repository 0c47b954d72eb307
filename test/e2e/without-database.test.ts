import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Command } from "../../src/cli/program/command.ts";
import { loadCommands, runBuilt, sendSignalsRepeatedly } from "../support/built-program.ts";
import { commandLineOf, stockHome } from "../support/command-lines.ts";
import { execute, postgresServer, takeEmptyDatabase } from "../support/postgres.ts";

const root = mkdtempSync(join(tmpdir(), "starpost-without-"));
const home = join(root, "home");
const commands = await loadCommands();
let stock: Awaited<ReturnType<typeof stockHome>>;

beforeAll(async () => {
  stock = await stockHome();
});
afterAll(() => {
  stock.remove();
  rmSync(root, { recursive: true, force: true });
});

/** Runs a command in a home that has import runs, but no database. */
async function runWithout(command: Command, added: readonly string[] = [], env: Record<string, string> = {}) {
  const line = commandLineOf(command);
  if (!line) throw new Error(`${command.name} is not listed`);
  rmSync(home, { recursive: true, force: true });
  cpSync(join(stock.folder, "imports"), join(home, "imports"), { recursive: true });
  const before = readdirSync(home, { recursive: true });
  const signalling = sendSignalsRepeatedly();
  try {
    const argv = [...command.name.split(" "), ...line.words(stock), ...added, "--json"];
    const io = { signals: signalling.signals };
    const ran = await runBuilt(argv, { env: { STARPOST_HOME: home, CI: "true", ...env }, stdin: line.stdin, io });
    return { ...ran, before, after: readdirSync(home, { recursive: true }) };
  } finally {
    signalling.end();
  }
}

const named = (which: (command: Command) => boolean) =>
  commands.filter(which).map((command) => [command.name, command] as const);

describe("without a database, a command that needs one fails and creates nothing:", () => {
  test.each(named(({ database }) => database === undefined))("%s", async (_, command) => {
    const { status, stdout, stderr, before, after } = await runWithout(command);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    const { message, hint } = (JSON.parse(stderr) as { error: { message: string; hint: string } }).error;
    expect(message).toBe(`no database at ${join(home, "starpost.db")}`);
    expect(hint).toContain("STARPOST_HOME");
    expect(hint).toContain("starpost init");
    expect(after).toEqual(before);
  });
});

describe("works without a database, and creates none:", () => {
  test.each(named(({ database }) => database === "optional"))("%s", async (_, command) => {
    const { stderr } = await runWithout(command);
    expect(stderr).not.toContain("no database");
    expect(existsSync(join(home, "starpost.db"))).toBe(false);
    expect(existsSync(join(home, "starpost.key"))).toBe(false);
  });
});

test("a folder that does not exist is not created", async () => {
  const folder = join(root, "fresh");
  for (const argv of [
    ["customers", "erase", "ann@mail.example", "--yes"],
    ["mail", "why", "1000"],
    ["backup", "create"],
  ]) {
    const { status } = await runBuilt([...argv, "--json"], { env: { STARPOST_HOME: folder } });
    expect(status).toBe(1);
    expect(existsSync(folder)).toBe(false);
  }
});

describe("creates the database, but not in a dry run:", () => {
  const orders = "fixtures/good/orders.csv";
  test.each([
    ["orders import", [orders]],
    ["groups create", ["pots"]],
    ["account create", ["--name", "Teas"]],
    ["webhooks create", ["https://shop.example/hook"]],
    ["unsubscribers add", ["ann@mail.example"]],
    ["api groups.create", ["--group-name", "pots"]],
  ])("%s", async (name, words) => {
    const folder = mkdtempSync(join(root, "created-"));
    const argv = [...name.split(" "), ...words, "--json"];
    const options = { env: { STARPOST_HOME: folder }, cwd: process.cwd() };
    const rehearsed = await runBuilt([...argv, "--dry-run"], options);
    expect(rehearsed, rehearsed.stderr).toMatchObject({ status: 0 });
    expect(readdirSync(folder)).toEqual([]);
    const done = await runBuilt(argv, options);
    expect(done, done.stderr).toMatchObject({ status: 0 });
    expect(existsSync(join(folder, "starpost.db"))).toBe(true);
  });
});

test("a call that is only shown needs the account", async () => {
  const folder = join(root, "shown");
  const { status } = await runBuilt(["groups", "create", "pots", "--curl"], { env: { STARPOST_HOME: folder } });
  expect(status).toBe(1);
  expect(existsSync(folder)).toBe(false);
});

test("an empty file counts as no database", async () => {
  const folder = mkdtempSync(join(root, "empty-"));
  writeFileSync(join(folder, "starpost.db"), "");
  const { status, stderr } = await runBuilt(["orders", "list", "--json"], { env: { STARPOST_HOME: folder } });
  expect({ status, error: JSON.parse(stderr) as unknown }).toMatchObject({
    status: 1,
    error: { error: { kind: "storageFailed" } },
  });
  expect(readdirSync(folder)).toEqual(["starpost.db"]);
});

test.skipIf(postgresServer === undefined)("an empty PostgreSQL database counts as none", async () => {
  const { url, drop } = await takeEmptyDatabase();
  try {
    const env = { STARPOST_HOME: join(root, "postgres"), STARPOST_DATABASE: url };
    for (const argv of [
      ["orders", "list"],
      ["database", "status"],
      ["database", "distribute"],
      ["backup", "create"],
    ]) {
      const { status, stderr } = await runBuilt([...argv, "--json"], { env });
      expect(status).toBe(1);
      expect(stderr).toContain("no database at");
    }
    expect(existsSync(env.STARPOST_HOME)).toBe(false);
    expect((await runBuilt(["groups", "create", "pots", "--dry-run"], { env })).status).toBe(0);
    expect(await execute("select from pg_tables where schemaname = current_schema()", url)).toEqual([]);
    expect((await runBuilt(["init", "--local"], { env })).status).toBe(0);
    expect((await runBuilt(["orders", "list"], { env })).status).toBe(0);
  } finally {
    await drop();
  }
});

test("init creates the database of a profile", async () => {
  const folder = mkdtempSync(join(root, "profile-"));
  const call = (...argv: string[]) => runBuilt([...argv, "--json"], { env: { STARPOST_HOME: folder } });
  await call("profile", "add", "shop", "--database", join(folder, "shop.db"));
  expect((await call("orders", "list", "--profile", "shop")).status).toBe(1);
  expect(await call("init", "--local", "--profile", "shop")).toMatchObject({ status: 0 });
  expect(await call("orders", "list", "--profile", "shop")).toMatchObject({ status: 0, stdout: "[]\n" });
  expect(readdirSync(folder)).not.toContain("starpost.db");
});
