import type { RunReport } from "../../src/import/report/run-report.ts";

const startedMs = Date.parse("2026-01-31T12:00:00.000Z");
const resumedMs = startedMs + 3_600_000;

/** Returns a run with rejects, a resume, repeats, a limit, a verification, and an undo. */
export function sampleRunReport(more: Partial<RunReport> = {}, text = "Tea & Cups"): RunReport {
  const pointOf = (from: number) => (at: number) => ({
    at: from + at * 1_000,
    rows: 400 + ((at * 37) % 90),
    calls: at === 9 ? 1 : 5,
    retried: at % 7 === 0 ? 1 : 0,
    throttled: at === 9 ? 2 : 0,
    waits: { pace: 800, throttled: at === 9 ? 4_000 : 0, retry: 0 },
  });
  const seconds = Array.from({ length: 30 }, (_, at) => at);
  return {
    summary: {
      import_id: "20260131-120000-a1b2c3",
      kind: "orders",
      files: [],
      state: "finished",
      rows: { read: 26_400, accepted: 26_180, rejected: 212, failed: 8 },
      items: { sent: 20_312, rejected: 212, accepted: 20_100, created: 19_000, changed: 100, unchanged: 1_000 },
      calls: { sent: 292, retried: 10, throttled: 4 },
      started_at: new Date(startedMs).toISOString(),
      duration_ms: 60_000,
      fixed_ids_file: `/home/${text}/imports/20260131-120000-a1b2c3/fixed-ids.csv`,
      rejects_file: `/home/${text}/imports/20260131-120000-a1b2c3/rejects.csv`,
    },
    profile: text,
    target: `https://api.example.com ${text}`,
    version: "0.1.0",
    ended_at: new Date(resumedMs + 30_000).toISOString(),
    options: { "--rate": "5", "--map": `email=${text}` },
    files: [
      {
        file: `${text}.csv`,
        size_bytes: 6_412_553,
        sha256: "4762b9352a13b0d79bee4e64590dc13b".repeat(2),
        encoding: "utf-8",
        delimiter: ",",
      },
      { file: "-", size_bytes: 12, sha256: "0".repeat(64), encoding: text, delimiter: "," },
    ],
    reasons: [
      {
        code: "bad_email",
        message: null,
        column: text,
        rows: 200,
        means: "not an email address",
        hint: "write it as name@shop.example",
        examples: [
          { file: text, line: 17, unit: "line", value: text, reason: `email has no @: ${text}` },
          { file: text, line: 1_802, unit: "line", value: "", reason: "email is empty" },
        ],
      },
      {
        code: text,
        message: text,
        column: "",
        rows: 20,
        means: null,
        hint: null,
        examples: [{ file: null, line: 3, unit: "line", value: null, reason: text }],
      },
    ],
    rows_without_reason: 0,
    notices: [`2 products have several names: ${text} (1; 2)`, text],
    fixed_ids: { count: 1_234, examples: [[text, "Tea-Cups-em3r5atddd"]] },
    timeline: {
      intervalMs: 1_000,
      points: [...seconds.map(pointOf(startedMs)), ...seconds.map(pointOf(resumedMs))],
      attempts: [
        { from: startedMs, to: startedMs + 30_000, rows: 13_200, isEnded: false },
        { from: resumedMs, to: resumedMs + 30_000, rows: 13_200, isEnded: true },
      ],
      hasHeartbeats: true,
    },
    verified: {
      at: new Date(resumedMs + 60_000).toISOString(),
      checked: { rows: 26_180 },
      missing_count: 2,
    } as RunReport["verified"],
    undone: {
      state: "finished",
      started_at: new Date(resumedMs + 90_000).toISOString(),
      finished_at: new Date(resumedMs + 95_000).toISOString(),
      reversed: 26_000,
      kept: 100,
      impossible: 80,
    },
    ...more,
  };
}
