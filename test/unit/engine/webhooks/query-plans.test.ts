import { expect, it, vi } from "vitest";
import type { AttemptOutcome } from "../../../../src/engine/webhooks/outcomes.ts";
import { createWebhookQueue } from "../../../../src/engine/webhooks/webhook-queue.ts";
import { SqliteFile } from "../../../../src/storage/sqlite/sqlite-file.ts";
import { engines } from "../../../support/backends.ts";
import { aReview } from "../../../support/builders.ts";

const outcomes: readonly AttemptOutcome[] = [
  { state: "failed", status: 500, problem: "HTTP 500", retryAfterMs: 60_000, durationMs: 1 },
  { state: "aborted", problem: "stopped", durationMs: 1 },
  { state: "delivered", status: 200, durationMs: 1 },
  { state: "gone", status: 410, durationMs: 1 },
];

it("finds deliveries using an index in every statement of a worker", async () => {
  const sqlite = engines.find(({ name }) => name === "local-sqlite");
  if (!sqlite) throw new Error("there is no SQLite backend");
  const harness = await sqlite.open();
  try {
    const { service } = await harness.newAccount();
    for (const event_name of ["review_create", "review_updated"] as const) {
      await service.webhooks.create({ url: "https://shop.example/", event_name });
    }
    for (let at = 0; at < 5; at += 1) await service.reviews.create(aReview());
    const ran = [vi.spyOn(SqliteFile.prototype, "run"), vi.spyOn(SqliteFile.prototype, "all")];
    const [lost, work] = ["lost", "found"].map((worker) =>
      createWebhookQueue(harness.work, { worker, leaseMs: 1_000 }),
    );
    expect(await lost?.begin(32)).toHaveLength(1);
    await lost?.renew();
    harness.clock.advance(1_000);
    for (const outcome of outcomes) {
      const [begun] = (await work?.begin(32)) ?? [];
      if (!begun) throw new Error("nothing is due");
      await work?.end(begun, outcome);
      harness.clock.advance(60_000);
    }
    expect(await work?.begin(32)).toEqual([]);
    expect(await work?.nextDueAt()).toBeUndefined();
    const statements = new Map(
      ran.flatMap(({ mock }) => mock.calls).map(([sql, parameters = []]) => [sql, parameters]),
    );
    vi.restoreAllMocks();
    const own = [...statements].filter(([sql]) => /^(select|insert|update|delete|with)\b/i.test(sql.trim()));
    const file = new SqliteFile(harness.database.shownAs);
    const steps = own.flatMap(([sql, parameters]) =>
      file.all(`explain query plan ${sql}`, parameters).map(({ detail }) => `${String(detail)}: ${sql}`),
    );
    file.close();
    expect(own.length).toBeGreaterThan(15);
    // Only limited results of other searches are scanned.
    const scans = steps.filter((step) => /^SCAN (?!times|pending|jsonb_each|CONSTANT)/.test(step));
    expect(scans).toEqual([]);
    const sorted = steps.filter((step) => step.includes("TEMP B-TREE") && !/from webhooks cross join/.test(step));
    expect(sorted).toEqual([]);
  } finally {
    await harness.close();
  }
});
