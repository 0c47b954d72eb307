import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { CommandTable } from "../../src/cli/program/command.ts";
import { command } from "../../src/cli/program/command.ts";
import { UserError } from "../../src/config/user-error.ts";
import { RowStream } from "../../src/terminal/row-stream.ts";
import { line } from "../../src/terminal/view.ts";
import { capture, makeFolder, run, type RunSettings } from "./support.ts";

const rows = [
  { id: 1, name: "Tea für 2 ☕", price: 4.5, tags: ["a", "b"], owner: { email: "ann@mail.example" } },
  { id: 2, name: 'Mug "big"\n2 lines\n', price: null, tags: [], owner: { email: "bo@mail.example" } },
  { id: 3, name: "", price: 0, tags: ["c"], owner: null },
];

/** Commands that print data of every kind. */
const table: CommandTable = {
  "shop rows": async () =>
    command({
      summary: "Print rows",
      run: async () =>
        new RowStream(
          (async function* () {
            yield rows.slice(0, 2);
            yield rows.slice(2);
          })(),
          { columns: ["id"] },
        ),
      render: () => line("id", 1),
    })("shop rows"),
  "shop one": async () =>
    command({ summary: "Print a record", run: async () => rows[0], render: () => line("id", 1) })("shop one"),
  "shop text": async () =>
    command({
      summary: "Write a document",
      run: async ({ io }) => {
        io.stdout.write('{"id": 12345678901234567890');
        io.stdout.write("123}\n");
      },
      render: () => line("id", 1),
    })("shop text"),
  "shop fail": async () =>
    command({
      summary: "Fail after a document",
      run: async ({ io }) => {
        io.stdout.write('{"id":9}\n');
        throw new UserError("failed", "no more rows");
      },
      render: () => line("id", 1),
    })("shop fail"),
};
const shop = (verb: string, flags: readonly string[], settings: RunSettings = {}) =>
  run(["shop", verb, ...flags], { table, ...settings });

/** Expressions with the same meaning in jq 1.6, which many systems have. */
const expressions = [
  ".",
  ".[]",
  ".[].name",
  ".[] | .price, .tags",
  'map({id, t: (.tags | join("+"))})',
  '.[] | "\\(.id)\\t\\(.name)"',
  ".[] | [.id, .name] | @csv, @tsv, @json",
  "map(.price // -1) | add",
  "group_by(.price == null) | map(length)",
  '[.[] | select(.owner.email? // "" | test("^ANN"; "i")) | .id]',
  ".[-1:][0].tags[0]",
  "to_entries | from_entries? // keys",
  "reduce .[] as $row (0; . + $row.id)",
  "def f: .id * 2; .[] | f",
  "first(.[] | select(.id > 1)) | .name | length, ascii_downcase",
  "paths | select(length == 2) | tostring",
  "-(.[0].id)",
  '.[] | .name | sub("\\\\s+"; "_")',
  "empty",
  '.[] | if .price then "yes" else "no" end',
  "limit(2; .[].id)",
  '"", "a\\n", ""',
  "[limit(3; range(10))] | tojson | fromjson",
  ".[0] | with_entries(.key |= ascii_upcase)",
];

const hasJq = spawnSync("jq", ["--version"]).status === 0;

describe("--jq", () => {
  // Compares with the jq program of the system; a machine without it skips this.
  test.skipIf(!hasJq).each(expressions)("prints the same as jq -rc %s", async (expression) => {
    const { stdout } = await shop("rows", ["--jq", expression]);
    const expected = spawnSync("jq", ["-rc", ` ${expression}`], { input: JSON.stringify(rows), encoding: "utf8" });
    expect(expected.stderr).toBe("");
    expect(stdout).toBe(expected.stdout);
  });

  test("prints strings raw and other results as JSON, one per line", async () => {
    expect(await shop("rows", ["--jq", ".[0] | .name, .price, .tags, null"])).toEqual({
      status: 0,
      stdout: 'Tea für 2 ☕\n4.5\n["a","b"]\nnull\n',
      stderr: "",
    });
    expect((await shop("one", ["--jq=.owner.email", "--json"])).stdout).toBe("ann@mail.example\n");
  });

  test("keeps the digits of large numbers, and empty results", async () => {
    expect((await shop("text", ["--jq", ".id"])).stdout).toBe("12345678901234567890123\n");
    expect((await shop("rows", ["--jq", ".[] | .name | select(length < 1)"])).stdout).toBe("\n");
    expect((await shop("rows", ["--jq", "empty"])).stdout).toBe("");
  });

  test("filters each line of NDJSON by itself", async () => {
    const ran = await shop("rows", ["--format", "ndjson", "--jq", "select(.id != 2) | .id"]);
    expect(ran).toEqual({ status: 0, stdout: "1\n3\n", stderr: "" });
    const failed = await shop("rows", ["--format", "ndjson", "--jq", '.tags[0] | ltrimstr("a") | tonumber']);
    expect(failed).toMatchObject({ status: 1, stdout: "" });
    const some = await shop("rows", ["--format", "ndjson", "--jq", ".id / (.id - 3)"]);
    expect(some).toMatchObject({ status: 1, stdout: "-0.5\n-2\n" });
  });

  test("indents JSON on a terminal", async () => {
    const { stream, text } = capture();
    await shop("one", ["--jq", ".tags, .name"], { io: { stdout: stream, isStdoutTerminal: true } });
    expect(text()).toBe('[\n  "a",\n  "b"\n]\nTea für 2 ☕\n');
  });

  test("hides personal data before the expression sees it", async () => {
    const { stdout } = await run(["shop", "one", "--jq", ".owner.email", "--redact"], {
      table,
      env: { STARPOST_HOME: makeFolder() },
    });
    expect(stdout).toMatch(/^person-[\da-f]{10}@redacted\.invalid\n$/);
  });

  test("filters what a failed command has printed", async () => {
    const ran = await shop("fail", ["--jq", ".id"]);
    expect(ran).toMatchObject({ status: 1, stdout: "9\n" });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { message: "no more rows" } });
    const both = await shop("fail", ["--jq", ".id.x"]);
    expect(JSON.parse(both.stderr)).toMatchObject({ error: { message: "no more rows" } });
  });

  test("reports a failing expression, after the results before it", async () => {
    const ran = await shop("rows", ["--jq", '.[] | if .id == 2 then error("two") else .id end']);
    expect(ran).toMatchObject({ status: 1, stdout: "1\n" });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind: "failed", message: "--jq: two" } });
  });

  test.each([[".["], ["missing"], [" "], ["-x"], ['include "x"; .']])(
    "refuses %j before the command runs",
    async (expression) => {
      const ran = await shop("text", ["--jq", expression]);
      expect(ran).toMatchObject({ status: 2, stdout: "" });
      expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind: "usage" } });
    },
  );

  test.each(["table", "csv"])("refuses --format %s", async (format) => {
    expect(await shop("one", ["--jq", ".", "--format", format])).toMatchObject({ status: 2, stdout: "" });
  });
});
