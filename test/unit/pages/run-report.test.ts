import { expect, it } from "vitest";
import { renderRunReport } from "../../../src/pages/run-report/page.ts";
import { findFaults } from "../../support/html.ts";
import { hostileTexts } from "../../support/hostile-texts.ts";
import { reportedRun } from "../../support/reported-run.ts";

const { timeline, summary } = reportedRun();

it("is valid HTML, whatever a run brought", async () => {
  const nothing = { points: [], attempts: [], intervalMs: 1_000, hasPulses: false };
  const rows = { read: 0, accepted: 0, rejected: 0, failed: 0 };
  const empty = reportedRun({
    summary: { ...summary, rows, state: "interrupted", rejects_file: null },
    reasons: [],
    timeline: nothing,
    ended_at: null,
    verified: null,
    undone: null,
  });
  for (const run of [reportedRun(), reportedRun({}, hostileTexts.join(" ")), empty]) {
    expect(await findFaults(renderRunReport(run))).toEqual([]);
  }
});

it("needs nothing beside itself, and may do nothing", () => {
  const page = renderRunReport(reportedRun({}, `<script src="https://evil.example/x.js"></script>`));
  expect(page).toMatch(
    /http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[\w+/=]+';/,
  );
  expect(page).not.toMatch(/<(?:script|link|img|iframe|object)\b/i);
  expect(page).not.toMatch(/\s(?:style|on\w+)=/i);
  expect(page).not.toMatch(/url\(|@import/);
});

it("tells in words and numbers what it draws", () => {
  const page = renderRunReport(reportedRun());
  expect(page.match(/<svg [^>]*role="img"/g)).toHaveLength(5);
  expect(page).toContain(
    '<desc id="plot-throttled-desc">4 in all; the most, 2, at 2026-01-31 12:00:09 UTC.</desc>',
  );
  expect(page).toContain("resumed 13:00:00");
  expect(page).toContain("✓ Finished");
  expect(page).toContain("killed, or still running");
});

it("draws nothing of what did not happen, and says so", () => {
  const calm = timeline.points.map((point) => ({ ...point, retried: 0, throttled: 0 }));
  const page = renderRunReport(reportedRun({ timeline: { ...timeline, points: calm } }));
  expect(page).not.toContain("plot-throttled");
  expect(page).toContain("No call was repeated. No limit of the service held anything back.");
});

it("says of a run of before what is not known", () => {
  const points = timeline.points.map((point) => ({ ...point, retried: null, throttled: null, waits: null }));
  const page = renderRunReport(reportedRun({ timeline: { ...timeline, points, hasPulses: false } }));
  expect(page).toContain("wrote down neither when calls were repeated or held back");
  expect(page).not.toContain("No call was repeated");
});
