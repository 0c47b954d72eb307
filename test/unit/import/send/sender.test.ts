import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { couponErrorTexts, ServiceError } from "../../../../src/contract/index.ts";
import { RunTally } from "../../../../src/import/run/tally.ts";
import type { Chunk } from "../../../../src/import/send/chunks.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { readJournal, settle } from "../../../../src/import/run/journal.ts";
import type { KeyStore } from "../../../../src/import/run/key-store.ts";
import { createDrySender, type SendingDeps } from "../../../../src/import/send/sender.ts";
import type { Transport } from "../../../../src/service/transport.ts";
import { countRuns } from "../../../support/suite-size.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { createSender, createTally, itemOf, serviceOf } from "../../../support/senders.ts";

const folder = useTemporaryFolder();

/** What happens to a call: it fails before or after taking effect, or the process is killed before or after it. */
type Fate = "works" | "refusedBefore" | "lostBefore" | "lostAfter" | "killedBefore" | "killedAfter";

const killed = new Promise<never>(() => {});
const category = (error_count: number) => ({ error_text: couponErrorTexts.duplicate_code, error_count });

/** Simulates a store's coupons and a sequence of outcomes for uploads. */
class CouponStore {
  readonly held = new Set<string>();
  readonly #fates: Fate[];
  readonly #poison: ReadonlySet<string>;
  /** Codes that were sent although they had been stored before. */
  readonly sentAgain: string[] = [];
  uploads = 0;
  lists = 0;
  readonly #honorsKeys: boolean;
  /** The results of uploads by idempotency key. */
  readonly results = new Map<string, { readonly codes: string; readonly result: unknown }>();
  #onKill = () => {};

  constructor(fates: readonly Fate[], poison: ReadonlySet<string> = new Set(), honorsKeys = false) {
    this.#fates = [...fates];
    this.#poison = poison;
    this.#honorsKeys = honorsKeys;
  }

  /** Resolves when the sending process is killed. */
  untilKilled(): Promise<void> {
    return new Promise((resolve) => (this.#onKill = resolve));
  }

  readonly call: Transport["call"] = async (operation, input, _caller, { idempotencyKey, onEvent } = {}) => {
    if (operation === "coupons.list") {
      this.lists++;
      return { coupons: [...this.held].map((code) => ({ code })) } as never;
    }
    if (operation !== "coupons.upload") throw new Error(`unexpected call of ${operation}`);
    this.uploads++;
    const key = this.#honorsKeys ? idempotencyKey : undefined;
    const { result, isReplay } = await this.#upload((input as { codes: string[] }).codes, key);
    if (key !== undefined) onEvent?.({ type: "idempotency", isReplay });
    return result as never;
  };

  async #upload(codes: readonly string[], key: string | undefined): Promise<{ result: unknown; isReplay: boolean }> {
    const fate = this.#fates.shift() ?? "works";
    if (fate === "refusedBefore") throw new ServiceError("unavailable", "nothing answers there");
    if (fate === "lostBefore") throw new ServiceError("unavailable", "broke off", { outcomeUnknown: true });
    if (fate === "killedBefore") return this.#kill();
    const first = key === undefined ? undefined : this.results.get(key);
    if (first && first.codes !== codes.join()) throw new ServiceError("invalidIdempotencyKey", "another input");
    const result = first?.result ?? this.#store(codes);
    if (key !== undefined) this.results.set(key, { codes: codes.join(), result });
    if (fate === "killedAfter") return this.#kill();
    if (fate === "lostAfter") throw new ServiceError("timeout", "no answer", { outcomeUnknown: true });
    return { result, isReplay: first !== undefined };
  }

  #store(codes: readonly string[]): unknown {
    if (codes.some((code) => this.#poison.has(code))) throw new ServiceError("invalidParams", "no");
    const fresh = codes.filter((code) => !this.held.has(code));
    this.sentAgain.push(...codes.filter((code) => this.held.has(code)));
    for (const code of codes) this.held.add(code);
    const errors = { empty_cell: category(0), code_length: category(0) };
    const duplicate_code = category(codes.length - fresh.length);
    return { total_codes: codes.length, errors: { ...errors, duplicate_code }, "new-codes": fresh.length };
  }

  #kill(): Promise<never> {
    this.#onKill();
    return killed;
  }
}

function chunksOf(codes: readonly string[], size: number): Chunk[] {
  const items = codes.map((code, at) => itemOf(code, at + 2, { code, action: "map_review" }));
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => {
    const own = items.slice(n * size, (n + 1) * size);
    return { n, items: own, extent: `${n}` };
  });
}

