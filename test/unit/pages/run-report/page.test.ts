import { expect, it } from "vitest";
import { renderRunReport } from "../../../../src/pages/run-report/page.ts";
import { findFaults } from "../../../support/html.ts";
import { hostileTexts } from "../../../support/hostile-texts.ts";
import { sampleRunReport } from "../../../support/sample-run-report.ts";

const { timeline, summary } = sampleRunReport();

it("is valid HTML for any input", async () => {
  const nothing = { points: [], attempts: [], intervalMs: 1_000, hasPulses: false };
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
  expect(page).toContain("✓ Finished");
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
  const page = renderRunReport(sampleRunReport({ timeline: { ...timeline, points, hasPulses: false } }));
  expect(page).toContain("did not record retries");
  expect(page).not.toContain("No calls were retried");
});

it.each([
  [true, "finished", ["duplicate"]],
  [false, "finished", ["duplicate", "bad_email"]],
  [false, "stopped", ["duplicate"]],
] as const)("says that nothing needs to be done (%s): %s, %j", (isDone, state, codes) => {
  const reason = { column: "", rows: 1, means: null, hint: null, examples: [] };
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
