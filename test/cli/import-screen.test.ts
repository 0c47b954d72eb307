import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { describeEnd, describeTarget } from "../../src/cli/commands/records/import-format.ts";
import { flattenSummary, statusOfImport, tableOfRuns } from "../../src/cli/commands/records/import-view.ts";
import type { RejectReason } from "../../src/import/events.ts";
import { listenForStop } from "../../src/cli/program/stop-signals.ts";
import type { Paint } from "../../src/terminal/colors.ts";
import type { ImportSummary, RunState } from "../../src/import/summary.ts";
import { formatDuration } from "../../src/terminal/plural.ts";

const summary: ImportSummary = {
  import_id: "20260101-000000-abcdef",
  kind: "orders",
  files: ["orders.csv", "-"],
  state: "finished",
  rows: { read: 8_365, accepted: 8_360, rejected: 5, failed: 0 },
  items: { sent: 7_360, accepted: 7_357, rejected: 3, created: 7_000, changed: 57, unchanged: 300 },
  calls: { sent: 40, retried: 3, throttled: 1 },
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 12_345,
  rejects_file: "/home/imports/1/rejects.csv",
};

const clean = { read: 10, accepted: 10, rejected: 0, failed: 0 };

describe("the exit status of an import", () => {
  test.each<[RunState, Partial<ImportSummary["rows"]>, number]>([
    ["finished", {}, 0],
    ["finished", { rejected: 1 }, 3],
    ["finished", { failed: 1 }, 1],
    ["finished", { rejected: 1, failed: 1 }, 1],
    ["stopped", { rejected: 1 }, 6],
    ["interrupted", {}, 130],
    ["interrupted", { rejected: 1 }, 130],
    ["failed", {}, 1],
    ["running", {}, 1],
  ])("that is %s with %j is %i", (state, rows, status) => {
    expect(statusOfImport({ ...summary, state, rows: { ...clean, ...rows } })).toBe(status);
  });
});

