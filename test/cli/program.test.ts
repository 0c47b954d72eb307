import { describe, expect, test } from "vitest";
import { command, type CommandTable } from "../../src/cli/program/command.ts";
import { commands } from "../../src/cli/program/commands.ts";
import { describeProgram } from "../../src/cli/program/help/overview.ts";
import type { Globals } from "../../src/cli/program/global-flags.ts";
import { UserError } from "../../src/config/user-error.ts";
import { type ErrorKind, ServiceError } from "../../src/contract/index.ts";
import { ImportError } from "../../src/import/import-error.ts";
import { readWholeNumber } from "../../src/cli/program/flag-values.ts";
import { fields, table as tableOf } from "../../src/terminal/view.ts";
import { run } from "./support.ts";

interface Seen {
  globals?: Globals;
  arguments?: readonly string[];
  flags?: unknown;
}

/** Creates commands that record their input. */
function tableWith(seen: Seen, fail?: unknown): CommandTable {
  const show = command({
    summary: "Show a thing",
    argument: "<name...>",
    flags: {
      size: { value: "<n>", description: "size", read: readWholeNumber },
      tag: { value: "<t>", description: "a tag", isRepeatable: true },
      "no-check": { description: "skip the check" },
      loud: { description: "print more" },
    },
    run: async ({ globals, messages }, input) => {
      seen.globals = globals;
      seen.arguments = input.arguments;
      seen.flags = input.flags;
      messages.warn("a warning");
      messages.info("a message");
      if (fail) throw fail;
      return { name: input.arguments.join("+"), size: input.flags.size ?? null };
    },
    render: (thing) => fields(thing),
  })("things show");
  const list = command({
    summary: "List things",
    run: async () => [
      { name: "a,b", size: 1 },
      { name: "c", size: 20 },
    ],
    render: (things) => tableOf(things, ["name", "size"]),
  })("things list");
  return { "things show": async () => show, "things list": async () => list };
}

describe("global flags", () => {
  test.each([
    [["--profile", "p", "--json", "--no-input", "things", "show", "x"]],
    [["things", "--profile", "p", "--json", "show", "--no-input", "x"]],
    [["things", "show", "x", "--profile=p", "--json", "--no-input"]],
  ])("are accepted anywhere: %j", async (argv) => {
    const seen: Seen = {};
    const { status, stdout } = await run(argv, { table: tableWith(seen) });
    expect(status).toBe(0);
    expect(seen.globals).toMatchObject({ profile: "p", format: "json", input: false, quiet: false });
    expect(JSON.parse(stdout)).toEqual({ name: "x", size: null });
  });

  test("can be mixed with flags of the command", async () => {
    const seen: Seen = {};
    const argv = ["things", "show", "--size", "3", "x", "--quiet", "--tag", "1", "--no-check", "-", "--tag", "2"];
    await run(argv, { table: tableWith(seen) });
    expect(seen.arguments).toEqual(["x", "-"]);
    expect(seen.flags).toEqual({ size: 3, tag: ["1", "2"], "no-check": true, loud: undefined });
  });

  test("that contradict each other are rejected", async () => {
    const { status } = await run(["things", "list", "--json", "--format", "csv"], { table: tableWith({}) });
    expect(status).toBe(2);
  });
});

describe("output", () => {
  const print = async (...flags: string[]) =>
    (await run(["things", "list", ...flags], { table: tableWith({}) })).stdout;

  test("--json prints the data as one document", async () => {
    const expected = [
      { name: "a,b", size: 1 },
      { name: "c", size: 20 },
    ];
    expect(await print("--json")).toBe(`${JSON.stringify(expected)}\n`);
    expect(await print("--format", "json")).toBe(await print("--json"));
  });

  test("--format ndjson prints one document per line", async () => {
    expect(await print("--format", "ndjson")).toBe('{"name":"a,b","size":1}\n{"name":"c","size":20}\n');
  });

  test("--format csv quotes if necessary", async () => {
    expect(await print("--format", "csv")).toBe('name,size\n"a,b",1\nc,20\n');
  });

  test("the default is a table with right-aligned numbers", async () => {
    expect(await print()).toBe("NAME  SIZE\na,b      1\nc       20\n");
  });
});

