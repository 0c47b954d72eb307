import { describe, expect, it } from "vitest";
import { renderRunReport } from "../../../../src/pages/run-report/page.ts";
import type { RejectReason } from "../../../../src/import/report/reject-reasons.ts";
import type { RunReport } from "../../../../src/import/report/run-report.ts";
import { findFaults } from "../../../support/html.ts";
import { hostileTexts } from "../../../support/hostile-texts.ts";
import { sampleRunReport } from "../../../support/sample-run-report.ts";

const { timeline, summary } = sampleRunReport();

it("is valid HTML for any input", async () => {
  const nothing = { points: [], attempts: [], intervalMs: 1_000, hasHeartbeats: false };
  const rows = { read: 0, accepted: 0, rejected: 0, failed: 0 };
  const empty = sampleRunReport({
    summary: { ...summary, rows, state: "interrupted", rejects_file: null },
    reasons: [],
    timeline: nothing,
    ended_at: null,
    verified: null,
    undone: null,
  });
  for (const run of [sampleRunReport(), sampleRunReport({}, hostileTexts.join(" ")), empty]) {
    expect(await findFaults(renderRunReport(run))).toEqual([]);
  }
});

it("is self-contained, and its policy forbids everything", () => {
  const page = renderRunReport(sampleRunReport({}, `<script src="https://evil.example/x.js"></script>`));
  expect(page).toMatch(
    /http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[\w+/=]+';/,
  );
  expect(page).not.toMatch(/<(?:script|link|img|iframe|object)\b/i);
  expect(page).not.toMatch(/\s(?:style|on\w+)=/i);
  expect(page).not.toMatch(/url\(|@import/);
});

it("describes its charts in text", () => {
  const page = renderRunReport(sampleRunReport());
  expect(page.match(/<svg [^>]*role="img"/g)).toHaveLength(5);
  expect(page).toContain('<desc id="chart-throttled-desc">Total 4; maximum 2 at 2026-01-31 12:00:09 UTC.</desc>');
  expect(page).toContain("resumed 13:00:00");
  expect(page).toContain("killed or still running");
});

it("replaces empty charts with a sentence", () => {
  const calm = timeline.points.map((point) => ({ ...point, retried: 0, throttled: 0 }));
  const page = renderRunReport(sampleRunReport({ timeline: { ...timeline, points: calm } }));
  expect(page).not.toContain("chart-throttled");
  expect(page).toContain("No calls were retried. No calls were rate limited.");
});

it("states which values older versions did not record", () => {
  const points = timeline.points.map((point) => ({ ...point, retried: null, throttled: null, waits: null }));
  const page = renderRunReport(sampleRunReport({ timeline: { ...timeline, points, hasHeartbeats: false } }));
  expect(page).toContain("did not record retries");
  expect(page).not.toContain("No calls were retried");
});

it.each([
  [true, "finished", ["duplicate"]],
  [false, "finished", ["duplicate", "bad_email"]],
  [false, "stopped", ["duplicate"]],
] as const)("says that nothing needs to be done (%s): %s, %j", (isDone, state, codes) => {
  const reason = { message: null, column: "", rows: 1, means: null, hint: null, examples: [] };
  const page = renderRunReport(
    sampleRunReport({
      summary: { ...summary, state, rejects_file: "r.csv" },
      reasons: codes.map((code) => ({ ...reason, code })),
      rows_without_reason: 0,
    }),
  );
  expect(page.includes("already stored; nothing needs to be done")).toBe(isDone);
  expect(page.includes("Fix them")).toBe(!isDone);
});

/** The text of the verdict, and its tone. */
function verdictOf(page: string): { tone: string | undefined; text: string } {
  const [, tone, html = ""] = /<section class="verdict (\w+)"[^>]*>(.*?)<\/section>/s.exec(page) ?? [];
  return { tone, text: textOf(html) };
}

function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .trim();
}

type State = typeof summary.state;