let runs = 0;

/** Runs one attempt, which sends all chunks or ends when it is killed or fails. */
async function attempt(
  store: CouponStore,
  journalPath: string,
  chunks: readonly Chunk[],
  nowMs = 0,
  more: Partial<SendingDeps> = {},
) {
  const tally = createTally();
  const notices: string[] = [];
  const { sender } = createSender(journalPath, store.call, {
    behavior: kinds.get("coupons").prepare({ dryRun: false, map: {}, action: "map_review" }),
    isOnce: true,
    tally,
    clock: () => nowMs,
    report: (event) => {
      if (event.type === "notice") notices.push(event.message);
    },
    ...more,
  });
  const sending = (async () => {
    for (const chunk of chunks) {
      await sender.submit(chunk);
      if (sender.failure !== undefined) break;
    }
    await sender.drain();
    return "ended" as const;
  })();
  const end = await Promise.race([sending, store.untilKilled().then(() => "killed" as const)]);
  return { end, failure: sender.failure, totals: tally.totals, notices, rejects: tally };
}

const newPath = () => join(folder, `journal-${runs++}.ndjson`);

const fate = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Fate>("works") },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Fate>("refusedBefore", "lostBefore", "lostAfter", "killedBefore", "killedAfter"),
  },
);

test("a dry run accepts everything and sends nothing", async () => {
  const tally = new RunTally([], undefined);
  const sender = createDrySender(tally);
  for (const chunk of chunksOf(["A", "B", "C"], 2)) await sender.submit(chunk);
  await sender.drain();
  expect([tally.totals.rows, sender.failure]).toEqual([{ read: 3, accepted: 3, rejected: 0, failed: 0 }, undefined]);
});

