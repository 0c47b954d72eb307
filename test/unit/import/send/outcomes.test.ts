import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ItemOutcome, orderConflictText, ServiceError } from "../../../../src/contract/index.ts";
import { Journal } from "../../../../src/import/run/journal.ts";
import { RunTally } from "../../../../src/import/run/tally.ts";
import type { Chunk } from "../../../../src/import/send/chunks.ts";
import type { CallOptions, Transport } from "../../../../src/service/transport.ts";
import { valuesIn } from "../../../support/recorded-import.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { createSender, createTally, productItemOf } from "../../../support/senders.ts";

const folder = useTemporaryFolder();

interface Sent {
  readonly products: Readonly<Record<string, { readonly name: string }>>;
}

/** How a call ends: `lost` takes effect without a response, `killed` ends the process before a response. */
type Fate = "works" | "lost" | "refused" | "killed";

/** A service that stores the names of products, and honors idempotency keys if asked to. */
class Store {
  readonly names = new Map<string, string>();
  readonly #results = new Map<string, unknown>();
  readonly #fates: Fate[];
  readonly #honorsKeys: boolean;
  readonly #report: (outcome: ItemOutcome) => ItemOutcome | undefined;
  calls = 0;
  onKill = () => {};

  constructor(
    fates: readonly Fate[] = [],
    {
      honorsKeys = false,
      report = (outcome) => outcome,
    }: { honorsKeys?: boolean; report?: (outcome: ItemOutcome) => ItemOutcome | undefined } = {},
  ) {
    this.#fates = [...fates];
    this.#honorsKeys = honorsKeys;
    this.#report = report;
  }