describe("messages", () => {
  const printMessages = async (...flags: string[]) =>
    (await run(["things", "show", "x", ...flags], { table: tableWith({}) })).stderr;

  test("go to standard error, or nowhere with --quiet", async () => {
    expect(await printMessages()).toBe("a warning\na message\n");
    expect(await printMessages("--quiet")).toBe("");
  });

  test("are limited to warnings with --json", async () => {
    expect(await printMessages("--json")).toBe('{"notice":{"message":"a warning"}}\n');
  });

  test("are part of the error document of a script", async () => {
    const table = tableWith({}, new UserError("usage", "failed", "Try again."));
    const { stderr } = await run(["things", "show", "x", "--json"], { table });
    expect(JSON.parse(stderr)).toEqual({
      error: { kind: "usage", message: "failed", hint: "Try again." },
      notices: [{ message: "a warning" }],
    });
  });
});

describe("an incomplete command", () => {
  const atTerminal = { table: tableWith({}), io: { isStderrTerminal: true } };

  test.each([[[]], [["things"]]])("prints help at a terminal and fails: %j", async (argv) => {
    const { status, stdout, stderr } = await run(argv, atTerminal);
    const help = await run([...argv, "--help"], atTerminal);
    expect([status, stdout, stderr]).toEqual([2, "", help.stdout]);
    expect(stderr).toContain("USAGE\n  starpost");
  });

  test("is reported as a JSON error with --json", async () => {
    const { status, stderr } = await run(["things", "--json"], atTerminal);
    expect(status).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({ kind: "usage", hint: expect.stringContaining("show, list") });
  });
});

test("short flags and verb synonyms are accepted", async () => {
  const seen: Seen = {};
  const table = tableWith(seen);
  expect((await run(["things", "ls"], { table })).stdout).toBe((await run(["things", "list"], { table })).stdout);
  const { status } = await run(["things", "show", "ls", "-p", "shop", "-q", "-y"], { table });
  expect(status).toBe(0);
  expect(seen.arguments).toEqual(["ls"]);
  expect(seen.globals).toMatchObject({ profile: "shop", quiet: true, yes: true });
});

test("-h is --help", async () => {
  const [short, long] = [
    await run(["things", "list", "-h"], { table: tableWith({}) }),
    await run(["things", "list", "--help"], { table: tableWith({}) }),
  ];
  expect(short).toEqual(long);
  expect(short.status).toBe(0);
});

describe("an invalid command line", () => {
  test.each([
    [[], '"starpost"'],
    [["things"], '"starpost things"'],
    [["thing", "list"], '"thing"'],
    [["things", "lst"], '"lst"'],
    [["things", "show"], "<name>"],
    [["things", "list", "extra"], "arguments"],
    [["things", "list", "--jsn"], "--jsn"],
    [["things", "show", "x", "--size"], "--size"],
    [["things", "show", "x", "--size", "0"], "--size"],
    [["things", "list", "--format", "xml"], "table, json, ndjson, csv"],
    [["--profile", "", "things", "list"], "--profile"],
  ])("ends with 2: %j", async (argv, message) => {
    const { status, stdout, stderr } = await run(argv, { table: tableWith({}) });
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
  });

  test("gets a suggestion for a misspelled name", async () => {
    const near = await run(["thigs", "list"], { table: tableWith({}) });
    expect(near.stderr).toContain("things?");
    const flag = await run(["things", "list", "--jsn"], { table: tableWith({}) });
    expect(flag.stderr).toContain("--json?");
    const verb = await run(["things", "get", "a"], { table: tableWith({}) });
    expect(verb.stderr).toContain("show?");
  });

  test.each([[["--json", "--nope"]], [["things", "lst", "--json"]], [["nope", "--format=ndjson"]]])(
    "is reported as JSON if requested: %j",
    async (argv) => {
      const { status, stderr } = await run(argv, { table: tableWith({}) });
      expect(status).toBe(2);
      expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "usage" } });
    },
  );
});

