import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, expect, it, vi } from "vitest";
import { engines, type Harness } from "../../../support/backends.ts";
import { aReview } from "../../../support/builders.ts";

const postgres = engines.find(({ name }) => name === "local-postgres");
let harness: Harness | undefined;

afterEach(async () => {
  vi.restoreAllMocks();
  await harness?.close();
  harness = undefined;
});

/**
 * Counts statements that are sent when the answers to all earlier ones have arrived, each of which starts a round trip, on
 * connections that are opened from now on.
 */
function countWaits(): (work: () => Promise<unknown>) => Promise<number> {
  const open = new Map<unknown, number>();
  // oxlint-disable-next-line typescript/unbound-method -- It is called with the client.
  const original: (...sent: never[]) => unknown = Client.prototype.query;
  let waits = 0;
  vi.spyOn(Client.prototype, "query").mockImplementation(function (this: Client, ...sent: unknown[]) {
    const pending = open.get(this) ?? 0;
    if (pending === 0) waits += 1;
    open.set(this, pending + 1);
    const answered = () => void open.set(this, (open.get(this) ?? 1) - 1);
    const result = original.apply(this, sent as never[]);
    void (result as Promise<unknown>).then(answered, answered);
    return result as never;
  });
  return async (work) => {
    const before = waits;
    await work();
    // The end of a transaction is sent without waiting for it.
    await setTimeout(20);
    return waits - before;
  };
}

it.skipIf(!postgres)(
  "reads storefront data in one round trip, besides authentication and the end of the transaction",
  async () => {
    const waitsOf = countWaits();
    harness = await postgres?.open();
    if (!harness) throw new Error("there is no PostgreSQL backend");
    const { service } = await harness.newAccount();
    await service.reviews.createNow(aReview());
    const calls = {
      widget: () => service.reviews.widget({ product_id: "teapot" }),
      siteWidget: () => service.reviews.siteWidget({}),
      bottomLine: () => service.reviews.bottomLine({ product_id: "teapot" }),
      top: () => service.reviews.top({}),
      questions: () => service.questions.list({ sku: "teapot" }),
      questionTotals: () => service.questions.bottomLine({ sku: "teapot" }),
    };
    // Opens connections and loads handlers.
    for (const call of Object.values(calls)) await call();
    await service.reviews.createNow(aReview());
    const waits: Record<string, number> = {};
    for (const [name, call] of Object.entries(calls)) waits[name] = await waitsOf(call);
    expect(waits).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, 3])));
  },
);