  readonly call: Transport["call"] = async (operation, input, _caller, options) => {
    if (operation === "orders.list") return { purchases: [], total_purchases: 0 } as never;
    return (await this.#call(input as never, options)) as never;
  };

  async #call({ products }: Sent, { idempotencyKey: key, onEvent }: CallOptions = {}): Promise<unknown> {
    this.calls++;
    const fate = this.#fates.shift() ?? "works";
    if (fate === "refused") throw new ServiceError("invalidParams", "no");
    if (key !== undefined && this.#honorsKeys) onEvent?.({ type: "idempotency", isReplay: this.#results.has(key) });
    const result = this.#results.get(key ?? "") ?? this.#store(products);
    if (key !== undefined && this.#honorsKeys) this.#results.set(key, result);
    if (fate === "lost") throw new ServiceError("timeout", "no response", { outcomeUnknown: true });
    if (fate === "killed") {
      this.onKill();
      return new Promise(() => {});
    }
    return result;
  }

  #store(products: Sent["products"]): unknown {
    const outcomes = Object.entries(products).map(([product_id, { name }]) => {
      const before = this.names.get(product_id);
      this.names.set(product_id, name);
      const outcome = before === undefined ? "created" : before === name ? "unchanged" : "changed";
      return this.#report({ product_id, outcome, ...(outcome === "changed" && { fields: ["name"] }) });
    });
    return outcomes.includes(undefined) ? {} : { outcomes };
  }
}

/** One chunk per list of products. */
function chunksOf(...lists: (readonly (readonly [id: string, name: string])[])[]): Chunk[] {
  let line = 2;
  return lists.map((list, n) => {
    const items = list.map(([key, name]) => productItemOf(key, name, line++));
    return { n, items, extent: `${n}` };
  });
}

let runs = 0;
const newPath = () => join(folder, `journal-${runs++}.ndjson`);

interface Attempt {
  readonly path?: string;
  /** Whether the kind's calls have idempotency keys. */
  readonly isKeyed?: boolean;
}

async function attempt(store: Store, chunks: readonly Chunk[], { path = newPath(), isKeyed = false }: Attempt = {}) {
  const products = kinds.get("products");
  const tally = createTally("p.csv");
  const { sender } = createSender(path, store.call, {
    behavior: { ...products.prepare({ dryRun: false, map: {} }), ...(isKeyed && { keyedBy: "run" as const }) },
    keepsOrder: true,
    tally,
  });
  const killed = new Promise<void>((resolve) => (store.onKill = resolve));
  const sending = (async () => {
    for (const chunk of chunks) await sender.submit(chunk);
    await sender.drain();
  })();
  await Promise.race([sending, killed]);
  const notices = [...tally.notices(products.itemName)].flatMap((event) =>
    event.type === "notice" ? [event.message] : [],
  );
  return { items: tally.totals.items, notices, failure: sender.failure, path };
}

const first = [
  ["a", "one"],
  ["b", "two"],
] as const;

describe("the outcomes of an import", () => {
  test("count created, changed, and unchanged items, and changed fields", async () => {
    const store = new Store();
    store.names.set("a", "old");
    store.names.set("c", "three");
    const { items, notices } = await attempt(store, chunksOf(first, [["c", "three"]]));
    expect(items).toEqual({ sent: 3, accepted: 3, rejected: 0, created: 1, changed: 1, unchanged: 1 });
    expect(notices).toEqual(["1 product changed: name (1)"]);
  });

  test("are null if the service does not report one of them", async () => {
    const silent = (outcome: ItemOutcome) => (outcome.product_id === "c" ? undefined : outcome);
    const { items } = await attempt(new Store([], { report: silent }), chunksOf(first, [["c", "three"]]));
    expect(items).toEqual({ sent: 3, accepted: 3, rejected: 0, created: null, changed: null, unchanged: null });
  });

  test("reject what the service dropped without listing an error", async () => {
    const error = { field: "email", error: orderConflictText };
    const drop = (found: ItemOutcome): ItemOutcome =>
      found.product_id === "a" ? { product_id: "a", outcome: "dropped", dropped: [error] } : found;
    const { items } = await attempt(new Store([], { report: drop }), chunksOf(first));
    expect(items).toEqual({ sent: 2, accepted: 1, rejected: 1, created: 1, changed: 0, unchanged: 0 });
  });

  test("list the values of accepted items that were not stored", async () => {
    const error = { field: "price", error: "no" };
    const drop = (found: ItemOutcome): ItemOutcome =>
      found.product_id === "b" ? { ...found, dropped: [error] } : found;
    const { items, notices } = await attempt(new Store([], { report: drop }), chunksOf(first));
    expect(items).toEqual({ sent: 2, accepted: 2, rejected: 0, created: 2, changed: 0, unchanged: 0 });
    expect(notices.map((message) => valuesIn(message, ""))).toEqual(['1 p.csv:3:price  "b"']);
  });

  test("report what a lost call may have created, if the service repeats it", async () => {
    // A call of several items without a response is sent again in parts.
    const { items, notices } = await attempt(new Store(["lost"]), chunksOf(first));
    expect(items).toMatchObject({ accepted: 2, created: 0, unchanged: 2, unchanged_on_repeat: 2 });
    expect(notices).toHaveLength(1);
  });

  test("are those of each part of a refused call", async () => {
    const store = new Store(["refused"]);
    store.names.set("b", "two");
    const { items } = await attempt(store, chunksOf(first));
    expect(store.calls).toBe(3);
    expect(items).toEqual({ sent: 2, accepted: 2, rejected: 0, created: 1, changed: 0, unchanged: 1 });
  });

  test("survive a resume", async () => {
    const store = new Store(["works", "killed"]);
    store.names.set("a", "old");
    const chunks = chunksOf(first, [["c", "three"]]);
    const { path } = await attempt(store, chunks);
    const { items, notices } = await attempt(store, chunks, { path });
    expect(items).toMatchObject({ accepted: 3, created: 1, changed: 1, unchanged: 1, unchanged_on_repeat: 1 });
    expect(notices[0]).toBe("1 product changed: name (1)");
  });

  test("are certain after a kill if the service honors the key of the call", async () => {
    const store = new Store(["works", "killed"], { honorsKeys: true });
    const chunks = chunksOf(first, [["c", "three"]]);
    const { path } = await attempt(store, chunks, { isKeyed: true });
    const { items } = await attempt(store, chunks, { path, isKeyed: true });
    expect(items).toEqual({ sent: 3, accepted: 3, rejected: 0, created: 3, changed: 0, unchanged: 0 });
  });

  test("are those of the first call if a resume repeats a chunk so that its values win", async () => {
    const store = new Store(["killed"]);
    const chunks = chunksOf([["a", "first"]], [["a", "last"]]);
    const { path } = await attempt(store, chunks);
    // The second chunk was answered before the first: as if both had been in flight.
    store.names.set("a", "last");
    const done = { t: "done" as const, n: 1, problems: [], calls: { sent: 1, retried: 0, throttled: 0 }, at: 0 };
    const journal = new Journal(path, () => 0);
    journal.append({ t: "send", n: 1, items: 1, extent: "1" });
    journal.append({ ...done, outcomes: { codes: "c" }, totals: new RunTally([], undefined).totals });
    await journal.close();
    const { items } = await attempt(store, chunks, { path });
    expect(store.names.get("a")).toBe("last");
    expect(items).toMatchObject({ accepted: 2, created: 1, changed: 1, unchanged: 0 });
  });

  test("of a run that an older version began are null", async () => {
    const path = newPath();
    const journal = new Journal(path, () => 0);
    journal.append({ t: "send", n: 0, items: 2, extent: "0" });
    const { totals } = new RunTally([], undefined);
    journal.append({ t: "done", n: 0, problems: [], calls: { sent: 1, retried: 0, throttled: 0 }, at: 0, totals });
    await journal.close();
    const { items } = await attempt(new Store(), chunksOf(first, [["c", "three"]]), { path });
    expect(items).toMatchObject({ accepted: 3, created: null, changed: null, unchanged: null });
  });
});
