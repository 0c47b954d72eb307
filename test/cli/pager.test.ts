import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { command, type CommandTable } from "../../src/cli/program/command.ts";
import { RowStream } from "../../src/terminal/row-stream.ts";
import { table as tableOf } from "../../src/terminal/view.ts";
import { capture, makeFolder, run } from "./support.ts";

let read = 0;
const pages = async function* (count: number) {
  read = 0;
  for (let page = 0; page < count; page += 1) {
    read += 1;
    yield Array.from({ length: 1_000 }, (_, at) => ({ id: page * 1_000 + at, text: "x".repeat(50) }));
  }
};
const commands: CommandTable = {
  "rows list": async () =>
    command({
      summary: "List rows",
      flags: { count: { value: "<n>", description: "rows", read: Number } },
      run: async (_context, { flags }) => Array.from({ length: flags.count ?? 0 }, (_, id) => ({ id })),
      render: (rows) => tableOf(rows, ["id"]),
    })("rows list"),
  "rows stream": async () =>
    command({
      summary: "Stream rows",
      flags: { pages: { value: "<n>", description: "pages", read: Number } },
      run: async (_context, { flags }) => new RowStream(pages(flags.pages ?? 1), { columns: ["id", "text"] }),
      render: () => tableOf([], ["id"]),
    })("rows stream"),
};

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

/** Writes a pager that stores what it gets, and the variable LESS. */
function writePager(script = `cat > "$0.text"; echo "$LESS $*" > "$0.env"`): string {
  const path = join(folder, "pager");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Runs on a terminal of 10 lines. */
async function show(argv: readonly string[], env: Readonly<Record<string, string>>, rows: number | undefined = 10) {
  const { stream, text } = capture();
  const io = { stdout: stream, isStdoutTerminal: true, rows, columns: 80 };
  const { status, stderr } = await run(["rows", ...argv], {
    env: { STARPOST_HOME: folder, ...env },
    table: commands,
    io,
  });
  return { status, stderr, printed: text() };
}

describe("the pager", () => {
  test("shows tables that are longer than the screen", async () => {
    const pager = writePager();
    const ran = await show(["list", "--count", "9"], { STARPOST_PAGER: `${pager} 'a b'` });
    expect(ran).toEqual({ status: 0, stderr: "", printed: "" });
    expect(readFileSync(`${pager}.text`, "utf8").split("\n")).toHaveLength(11);
    expect(readFileSync(`${pager}.env`, "utf8")).toBe("FRX a b\n");
  });

  test("is not used for short tables, other formats, files, or if it is disabled", async () => {
    const pager = writePager();
    const long = ["list", "--count", "50"];
    expect((await show(["list", "--count", "8"], { PAGER: pager })).printed.split("\n")).toHaveLength(10);
    for (const [argv, env] of [
      [[...long, "--no-pager"], { PAGER: pager }],
      [[...long, "--format", "csv"], { PAGER: pager }],
      [[...long, "--json"], { PAGER: pager }],
      [long, { PAGER: pager, STARPOST_PAGER: "cat" }],
      [long, { PAGER: "cat" }],
      [long, { PAGER: "" }],
      [long, { PAGER: pager, STARPOST_PAGER: "" }],
      [long, { PAGER: pager, TERM: "dumb" }],
      [long, { PAGER: pager, CI: "true" }],
    ] as const) {
      const ran = await show(argv, env);
      expect(ran).toMatchObject({ status: 0, stderr: "" });
      expect(ran.printed).toContain("49");
    }
    const { stdout } = await run(["rows", ...long], { env: { PAGER: pager }, table: commands });
    expect(stdout).toContain("49");
    expect(existsSync(`${pager}.text`)).toBe(false);
  });

  test("is replaced by plain output if it is missing", async () => {
    for (const PAGER of [join(folder, "missing"), folder]) {
      const ran = await show(["list", "--count", "50"], { PAGER });
      expect(ran).toMatchObject({ status: 0, stderr: "" });
      expect(ran.printed.trimEnd().split("\n")).toHaveLength(51);
    }
  });

  test("may be quit early; the rest is not read", async () => {
    const pager = writePager("head -3 > /dev/null");
    expect(await show(["stream", "--pages", "500"], { PAGER: pager })).toEqual({ status: 0, stderr: "", printed: "" });
    expect(read).toBeLessThan(200);
    const failing = writePager("exit 3");
    expect((await show(["list", "--count", "50"], { PAGER: failing })).status).toBe(0);
  });

  test("gets all rows of a stream", async () => {
    const pager = writePager();
    expect((await show(["stream", "--pages", "3"], { PAGER: pager })).status).toBe(0);
    expect(readFileSync(`${pager}.text`, "utf8").trimEnd().split("\n")).toHaveLength(3_001);
  });

  test("gets text without control characters", async () => {
    const pager = writePager();
    const table: CommandTable = {
      "rows list": async () =>
        command({
          summary: "List rows",
          run: async () => Array.from({ length: 20 }, () => ({ id: "a\u001B[2Jb" })),
          render: (rows) => tableOf(rows, ["id"]),
        })("rows list"),
    };
    const io = { isStdoutTerminal: true, rows: 5 };
    await run(["rows", "list"], { env: { PAGER: pager, NO_COLOR: "1" }, table, io });
    expect(readFileSync(`${pager}.text`, "utf8")).not.toContain("\u001B");
  });
});
