import { expect, it, describe, test } from "vitest";
import { formatReason, formatSentOrDue, formatWait } from "../../src/cli/commands/mail/email-format.ts";
import { describeRuns } from "../../src/cli/commands/unsubscribers/sync-run.ts";
import { describeCounts, describeKey, describeUndone } from "../../src/cli/commands/imports/undo-format.ts";
import { ListedRows, type UndoneRow } from "../../src/import/undo/undone-run.ts";
import { findTargetFlags, keepTarget } from "../../src/cli/program/output/suggested-commands.ts";
import { makeHomeWithDatabase, run } from "./support.ts";

const nowMs = Date.UTC(2026, 2, 15, 12);
const minuteMs = 60_000;

it.each([
  [-1, "now"],
  [0, "now"],
  [1, "in 1 min"],
  [59 * minuteMs, "in 59 min"],
  [60 * minuteMs, "in 1 h"],
  [23 * 60 * minuteMs, "in 23 h"],
  [24 * 60 * minuteMs, "in 1 day"],
  [13.5 * 24 * 60 * minuteMs, "in 14 days"],
])("formats %d ms as %s", (ms, text) => {
  expect(formatWait(nowMs + ms, nowMs)).toBe(text);
});

it("formats when an email was sent or is due", () => {
  const due_at = "2026-03-14T00:00:00.000Z";
  expect(formatSentOrDue({ due_at, sent_at: "2026-03-15T12:34:56.789Z" })).toBe("2026-03-15 12:34Z");
  expect(formatSentOrDue({ due_at, sent_at: null })).toBe("due 2026-03-14");
});

it("formats a reason on one line", () => {
  expect(formatReason("too_many_to_person")).toBe("too many to person");
  expect(formatReason("550 5.1.1\r\n  no such user")).toBe("550 5.1.1 no such user");
  expect(formatReason(null)).toBe("");
});

const counts = { reversed: 11, kept: 1, impossible: 0 };

describe("the result of an undo", () => {
  test.each([
    ["products", 11, "past", "11 rows were reverted, 1 kept, 0 cannot be reverted"],
    ["products", 1, "past", "1 row was reverted, 1 kept, 0 cannot be reverted"],
    ["coupons", 1, "would", "1 row would be reverted, 1 kept, 0 cannot be reverted"],
  ] as const)("states the counts for %s, %i reverted, %s", (kind, reversed, tense, text) => {
    expect(describeCounts({ kind, ...counts, reversed }, tense)).toBe(text);
  });

  test("states what an undo of orders does instead", () => {
    expect(describeCounts({ kind: "orders", ...counts }, "past")).toContain("new orders stay, without emails");
  });

  test("counts the rows that are not shown", () => {
    const found = {
      import_id: "20260101-000000-abcdef",
      kind: "products",
      state: "finished",
      ...counts,
      reversed: 40,
      kept: 0,
      rows: [],
      rows_file: "/home/undo.csv",
      rows_not_taken: 1,
      calls: 1,
      duration_ms: 1,
    } as const;
    const text = describeUndone({ ...found, rows: [] }).join("\n");
    for (const part of ["1 row ", "40 rows are not shown", "/home/undo.csv"]) expect(text).toContain(part);
  });

  test("formats the key of an address, and no other key", () => {
    expect(describeKey("unsubscribers", "1:u1@example.com")).toBe("u1@example.com (type 1)");
    expect(describeKey("orders", "1:2")).toBe("1:2");
  });

  test("lists the runs of a sync", () => {
    const summary = { sync_id: "20260101-000000-abcdef", imports: ["20260101-000001-abcdef"] };
    const all = summary as unknown as Parameters<typeof describeRuns>[0];
    expect(describeRuns(all)).toEqual([
      expect.stringContaining("20260101-000000-abcdef"),
      expect.stringContaining("imports show 20260101-000001-abcdef"),
      expect.stringContaining("imports undo 20260101-000001-abcdef"),
    ]);
    expect(describeRuns({ ...all, sync_id: null })).toEqual([]);
    expect(describeRuns({ ...all, imports: [] })).toEqual([]);
  });
});

