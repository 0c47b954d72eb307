import { describe, expect, test } from "vitest";
import { UserError } from "../../src/config/user-error.ts";
import {
  readDelimiter,
  readFlagValues,
  readEmailRate,
  readMapping,
  readMaxErrors,
  readPort,
  readSize,
  readRate,
  readWholeNumber,
} from "../../src/cli/program/flag-values.ts";
import { run, makeFolder } from "./support.ts";
import { importFlagsOf } from "../../src/cli/commands/records/import-flags.ts";
import { commands } from "../../src/cli/program/commands.ts";
import { recordKinds } from "../../src/records/index.ts";
import type { Command } from "../../src/cli/program/command.ts";

type Reader = (text: string, flag: string) => unknown;

describe("a flag's value", () => {
  test.each<[Reader, string, unknown]>([
    [readWholeNumber, "1", 1],
    [readWholeNumber, "200", 200],
    [readRate, "0", 0],
    [readRate, "2.5", 2.5],
    [readEmailRate, "20/minute", 1_200],
    [readMaxErrors, "0", { count: 0 }],
    [readMaxErrors, "20", { count: 20 }],
    [readMaxErrors, "2.5%", { percent: 2.5 }],
    [readMapping, "email=E-mail (shop)", ["email", "E-mail (shop)"]],
    [readMapping, "price=a=b", ["price", "a=b"]],
    [readDelimiter, ";", ";"],
    [readDelimiter, "tab", "\t"],
    [readDelimiter, "\\t", "\t"],
    [readDelimiter, "\t", "\t"],
    [readPort, "0", 0],
    [readSize, "1MB", 1_048_576],
    [readSize, "20 gb", 20 * 1_073_741_824],
    [readPort, "65535", 65_535],
  ])("%o reads %j", (read, text, value) => {
    expect(read(text, "--flag")).toEqual(value);
  });

  test.each<[Reader, string]>([
    ...["0", "-1", "1.5", "", "1e3", "ten", "1 ", "9".repeat(20)].map((text): [Reader, string] => [
      readWholeNumber,
      text,
    ]),
    ...["-1", "1.", "Infinity", "", "5/s", "1e3"].map((text): [Reader, string] => [readRate, text]),
    ...["0/hour", "5", "5/day", "1.5/hour"].map((text): [Reader, string] => [readEmailRate, text]),
    ...["-1", "101%", "%", "1.5", ""].map((text): [Reader, string] => [readMaxErrors, text]),
    ...["email", "=x", "email=", ""].map((text): [Reader, string] => [readMapping, text]),
    ...["", ";;", '"', "\n"].map((text): [Reader, string] => [readDelimiter, text]),
    ...["0MB", "1", "1KB", "1.5GB", "-1MB", "100000GB", ""].map((text): [Reader, string] => [readSize, text]),
    ...["65536", "-1", "http", ""].map((text): [Reader, string] => [readPort, text]),
  ])("%o rejects %j", (read, text) => {
    expect(() => read(text, "--flag")).toThrow(/for --flag: /);
  });

  test.each([
    [["orders", "import", "x.csv", "--platform", "shop"], "general"],
    [["coupons", "import", "x.csv", "--action", "map"], "map_review_share"],
    [["unsubscribers", "import", "x.csv", "--type", "18"], "--type"],
    [["orders", "import", "x.csv", "--map", "email=a", "--map", "email=b"], "--map"],
    [["orders", "import", "x.csv", "--dry-run", "--verify"], "--verify"],
    [["serve", "--port", "70000"], "--port"],
  ])("an unknown value ends with 2: %j", async (argv, message) => {
    const ran = await run(argv, { env: { STARPOST_HOME: "/nowhere" } });
    expect(ran.status).toBe(2);
    expect(ran.stderr).toContain(message);
  });
});