describe("calls that must not be repeated", () => {
  test("store every code and send no stored code again, whatever fails and wherever the process is killed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 25 }),
        fc.uniqueArray(fc.nat(59), { maxLength: 3 }),
        fc.boolean(),
        async (fates, places, honorsKeys) => {
          const codes = Array.from({ length: 60 }, (_, at) => `CODE-${at}`);
          const poison = new Set(places.map((at) => `CODE-${at}`));
          const store = new CouponStore(fates, poison, honorsKeys);
          const chunks = chunksOf(codes, 20);
          const path = newPath();
          let last = await attempt(store, path, chunks);
          // Each attempt consumes at least one outcome.
          for (let round = 0; round < 60 && (last.end === "killed" || last.failure !== undefined); round++)
            last = await attempt(store, path, chunks);
          expect(last.failure).toBeUndefined();
          expect(store.held).toEqual(new Set(codes.filter((code) => !poison.has(code))));
          expect(store.sentAgain).toEqual([]);
          const accepted = codes.length - poison.size;
          expect(last.totals.rows).toEqual({ read: 60, accepted, rejected: poison.size, failed: 0 });
        },
      ),
      { numRuns: countRuns(200) },
    );
  });

  test("are checked with one lookup after a lost response, and repeated only if nothing was stored", async () => {
    const [before, after] = [new CouponStore(["lostBefore"]), new CouponStore(["lostAfter"])];
    for (const store of [before, after]) {
      const { totals, notices } = await attempt(store, newPath(), chunksOf(["CODE-1", "CODE-2"], 10));
      expect(totals.rows).toEqual({ read: 2, accepted: 2, rejected: 0, failed: 0 });
      expect(notices).toHaveLength(1);
    }
    expect([before.uploads, before.lists, after.uploads, after.lists]).toEqual([2, 1, 1, 1]);
  });

  test("end the attempt if the outcome remains unknown; a resume determines it", async () => {
    const store = new CouponStore(Array.from({ length: 40 }, () => "lostBefore" as const));
    const path = newPath();
    const chunks = chunksOf(["CODE-1"], 10);
    const first = await attempt(store, path, chunks);
    expect(first.failure).toMatchObject({ kind: "unavailable", temporary: true });
    expect(first.totals.rows.read).toBe(0);
    expect(settle(readJournal(path)).unknown.has(0)).toBe(true);
    const uploads = store.uploads;
    expect(uploads).toBe(4);
    store.held.add("CODE-1");
    const second = await attempt(store, path, chunks);
    expect(second.totals.rows.accepted).toBe(1);
    expect(store.uploads).toBe(uploads);
  });

  test("are failed, not rejected, if all are refused before any is accepted", async () => {
    const codes = ["CODE-1", "CODE-2", "CODE-3"];
    const path = newPath();
    const { totals } = await attempt(new CouponStore([], new Set(codes)), path, chunksOf(codes, 3), 7);
    expect(totals.rows).toEqual({ read: 3, accepted: 0, rejected: 0, failed: 3 });
    const calls = { sent: 5, retried: 0, throttled: 0 };
    expect(totals.calls).toEqual(calls);
    const [refused] = readJournal(path).slice(-1);
    expect(refused).toEqual({ t: "refused", n: 0, reason: expect.stringMatching(/no$/), calls, at: 7, totals });
    // A resume sends them again.
    const second = await attempt(new CouponStore([]), path, chunksOf(codes, 3));
    expect(second.totals.rows).toEqual({ read: 3, accepted: 3, rejected: 0, failed: 0 });
  });

  test("are unchanged if another run has stored all of them, and sent if it has stored some", async () => {
    const keyed = ({ items, ...chunk }: Chunk): Chunk => ({
      ...chunk,
      items: items.map((item) => ({ ...item, doubleKeys: [`x ${item.key}`, item.key] })),
    });
    const held = new Set(["CODE-1", "CODE-2", "CODE-3"]);
    const keys = { isHeld: (key) => held.has(key), find: () => undefined } as Partial<KeyStore> as KeyStore;
    const chunks = chunksOf(["CODE-1", "CODE-2", "CODE-3", "CODE-4"], 2).map(keyed);
    const [store, path] = [new CouponStore([]), newPath()];
    const { totals } = await attempt(store, path, chunks, 7, { keys });
    expect([...store.held]).toEqual(["CODE-3", "CODE-4"]);
    expect(totals.rows).toEqual({ read: 4, accepted: 4, rejected: 0, failed: 0 });
    expect(totals.items).toMatchObject({ created: 2, unchanged: 2 });
    const [settledChunk] = readJournal(path);
    expect(settledChunk).toMatchObject({
      t: "done",
      n: 0,
      problems: [],
      outcomes: { codes: "uu" },
      calls: { sent: 0, retried: 0, throttled: 0 },
      at: 7,
      totals: { rows: { read: 2, accepted: 2, rejected: 0, failed: 0 } },
    });
    // A resume repeats neither.
    const again = await attempt(store, path, chunks, 8);
    expect([again.totals.rows, store.uploads]).toEqual([totals.rows, 1]);
    // Without the keys, nothing is known of another run.
    const without = await attempt(new CouponStore([]), newPath(), chunksOf(["CODE-1"], 2), 7, { keys });
    expect(without.totals.rows.accepted).toBe(1);
  });

  test("are not sent in parts if what has arrived is unknown, or after an abort", async () => {
    const chunks = chunksOf(["CODE-1", "CODE-2", "CODE-3", "CODE-4"], 4);
    const silent = new CouponStore(["lostBefore"]);
    const error = new ServiceError("internal", "cannot list");
    const call: Transport["call"] = (operation, ...given) =>
      operation === "coupons.list" ? Promise.reject(error) : silent.call(operation, ...given);
    const unsettled = await attempt(silent, newPath(), chunks, 0, { service: serviceOf(call) });
    expect([unsettled.failure, silent.uploads]).toEqual([error, 1]);
    const aborted = new AbortController();
    const poisoned = new CouponStore([], new Set(["CODE-1"]));
    const abortFirst: Transport["call"] = (...given) => {
      aborted.abort();
      return poisoned.call(...given);
    };
    const ended = await attempt(poisoned, newPath(), chunks, 0, {
      abort: aborted.signal,
      service: serviceOf(abortFirst),
    });
    expect([ended.failure, poisoned.uploads]).toEqual([expect.objectContaining({ kind: "invalidParams" }), 1]);
  });

  test("are certainly not done if the service was not there, unless the attempt was aborted", async () => {
    const sure = async (fates: readonly Fate[], abort = new AbortController()) => {
      const path = newPath();
      const { failure, totals } = await attempt(new CouponStore(fates), path, chunksOf(["CODE-1"], 2), 0, {
        abort: abort.signal,
      });
      expect(failure).toMatchObject({ kind: "unavailable" });
      const entries = readJournal(path).filter(({ t }) => t === "unanswered");
      expect(totals.rows.read).toBe(0);
      return entries;
    };
    const calls = { sent: 1, retried: 0, throttled: 0 };
    expect(await sure(["refusedBefore"])).toEqual([{ t: "unanswered", n: 0, sure: true, calls }]);
    const aborted = new AbortController();
    aborted.abort();
    expect(await sure(["refusedBefore"], aborted)).toMatchObject([{ sure: false }]);
    expect(await sure(["lostBefore", "refusedBefore"])).toMatchObject([{ sure: false }]);
  });

  describe("and a service that honors idempotency keys", () => {
    const codes = ["CODE-1", "CODE-2", "CODE-3", "CODE-4"];
    const chunks = chunksOf(codes, 2);

    /** Kills a run after its second call took effect, and resumes it. */
    async function killAndResume(store: CouponStore, resumedAtMs: number, change: (path: string) => void = () => {}) {
      const path = newPath();
      expect(await attempt(store, path, chunks)).toMatchObject({ end: "killed" });
      change(path);
      const last = await attempt(store, path, chunks, resumedAtMs);
      expect(last.totals.rows).toEqual({ read: 4, accepted: 4, rejected: 0, failed: 0 });
      expect([...store.held]).toEqual(codes);
      expect(store.sentAgain).toEqual([]);
    }

    test("are repeated under the same key by a resume", async () => {
      const store = new CouponStore(["works", "killedAfter"], new Set(), true);
      await killAndResume(store, 60_000);
      expect([store.uploads, store.lists, store.results.size]).toEqual([3, 0, 2]);
    });

    test("are looked up by a resume if the service may have forgotten the key", async () => {
      const store = new CouponStore(["works", "killedAfter"], new Set(), true);
      await killAndResume(store, 23 * 3_600_000);
      expect([store.uploads, store.lists]).toEqual([2, 1]);
    });

    test("are looked up by a resume if no earlier call showed that the service honors keys", async () => {
      const store = new CouponStore(["killedAfter"], new Set(), true);
      await killAndResume(store, 60_000);
      expect([store.uploads, store.lists]).toEqual([2, 1]);
    });

    test("are looked up by a resume if the earlier attempt sent them under another key", async () => {
      const store = new CouponStore(["works", "killedAfter"], new Set(), true);
      await killAndResume(store, 60_000, (path) => {
        writeFileSync(path, readFileSync(path, "utf8").replaceAll(/"key":"[^"]+"/g, '"key":"other"'));
      });
      expect([store.uploads, store.lists]).toEqual([2, 1]);
    });

    test("are looked up if the service refuses the key because it belongs to another input", async () => {
      const store = new CouponStore([], new Set(), true);
      const spied = await attempt(store, newPath(), chunks);
      expect(spied.totals.rows.accepted).toBe(4);
      for (const [key, { result }] of store.results) store.results.set(key, { codes: "other", result });
      const { totals } = await attempt(store, newPath(), chunks);
      expect(totals.rows).toEqual({ read: 4, accepted: 4, rejected: 0, failed: 0 });
      expect([store.uploads, store.lists]).toEqual([4, 2]);
      expect(store.sentAgain).toEqual([]);
    });

    test("are looked up by a resume if parts of them were sent", async () => {
      const store = new CouponStore(["works", "works", "killedAfter"], new Set(["CODE-4"]), true);
      const path = newPath();
      expect(await attempt(store, path, chunks)).toMatchObject({ end: "killed" });
      expect([...store.held]).toEqual(["CODE-1", "CODE-2", "CODE-3"]);
      const { totals } = await attempt(store, path, chunks, 60_000);
      expect(totals.rows).toEqual({ read: 4, accepted: 3, rejected: 1, failed: 0 });
      expect(store.sentAgain).toEqual([]);
      expect(store.lists).toBe(1);
    });
  });
});