describe("the end summary of an import", () => {
  const path = "/home/starpost.db";
  const target = describeTarget({ name: "local", isLive: false, mode: "local", database: path, shownAs: path });
  const reject: RejectReason = {
    code: "bad_email",
    count: 5,
    column: "email",
    reason: "has no @",
    hint: "write it as name@shop.example",
    file: "orders.csv",
    line: 4,
    place: "orders.csv:4",
    value: "bo.mail.example",
  };
  const end = (changes: Partial<ImportSummary>, rejects = [reject]) =>
    describeEnd({ ...summary, ...changes }, { target, waitedMs: 2_000, rejects }).join("\n");

  test("states the counts, the reject reasons, the reject file, and how to see details", () => {
    expect(end({})).toBe(
      [
        "Imported 8,360 of 8,365 rows of orders from orders.csv, standard input into the embedded database (/home/starpost.db)",
        "  rows      8,365 read, 8,360 accepted, 5 rejected, 0 failed",
        "  sent      7,360 orders in 40 calls (12 s, 2.0 s of it waiting, 3 retried, 1 rate limited)",
        "  stored    7,000 created, 57 changed, 300 unchanged",
        '  rejected  5 rows: email has no @ (orders.csv:4: "bo.mail.example"); write it as name@shop.example',
        "Rejected rows: /home/imports/1/rejects.csv. Fix them and import that file.",
        "For details, run: starpost imports show 20260101-000000-abcdef",
      ].join("\n"),
    );
  });

  test.each<[boolean, string, Partial<ImportSummary>, RejectReason[]]>([
    [true, "only duplicates", {}, [{ ...reject, code: "duplicate" }]],
    [
      false,
      "another reject",
      {},
      [
        { ...reject, code: "duplicate", count: 4 },
        { ...reject, count: 1 },
      ],
    ],
    [false, "a failed row", { rows: { ...clean, rejected: 5, failed: 1 } }, [{ ...reject, code: "duplicate" }]],
    [false, "a stopped run", { state: "stopped" }, [{ ...reject, code: "duplicate" }]],
    [false, "a dry run", { import_id: null }, [{ ...reject, code: "duplicate" }]],
  ])("says that nothing needs to be done (%s): %s", (isDone, _name, changes, rejects) => {
    const text = end(changes, rejects);
    expect(text).toContain("/home/imports/1/rejects.csv");
    expect(text.includes("already stored; nothing needs to be done")).toBe(isDone);
    expect(/Fix them|write it as/.test(text)).toBe(!isDone);
  });

  const paint = Object.fromEntries(
    ["bold", "dim", "red", "green", "yellow"].map((tone) => [tone, (text: string) => `<${tone}>${text}`]),
  ) as unknown as Paint;
  const rowsOf = (read: number, rejected: number, failed = 0) => ({
    read,
    accepted: read - rejected - failed,
    rejected,
    failed,
  });

  test.each<[string, RunState, ImportSummary["rows"]]>([
    ["<green>Imported orders from", "finished", rowsOf(8, 0)],
    ["<green>Imported orders from", "finished", rowsOf(0, 0)],
    ["<yellow>Imported 5 of 8 rows of orders", "finished", rowsOf(8, 3)],
    ["<red>Imported 4 of 8 rows of orders", "finished", rowsOf(8, 4)],
    ["<red>Imported 0 of 8 rows of orders", "finished", rowsOf(8, 8)],
    ["<red>Imported 0 of 1 row of orders", "finished", rowsOf(1, 1)],
    ["<red>Imported 7 of 8 rows of orders", "finished", rowsOf(8, 0, 1)],
    ["<yellow>Interrupted", "interrupted", rowsOf(8, 8)],
    ["<yellow>Stopped", "stopped", rowsOf(8, 8)],
    ["<red>Failed", "failed", rowsOf(8, 0)],
  ])("begins with %s: %s, %j", (start, state, rows) => {
    const [first] = describeEnd({ ...summary, state, rows }, { target, waitedMs: 0, rejects: [reject], paint });
    expect(first?.startsWith(start)).toBe(true);
    const view = tableOfRuns([{ ...summary, state, rows }]);
    expect(view.tones?.["state"]?.(state, view.rows[0] ?? {})).toBe(/^<(\w+)>/.exec(start)?.[1]);
  });

  test("is no alarm if the rejected rows are stored already", () => {
    const rejects = [{ ...reject, code: "duplicate", count: 8 }];
    const [first] = describeEnd({ ...summary, rows: rowsOf(8, 8) }, { target, waitedMs: 0, rejects, paint });
    expect(first).toMatch(/^<yellow>Imported 0 of 8 rows/);
  });

  test("lists the most frequent reasons, and counts the others", () => {
    const reasons = Array.from({ length: 14 }, (_, at) => ({ ...reject, column: `column-${at}` }));
    const text = end({}, reasons);
    expect(text.match(/column-/g)).toHaveLength(10);
    expect(text).toContain("and 4 more reasons");
  });

  test.each<RunState>(["interrupted", "stopped", "failed"])("names the command to continue after %s", (state) => {
    expect(end({ state })).toContain("starpost imports resume 20260101-000000-abcdef");
  });

  test("of a dry run names no import", () => {
    const text = end({ import_id: null, rejects_file: null }, []);
    expect(text).toContain("7,360 orders");
    expect(text).not.toMatch(/resume|  sent|imports show/);
  });

  test("names the account that was written to", () => {
    const remote = {
      name: "shop",
      isLive: false,
      mode: "remote",
      baseUrl: "https://a.example",
      appKey: "k",
      readSecret: async () => "s",
      tokenMark: "s",
    } as const;
    expect(describeTarget(remote)).toBe("https://a.example, account k (profile shop)");
  });
});

describe("formatDuration", () => {
  test.each([
    [0, "0.0 s"],
    [400, "0.4 s"],
    [59_600, "1 min 00 s"],
    [185_000, "3 min 05 s"],
    [7_800_000, "2 h 10 min"],
    [172_799_000, "47 h 59 min"],
    [606_300_000, "7 days"],
  ])("formats %i ms as %s", (ms, words) => {
    expect(formatDuration(ms)).toBe(words);
  });
});

test("a run is one flat record and one line of the list", () => {
  expect(flattenSummary(summary)).toMatchObject({ rows_read: 8_365, files: "orders.csv -", calls_retried: 3 });
  expect(tableOfRuns([summary]).rows).toMatchObject([{ id: summary.import_id, state: "finished", rows: 8_365 }]);
  const ofSync = { ...summary, files: ["/home/imports/20260101-000000-0a1b2c/removed.csv"] };
  expect(tableOfRuns([ofSync]).rows).toMatchObject([{ files: "sync 20260101-000000-0a1b2c (removed)" }]);
});

describe("signals", () => {
  test("stop gracefully at first, immediately the second time, and then end the process", async () => {
    const signals = new EventEmitter();
    let messageCount = 0;
    const exits: unknown[] = [];
    const exit = (status: number) => void exits.push(status);
    const onExit = () => void exits.push("reported");
    const { stop, abort } = listenForStop({ signals, exit }, { onStop: () => (messageCount += 1), onExit });
    expect([stop.aborted, abort.aborted]).toEqual([false, false]);
    signals.emit("SIGINT");
    expect([stop.aborted, abort.aborted, messageCount]).toEqual([true, false, 1]);
    signals.emit("SIGTERM");
    expect([abort.aborted, messageCount]).toEqual([true, 1]);
    signals.emit("SIGINT");
    await new Promise(setImmediate);
    expect(exits).toEqual(["reported", 130]);
  });
});