describe("declared flags", () => {
  const flags = {
    size: { value: "<n>", description: "size", required: true, read: readWholeNumber },
    limit: { value: "<n>", description: "limit", default: 20, read: readWholeNumber },
    all: { description: "no limit", exclusive: ["limit", "no-check"] },
    name: { value: "<text>", description: "name", requiredUnless: "input" },
    input: { value: "<file>", description: "fields from a file" },
    check: { description: "check" },
    "no-check": { description: "do not check" },
  } as const;

  test("apply defaults through their reader", () => {
    const values = readFlagValues(flags, { size: "3", name: "x" });
    expect(values).toMatchObject({ size: 3, limit: 20, name: "x", all: undefined, "no-check": undefined });
  });

  test.each([
    [{}, ["--size", "--name"]],
    [{ input: "file" }, ["--size"]],
    [{ size: "1" }, ["--name"]],
    [{ size: "1", input: "f", all: true, limit: "5" }, ["--all", "--limit"]],
    [{ size: "1", input: "f", all: true, check: false }, ["--all", "--no-check"]],
  ])("are checked together: %j names %j", (parsed, names) => {
    const error = catchUserError(() => readFlagValues(flags, parsed));
    expect(error.kind).toBe("usage");
    expect(error.message.match(/--[\w-]+/g)).toEqual(names);
  });

  test.each([[{ size: "1", input: "f", all: true }], [{ size: "1", input: "f", all: true, check: true }]])(
    "ignore defaults when checking for exclusive flags: %j",
    (parsed) => {
      expect(readFlagValues(flags, parsed)).toMatchObject({ all: true, limit: 20 });
    },
  );
});

function catchUserError(action: () => unknown): UserError {
  try {
    action();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("no error was thrown");
}

test.each(recordKinds)("the flags of $name import match what the kind supports", (kind) => {
  const flags = Object.keys(importFlagsOf(kind));
  expect(flags.includes("undoable")).toBe(kind.isUndoable ?? false);
  expect(flags.includes("fix-ids")).toBe((kind.fixableFields ?? []).length > 0);
  expect(flags.includes("product-url")).toBe(kind.urlField !== undefined);
  expect(flags).toEqual(expect.arrayContaining(Object.keys(kind.importCommand.flags ?? {})));
});

test.each(recordKinds)("$name has the four record commands", ({ name }) => {
  const verbs = ["import", "export", "plan", "map"].map((verb) => `${name} ${verb}`);
  expect(Object.keys(commands)).toEqual(expect.arrayContaining(verbs));
});

test.each(["--input", "--products"])("%s rejects a field that would be lost", async (flag) => {
  const products = '{"__proto__": {"name": "Teapot", "url": "https://shop.example"}}';
  const env = { STARPOST_HOME: makeFolder() };
  const isFile = flag === "--input";
  const argv = ["api", "products.massCreate", flag, isFile ? "-" : products];
  const stdin = `{"products": ${products}}`;
  const { status, stderr } = await run(argv, { env, ...(isFile && { stdin }) });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^error: .*__proto__/);
});

/** Commands that change nothing but files that they are asked to write. */
const readers: ReadonlySet<string> = new Set(
  (
    "account list, account show, account invitations, account email-status, alias list, auth credentials," +
    "auth status, auth token, backup list, backup verify, completion, database status," +
    "doctor, help, imports list, imports report, imports show, imports verify," +
    "mail dkim check, mail templates preview, profile list, profile show, shop check, shop snippet"
  ).split(/, ?/),
);

/** Commands that change something and have no dry run, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "auth login": "checks a secret by signing in; without that, it is `profile add`, which has one",
  "backup create": "adds a file, and changes nothing",
  "backup restore": "shows what it replaces and asks; `backup verify` checks the backup",
  "customers erase": "has --plan",
  demo: "changes only a temporary database",
  "database distribute": "shows what it changes and asks",
  "imports apply": "carries out a plan, which shows every row",
  "imports resume": "continues a run; `imports show` shows what is left",
  init: "asks for each step",
  "mail run": "sends what is due; `mail list --state queued --sort soonest` shows it",
  "reviews moderate": "asks for each decision",
  serve: "runs until it is stopped",
  "unsubscribers sync": "has --plan",
  "webhooks listen": "shows deliveries until it is stopped",
};

test("every command that changes something has --dry-run, or a reason why not", async () => {
  const loaded: Command[] = await Promise.all(Object.values(commands).map((load) => load()));
  const isPlain = (name: string) => / (?:export|plan|map)$/.test(name);
  const without = loaded.filter(
    ({ name, calls, flags = {} }) => !("dry-run" in flags) && calls !== "read" && !isPlain(name),
  );
  const unexplained = without.filter(({ name }) => !readers.has(name) && !Object.hasOwn(exceptions, name));
  expect(unexplained.map(({ name }) => name)).toEqual([]);
  const names = new Set(without.map(({ name }) => name));
  expect([...readers, ...Object.keys(exceptions)].filter((name) => !names.has(name))).toEqual([]);
});

test("commands with another kind of preview have it", async () => {
  for (const name of ["customers erase", "unsubscribers sync"]) {
    expect(Object.keys((await commands[name]?.())?.flags ?? {})).toContain("plan");
  }
});