const counts = (read: number, rejected = 0, failed = 0) => ({
  read,
  accepted: read - rejected - failed,
  rejected,
  failed,
});
const calm = { verified: null, undone: null, rows_without_reason: 0 };

describe("the verdict", () => {
  const judge = (rows: typeof summary.rows, state: State = "finished", more: Partial<RunReport> = {}) =>
    verdictOf(renderRunReport(sampleRunReport({ ...calm, summary: { ...summary, rows, state }, ...more })));

  it.each([
    [counts(8, 7), "bad", "7 of 8 rows were rejected (87.5%)"],
    [counts(8, 4), "bad", "4 of 8 rows were rejected (50%)"],
    [counts(8, 3), "warn", "3 of 8 rows were rejected (37.5%)"],
    [counts(8, 1), "warn", "1 of 8 rows was rejected"],
    [counts(8, 8), "bad", "All 8 rows were rejected The"],
    [counts(1, 1), "bad", "1 row was rejected The"],
    [counts(1, 0, 1), "bad", "1 row was not imported The"],
    [counts(1), "good", "1 row was accepted The"],
    [counts(8), "good", "All 8 rows were accepted The"],
    [counts(10_000, 0, 1), "bad", "1 of 10,000 rows was not imported (< 0.1%)"],
    [counts(10_000, 9_999), "bad", "9,999 of 10,000 rows were rejected (> 99.9%)"],
    [counts(1_000, 5, 6), "bad", "11 of 1,000 rows were not imported (5 rejected, 6 failed)"],
    [counts(8, 0, 8), "bad", "All 8 rows were not imported The"],
    [counts(0), "warn", "The files contain no rows"],
  ] as const)("%j is %s: %s", (rows, tone, text) => {
    const verdict = judge(rows);
    expect(verdict.tone).toBe(tone);
    expect(verdict.text).toContain(text);
    expect(verdict.text).toMatch(tone === "good" ? /^✓/ : tone === "warn" ? /^!/ : /^✗/);
  });

  it.each([
    ["interrupted", "warn", "Interrupted: all 8 rows were accepted", "imports resume 20260131-120000-a1b2c3"],
    ["running", "warn", "Running: all 8 rows were accepted", "imports resume 20260131-120000-a1b2c3"],
    ["stopped", "bad", "Stopped: all 8 rows", "imports resume 20260131-120000-a1b2c3 --max-errors 100%"],
    ["failed", "bad", "Failed: all 8 rows", "imports resume 20260131-120000-a1b2c3"],
  ] as const)("%s is %s, with the command that continues", (state, tone, text, command) => {
    const verdict = judge(counts(8), state);
    expect(verdict.tone).toBe(tone);
    expect(verdict.text).toContain(text);
    expect(verdict.text.endsWith(command)).toBe(true);
  });

  it("mentions a failed verification and an undo", () => {
    const { verified, undone } = sampleRunReport();
    const { text } = judge(counts(8), "finished", { verified, undone });
    expect(text).toContain("2 missing or different rows");
    expect(text).toContain("undone at 2026-01-31 13:01:35 UTC");
    expect(
      judge(counts(8), "finished", { verified: verified && { ...verified, missing_count: 0 } }).text,
    ).not.toContain("verification");
  });

  it("is no alarm if all rejected rows are stored already", () => {
    const reason = { message: null, column: "", rows: 8, means: null, hint: null, examples: [], code: "duplicate" };
    expect(judge(counts(8, 8), "finished", { reasons: [reason] }).tone).toBe("warn");
  });
});