describe("errors", () => {
  const failWith = (error: unknown, ...flags: string[]) =>
    run(["things", "show", "x", ...flags], { table: tableWith({}, error) });

  const statuses: readonly (readonly [ErrorKind, number])[] = [
    ["unauthorized", 4],
    ["invalidClient", 4],
    ["recordNotFound", 4],
    ["unavailable", 5],
    ["timeout", 5],
    ["internal", 5],
    ["tooManyRequests", 5],
    ["invalidParams", 1],
    ["featureDisabled", 1],
    ["storageFailed", 1],
    ["unexpectedAnswer", 1],
  ];

  test.each(statuses)("a rejected call, %s, ends with %i", async (kind, status) => {
    const ran = await failWith(new ServiceError(kind, "no", { hint: "Do this." }), "--json");
    expect(ran.status).toBe(status);
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind, message: "no", hint: "Do this." } });
  });

  test.each([
    ["usage", 2],
    ["auth", 4],
    ["temporary", 5],
    ["failed", 1],
  ] as const)("a failed import, %s, ends with %i", async (kind, status) => {
    expect((await failWith(new ImportError(kind, "no"))).status).toBe(status);
  });

  test("include the summary of an import that had started", async () => {
    const summary = { import_id: "1" } as never;
    const ran = await failWith(new ImportError("temporary", "no", { summary }), "--json");
    expect(JSON.parse(ran.stdout)).toEqual({ import_id: "1" });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind: "temporary", message: "no" } });
  });

  test("report a bug on one line, with a stack trace only with --verbose", async () => {
    const short = await failWith(new TypeError("x is undefined\nand more"));
    expect(short.status).toBe(1);
    expect(short.stderr).toMatch(/^error: .*x is undefined\nhint: .*--verbose/m);
    expect(short.stderr).not.toContain("at ");
    expect((await failWith(new TypeError("x"), "--verbose")).stderr).toContain("    at ");
  });
});

describe("help and version", () => {
  test("go to standard output and succeed", async () => {
    const help = await run(["--help"]);
    expect(help.status).toBe(0);
    expect(help.stdout).toContain("USAGE");
    expect((await run(["orders", "import", "--help"])).stdout).toContain("--no-validate");
    expect((await run(["orders", "import", "--help"])).stdout).toContain("--profile <name>");
    expect((await run(["--version", "--quiet"])).stdout).toBe("1.2.3\n");
    expect((await run(["--version", "--json"])).stdout).toBe('{"version":"1.2.3"}\n');
  });

  test("fit a screen of 80 columns and 53 lines", async () => {
    const lines = (await run(["--help"])).stdout.split("\n");
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(54);
  });

  test("are the same with and without loading the parser", async () => {
    expect((await run(["--help"])).stdout).toBe(describeProgram());
  });

  test("include every command", async () => {
    const { stdout } = await run(["--help"]);
    for (const name of Object.keys(commands)) {
      expect((await run([...name.split(" "), "--help"])).stdout).toContain(`USAGE\n  starpost ${name} `);
    }
    for (const noun of new Set(Object.keys(commands).map((name) => name.split(" ")[0]))) {
      expect(stdout).toMatch(new RegExp(`^  ${noun} `, "m"));
    }
  });
});

test.each([8.64e15 + 1, -1, Number.NaN])("commands refuse a clock that shows an impossible time: %d", async (time) => {
  const { status, stderr } = await run(["profile", "list", "--json"], { io: { clock: () => time } });
  expect(status).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "failed", message: expect.stringContaining("clock") } });
});
