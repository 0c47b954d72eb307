import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { couponErrorTexts, ServiceError } from "../../../../src/contract/index.ts";
import { RunTally } from "../../../../src/import/run/tally.ts";
import type { Chunk } from "../../../../src/import/send/chunks.ts";
import { kinds } from "../../../support/record-kinds.ts";
import type { Item } from "../../../../src/import/item.ts";
import { Journal, readJournal, settle } from "../../../../src/import/run/journal.ts";
import { Heartbeat } from "../../../../src/import/run/heartbeat.ts";
import { JournaledSender } from "../../../../src/import/send/sender.ts";
import type { ImportEvent } from "../../../../src/import/events.ts";
import { createService } from "../../../../src/service/service.ts";
import type { Transport } from "../../../../src/service/transport.ts";

const folder = mkdtempSync(join(tmpdir(), "starpost-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
  #onKill = () => {};

  constructor(fates: readonly Fate[], poison: ReadonlySet<string> = new Set()) {
    this.#fates = [...fates];
    this.#poison = poison;
  }

  /** Resolves when the sending process is killed. */
  untilKilled(): Promise<void> {
    return new Promise((resolve) => (this.#onKill = resolve));
  }

  readonly transport: Transport = {
    call: async (operation, input) => {
      if (operation === "coupons.list") {
        this.lists++;
        return { coupons: [...this.held].map((code) => ({ code })) } as never;
      }
      if (operation !== "coupons.upload") throw new Error(`unexpected call of ${operation}`);
      this.uploads++;
      return (await this.#upload((input as { codes: string[] }).codes)) as never;
    },
    close: async () => {},
  };

  async #upload(codes: readonly string[]): Promise<unknown> {
    const fate = this.#fates.shift() ?? "works";
    if (fate === "refusedBefore") throw new ServiceError("unavailable", "nothing answers there");
    if (fate === "lostBefore") throw new ServiceError("unavailable", "broke off", { outcomeUnknown: true });
    if (fate === "killedBefore") return this.#kill();
    if (codes.some((code) => this.#poison.has(code))) throw new ServiceError("invalidParams", "no");
    const fresh = codes.filter((code) => !this.held.has(code));
    this.sentAgain.push(...codes.filter((code) => this.held.has(code)));
    for (const code of codes) this.held.add(code);
    if (fate === "killedAfter") return this.#kill();
    if (fate === "lostAfter") throw new ServiceError("timeout", "no answer", { outcomeUnknown: true });
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
  const items = codes.map((code, at): Item => ({
    key: code,
    batchKey: "",
    rows: [{ file: 0, line: at + 2, cells: [code] }],
    size: 10,
    payload: code,
  }));
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => {
    const own = items.slice(n * size, (n + 1) * size);
    return { n, items: own, extent: `${n}` };
  });
}

let runs = 0;

/** Runs one attempt, which sends all chunks or ends when it is killed or fails. */
async function attempt(store: CouponStore, journalPath: string, chunks: readonly Chunk[]) {
  const settled = settle(readJournal(journalPath));
  const journal = new Journal(journalPath, () => 0);
  const tally = new RunTally([{ given: "codes.csv", columnName: (field) => field, column: () => 0 }], undefined);
  const notices: string[] = [];
  const sender = new JournaledSender({
    behavior: kinds.get("coupons").prepare({ dryRun: false, map: {}, action: "map_review" }),
    service: createService(store.transport, {}),
    concurrency: 1,
    keepsOrder: false,
    isOnce: true,
    tally,
    journal,
    heartbeat: new Heartbeat(journal, () => 0),
    settled,
    keys: undefined,
    clock: () => 0,
    abort: new AbortController().signal,
    report: (event: ImportEvent) => {
      if (event.type === "notice") notices.push(event.message);
    },
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

describe("calls that must not be repeated", () => {
  test("store every code and send no stored code again, whatever fails and wherever the process is killed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 25 }),
        fc.uniqueArray(fc.nat(59), { maxLength: 3 }),
        async (fates, places) => {
          const codes = Array.from({ length: 60 }, (_, at) => `CODE-${at}`);
          const poison = new Set(places.map((at) => `CODE-${at}`));
          const store = new CouponStore(fates, poison);
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
      { numRuns: 120 },
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
    const { totals } = await attempt(new CouponStore([], new Set(codes)), newPath(), chunksOf(codes, 3));
    expect(totals.rows).toEqual({ read: 3, accepted: 0, rejected: 0, failed: 3 });
  });
});
