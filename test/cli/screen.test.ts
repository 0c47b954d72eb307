import { describe, expect, test } from "vitest";
import { isPlain } from "../../src/cli/program/output/screen.ts";
import { UserError } from "../../src/config/user-error.ts";
import { command } from "../../src/cli/program/command.ts";
import type { Command, CommandTable } from "../../src/cli/program/command.ts";
import { RowStream } from "../../src/terminal/row-stream.ts";
import { table } from "../../src/terminal/view.ts";
import { capture, makeHomeWithDatabase, run } from "./support.ts";

const terminal = { isStdoutTerminal: true, isStderrTerminal: true };

describe("color", () => {
  test.each<[string, string[], Record<string, string>, boolean]>([
    ["is on at a terminal", [], {}, false],
    ["is off with --no-color", ["--no-color"], {}, true],
    ["is off with --no-color, which overrides FORCE_COLOR", ["--no-color"], { FORCE_COLOR: "3" }, true],
    ["is off with NO_COLOR", [], { NO_COLOR: "1" }, true],
    ["is off at a dumb terminal", [], { TERM: "dumb" }, true],
    ["is on with FORCE_COLOR, which overrides NO_COLOR", [], { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
    ["is on at a dumb terminal with FORCE_COLOR=true", [], { TERM: "dumb", FORCE_COLOR: "true" }, false],
    ["is off with FORCE_COLOR=0", [], { FORCE_COLOR: "0" }, true],
    ["is off with FORCE_COLOR=false", [], { FORCE_COLOR: "false" }, true],
    ["ignores empty variables", [], { NO_COLOR: "", FORCE_COLOR: "" }, false],
    ["ignores flags after --", ["--", "--no-color"], {}, false],
  ])("%s", (_, argv, env, plain) => {
    expect(isPlain({ ...terminal, argv, env }, "stdout")).toBe(plain);
    expect(isPlain({ ...terminal, argv, env }, "stderr")).toBe(plain);
  });

  test("is decided for each stream", () => {
    const io = { argv: [], env: {}, isStdoutTerminal: false, isStderrTerminal: true };
    expect([isPlain(io, "stdout"), isPlain(io, "stderr")]).toEqual([true, false]);
    const forced = { ...io, env: { FORCE_COLOR: "2" } };
    expect([isPlain(forced, "stdout"), isPlain(forced, "stderr")]).toEqual([false, false]);
  });
});

const long = "the file contains no rows that can be imported, so that no request was sent to the service at all";

const tableOf = (declared: Command): CommandTable => ({ [declared.name]: async () => declared });

const failing = tableOf(
  command({
    summary: "Fail",
    run: async () => {
      throw new UserError("usage", long, "To list earlier imports, run starpost imports list.");
    },
    render: () => table([], []),
  })("auth status"),
);

describe("an error", () => {
  test("is printed on two lines without a terminal", async () => {
    const { stderr, status } = await run(["auth", "status"], { table: failing });
    expect(stderr).toBe(`error: ${long}\nhint: To list earlier imports, run starpost imports list.\n`);
    expect(status).toBe(2);
  });

  test("is wrapped at a terminal, aligned with its first word", async () => {
    const { stream, text } = capture();
    const stderr = Object.assign(stream, { columns: 40 });
    await run(["auth", "status", "--no-color"], { table: failing, io: { stderr, isStderrTerminal: true } });
    const lines = text().trimEnd().split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
    expect(lines.every((line) => /^(error: |hint: | {6,7})\S/.test(line))).toBe(true);
    expect(lines.map((line) => line.trim()).join(" ")).toBe(
      `error: ${long} hint: To list earlier imports, run starpost imports list.`,
    );
  });

  test("has a colored label if colors are on", async () => {
    const { stderr } = await run(["auth", "status"], { table: failing, env: { FORCE_COLOR: "1" } });
    expect(stderr).toContain("\u001b[31merror:\u001b[39m the file");
    const plain = await run(["auth", "status", "--no-color"], { table: failing, env: { FORCE_COLOR: "1" } });
    expect(plain.stderr).toMatch(/^error: /);
  });
});

describe("an empty list", () => {
  const rowsOf = (count: number) =>
    command({
      summary: "List things",
      run: async () => new RowStream(pagesOf(count), { columns: ["name"] }),
      render: () => table([], ["name"]),
    })("things list");
  async function* pagesOf(count: number) {
    yield Array.from({ length: count }, (_, at) => ({ name: `thing ${at}` }));
  }

  test("prints a message with the command to create records, if there is one", async () => {
    const list = rowsOf(0);
    const both: CommandTable = { ...tableOf(list), "things import": async () => list };
    const { stdout, stderr } = await run(["things", "list"], { table: both });
    expect([stdout, stderr]).toEqual(["", expect.stringContaining("`starpost things import`")]);
    const alone = await run(["things", "list"], { table: tableOf(list) });
    expect(alone.stderr).not.toContain("starpost");
  });

  test("of a generated command prints a message", async () => {
    const { stderr } = await run(["products", "list"], { env: { STARPOST_HOME: await makeHomeWithDatabase() } });
    expect(stderr).toContain("`starpost products import`");
  });

  test("does not suggest to add records if filters leave some out", async () => {
    const env = { STARPOST_HOME: await makeHomeWithDatabase() };
    const read = async (...args: string[]) => (await run(args, { env })).stderr;
    for (const filter of [
      ["--state", "held"],
      ["--score", "1"],
      ["--since", "7d"],
    ]) {
      expect(await read("reviews", "list", ...filter)).not.toContain("starpost reviews import");
    }
    for (const others of [
      ["--limit", "3"],
      ["--columns", "id"],
      ["--sort", "oldest"],
    ]) {
      expect(await read("reviews", "list", ...others)).toContain("`starpost reviews import`");
    }
  });

  test("is not reported if reading the list failed", async () => {
    async function* refused() {
      await Promise.reject(new UserError("auth", "refused", "Sign in."));
      yield [{ name: "never read" }];
    }
    const list = { ...rowsOf(0), run: async () => new RowStream(refused(), { columns: ["name"] }) };
    for (const format of ["json", "csv", "table", "ndjson"]) {
      const ran = await run(["things", "list", "--format", format], { table: tableOf(list) });
      expect([ran.status, ran.stdout]).toEqual([4, ""]);
    }
  });

  test("prints no message for scripts or if there are rows", async () => {
    const script = await run(["things", "list", "--json"], { table: tableOf(rowsOf(0)) });
    expect([script.stdout, script.stderr]).toEqual(["[]\n", ""]);
    expect((await run(["things", "list"], { table: tableOf(rowsOf(1)) })).stderr).toBe("");
  });
});