describe("the listed rows of an undo", () => {
  const list = (outcomes: readonly UndoneRow["outcome"][]) => {
    const listed = new ListedRows({ maxListed: 3, listsExceptions: true });
    for (const [line, outcome] of outcomes.entries()) listed.add({ file: "f", line, key: "k", outcome, reason: "" });
    return listed.rows.map(({ line }) => line);
  };

  test("are all rows if they are few, or else only those that were not reverted", () => {
    expect(list(["reversed", "kept", "reversed"])).toEqual([0, 1, 2]);
    expect(list(["reversed", "kept", "reversed", "reversed"])).toEqual([1]);
    expect(list(["reversed", "reversed", "reversed", "reversed"])).toEqual([]);
  });
});

test.each([
  ["To continue, run: starpost imports resume 1", "To continue, run: starpost imports resume 1 --profile shop"],
  ["run: starpost orders import 'a; b.csv'; or not", "run: starpost orders import 'a; b.csv' --profile shop; or not"],
  [
    String.raw`run: starpost orders import 'a'\''s.csv' --x; or`,
    String.raw`run: starpost orders import 'a'\''s.csv' --x --profile shop; or`,
  ],
  [
    "Run `starpost orders import` or `starpost orders create`.",
    "Run `starpost orders import --profile shop` or `starpost orders create --profile shop`.",
  ],
  ["(run: starpost mail why <order_id>)", "(run: starpost mail why <order_id> --profile shop)"],
  ["Run: starpost mail why 1. Then wait.", "Run: starpost mail why 1 --profile shop. Then wait."],
])("adds the profile to %j", (text, expected) => {
  expect(keepTarget(text, { profile: "shop" })).toBe(expected);
});

test.each([
  "To sign in, run `starpost auth login --profile other`.",
  "Check the address of the service: starpost auth status.",
  "For details, run: starpost imports show 1",
  "run: starpost orders list --profile other",
  "a newer starpost created it",
])("leaves %j unchanged", (text) => {
  expect(keepTarget(text, { profile: "shop" })).toBe(text);
});

test("quotes the profile, and adds none without the flag", () => {
  const text = "run: starpost orders list";
  expect(keepTarget(text, { profile: "my shop" })).toBe(`${text} --profile 'my shop'`);
  expect(keepTarget(text, {})).toBe(text);
});

test.each([
  [["orders", "list", "--profile", "shop"], { profile: "shop" }],
  [["orders", "list", "--profile=shop", "--account", "k1"], { profile: "shop", account: "k1" }],
  [["-p", "shop", "orders", "--unknown"], { profile: "shop" }],
  [["orders", "list", "-yp", "shop"], { profile: "shop" }],
  [["orders", "list", "--account=k1"], { account: "k1" }],
  [["orders", "list", "--", "--profile", "shop"], {}],
  [["orders", "list", "--profile"], {}],
])("finds the profile and the account of %j", (argv, target) => {
  expect(findTargetFlags(argv)).toEqual({ profile: undefined, account: undefined, ...target });
});

test("adds the account, except to commands that name one themselves", () => {
  const text = "Run `starpost orders list`, `starpost account list`, or `starpost profile list`.";
  expect(keepTarget(text, { profile: "shop", account: "k1" })).toBe(
    "Run `starpost orders list --profile shop --account k1`, `starpost account list --profile shop`, " +
      "or `starpost profile list`.",
  );
});

test("adds no account to commands that work for all accounts", () => {
  const target = { profile: undefined, account: "k1" };
  const text = "Run `starpost serve`, `starpost mail run --once`, or `starpost account set-email-quota k2 5`.";
  expect(keepTarget(text, target)).toBe(text);
  expect(keepTarget("Run `starpost account set --name Tea`.", target)).toBe(
    "Run `starpost account set --name Tea --account k1`.",
  );
});

test.each([
  ["reviews hide 999", "starpost reviews list"],
  ["reviews get 999", "starpost reviews list"],
  ["reviews rules delete 9 --yes", "starpost reviews rules list"],
  ["questions answer 99 --content x", "starpost questions list"],
  ["questions delete-answer 99 --yes", "starpost questions list --json"],
  ["groups get none", "starpost groups list"],
  ["mail show 99", "starpost mail list"],
  ["webhooks delete 99 --yes", "starpost webhooks list"],
])("after %s, which finds nothing, the hint names the list", async (line, list) => {
  const env = { STARPOST_HOME: await makeHomeWithDatabase() };
  const { status, stderr } = await run([...line.split(" "), "--json"], { env });
  expect(status).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { hint: expect.stringContaining(`run \`${list}\`.`) as unknown } });
});
