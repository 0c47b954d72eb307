import { randomBytes } from "node:crypto";
import { expect, it, vi } from "vitest";
import { createLocalTransport } from "../../../../../src/engine/local-transport.ts";
import { createEmailQueue } from "../../../../../src/engine/emails/sending/email-queue.ts";
import { createSealer } from "../../../../../src/engine/kernel/sealer.ts";
import { SqliteFile } from "../../../../../src/storage/sqlite/sqlite-file.ts";
import { engines } from "../../../../support/backends.ts";
import { anOrder, bulkOrders } from "../../../../support/builders.ts";

it("finds emails using an index in every statement of a worker", async () => {
  const harness = await (engines.find(({ name }) => name === "local-sqlite") ?? expect.unreachable()).open();
  try {
    const { service } = await harness.newAccount();
    await service.orders.massCreate(bulkOrders([1, 2, 3, 4, 5].map((order_id) => anOrder({ order_id }))));
    await service.emails.sendTest({ email: "bea@mail.example" });
    const { work } = createLocalTransport({
      database: harness.database,
      clock: harness.clock,
      random: randomBytes,
      sealer: createSealer(randomBytes(32)),
      enforceLimits: false,
    });
    const ran = [vi.spyOn(SqliteFile.prototype, "run"), vi.spyOn(SqliteFile.prototype, "all")];
    const [one, other] = ["one", "other"].map((worker) => createEmailQueue(work, { worker, leaseMs: 1_000 }));
    if (!one || !other) throw new Error("there are no workers");
    const { emails } = await one.claim(10);
    const [a = 0, b = 0, c = 0, d = 0] = emails.map(({ email }) => email.id);
    await one.step([{ id: a, outcome: { state: "accepted", answer: "ok" } }], b);
    await one.step([{ id: b, outcome: { state: "deferred", answer: "later" } }], c);
    await one.step([{ id: c, outcome: { state: "unreachable" } }], d);
    await one.renew();
    harness.clock.advance(2_000);
    await other.claim(10);
    await other.step([{ id: d, outcome: { state: "bounced", answer: "no", isOfAddress: true } }]);
    await other.release();
    await one.nextDueAt();
    const calls = ran.flatMap(({ mock }) => mock.calls);
    vi.restoreAllMocks();
    const statements = new Map(calls.map(([sql, parameters = []]) => [sql, parameters]));
    const own = [...statements].filter(([sql]) => /^\s*(select|insert|update|delete|with)\b/i.test(sql));
    const file = new SqliteFile(harness.database.shownAs);
    const scans = own.flatMap(([sql, parameters]) => {
      const plan = file.all(`explain query plan ${sql}`, parameters).map(({ detail }) => String(detail));
      return plan
        .filter((step) => /^SCAN (?!jsonb_each|due_leases|due_queued|times|pending|CONSTANT|\d+-ROW VALUES)/.test(step))
        .map((step) => `${step}: ${sql}`);
    });
    file.close();
    expect(own.length).toBeGreaterThan(20);
    expect(scans).toEqual([]);
  } finally {
    await harness.close();
  }
});