describe("the title", () => {
  const titleWith = (...names: readonly string[]) => {
    const files = names.map((name) => ({ file: name, size_bytes: 1, sha256: "0", encoding: "utf-8", delimiter: "," }));
    const page = renderRunReport(sampleRunReport({ files }));
    const title = textOf(/<title>(.*?)<\/title>/s.exec(page)?.[1] ?? "");
    expect(textOf(/<h1>(.*?)<\/h1>/s.exec(page)?.[1] ?? "")).toBe(title);
    return title;
  };

  it.each([
    [["/data/exports/a.csv"], "Import of orders from a.csv"],
    [["-"], "Import of orders from standard input"],
    [["C:\\exports\\a.csv", "b.csv"], "Import of orders from a.csv, b.csv"],
    [["a", "b", "c", "d"], "Import of orders from a, b, c, d"],
    [["a", "b", "c", "d", "e"], "Import of orders from a, b, c and 2 more files"],
    [[], "Import of orders"],
  ] as const)("names the files: %j", (names, title) => {
    expect(titleWith(...names)).toBe(title);
  });

  it("shortens long names in the middle, without splitting characters", () => {
    expect(titleWith("n".repeat(48))).toHaveLength(22 + 48);
    const title = titleWith(`${"😀".repeat(40)}2026-01.csv`);
    expect(title).toContain("😀…😀");
    expect(title.endsWith("2026-01.csv")).toBe(true);
    expect(title.isWellFormed()).toBe(true);
  });
});

describe("the reasons", () => {
  const reasonOf = (at: number): RejectReason => ({
    code: "bad_email",
    message: null,
    column: `Email ${at}`,
    rows: 3,
    means: "not an email address",
    hint: "write it",
    examples: [{ file: "/data/a.csv", line: at, unit: "line", value: `value ${at}`, reason: "email has no @" }],
  });
  const pageWith = (reasons: readonly RejectReason[], rows = counts(100, 60)) =>
    renderRunReport(sampleRunReport({ ...calm, reasons, summary: { ...summary, rows } }));

  it("are all listed with their counts, however many there are", () => {
    const page = pageWith(Array.from({ length: 500 }, (_, at) => reasonOf(at)));
    for (let at = 0; at < 500; at++) expect(page).toContain(`<bdi>Email ${at}</bdi>`);
    expect(page.match(/<article class="reason">/g)).toHaveLength(10);
    expect(textOf(page)).toContain("490 more reasons");
    expect(page.match(/<tr><td class="number">3<\/td>/g)).toHaveLength(490);
  });

  it("state the share, the place, the value, and the fix", () => {
    const text = textOf(pageWith([reasonOf(1), reasonOf(2)]));
    expect(text).toContain("2 reasons, most frequent first.");
    expect(text).toContain("3 rows (5%): Email 1: not an email address bad_email · Write it. a.csv, line 1 value 1");
    expect(textOf(pageWith([reasonOf(1)]))).toContain("3 rows: Email 1");
  });

  it("prefer the service's message, and do not repeat it", () => {
    const message = "the product is archived";
    const text = textOf(
      pageWith([
        {
          ...reasonOf(1),
          message,
          column: "",
          examples: [{ file: null, line: 7, unit: "row", value: null, reason: message }],
        },
      ]),
    );
    expect(text.split(message)).toHaveLength(2);
    expect(text).toContain("row 7 entire row");
  });

  it("are absent if all rows were accepted", () => {
    expect(pageWith([], counts(8))).not.toContain("Why rows were rejected");
    expect(pageWith([], counts(8, 1))).toContain("Why rows were rejected");
  });
});

describe("a short run", () => {
  const short = (length: number) =>
    renderRunReport(sampleRunReport({ timeline: { ...timeline, points: timeline.points.slice(0, length) } }));

  it("has no charts with fewer than ten intervals", () => {
    expect(short(9)).not.toContain("<figure>");
    expect(textOf(short(9))).toContain("26,400 rows in 292 calls, within 1 min 0 s in 2 attempts");
    expect(short(10)).toContain("<figure>");
  });

  it("may have sent no calls", () => {
    const calls = { sent: 0, retried: 0, throttled: 0 };
    const page = renderRunReport(
      sampleRunReport({ summary: { ...summary, calls }, timeline: { ...timeline, points: [] } }),
    );
    expect(page).toContain("No calls were sent.");
  });
});
