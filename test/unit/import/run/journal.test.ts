import fs, { readFileSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServiceError } from "../../../../src/contract/index.ts";
import { findOutcome, Journal, type JournalEntry, readJournal, settle } from "../../../../src/import/run/journal.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { createSender, itemOf } from "../../../support/senders.ts";

/** What the journal does to its file, and the calls that are sent, in order. */
const events: string[] = [];

/** Replaces a function of `node:fs` also where it is imported by name, until the test ends. */
function replace<N extends "writeSync" | "fsyncSync" | "fdatasync">(name: N, by: (typeof fs)[N]): void {
  const real = fs[name];
  fs[name] = by;
  syncBuiltinESMExports();
  restore.push(() => {
    fs[name] = real;
    syncBuiltinESMExports();
  });
}

const restore: (() => void)[] = [];

const countOf = (name: string) => events.filter((event) => event === name).length;

/** Delays the next sync. */
function holdSync(): [finish: () => void, started: Promise<void>] {
  let finish = () => {};
  const started = new Promise<void>((resolve) =>
    replace("fdatasync", ((_descriptor: number, callback: fs.NoParamCallback) => {
      restore.pop()?.();
      events.push("sync");
      finish = () => {
        events.push("synced");
        callback(null);
      };
      resolve();
    }) as typeof fs.fdatasync),
  );
  return [() => finish(), started];
}

beforeEach(() => {
  events.length = 0;
  const { writeSync: write, fsyncSync: sync, fdatasync: syncData } = fs;
  replace("writeSync", ((descriptor: number, bytes: Buffer, from: number) => {
    const [, type] = /^\n?\{"t":"(\w+)"/.exec(bytes.toString()) ?? [];
    if (type !== undefined) events.push(`write ${type}`);
    return write(descriptor, bytes, from);
  }) as typeof fs.writeSync);
  replace("fsyncSync", (descriptor) => {
    events.push("sync folder");
    sync(descriptor);
  });
  replace("fdatasync", ((descriptor, callback) => {
    events.push("sync");
    syncData(descriptor, (error) => {
      events.push("synced");
      callback(error);
    });
  }) as typeof fs.fdatasync);
});

afterEach(() => {
  for (const undo of restore.splice(0).toReversed()) undo();
});

const folder = useTemporaryFolder();
let paths = 0;
const newPath = () => join(folder, `journal-${paths++}.ndjson`);

const totals = (read: number) => ({
  rows: { read, accepted: read, rejected: 0, failed: 0 },
  items: { sent: read, accepted: read, rejected: 0, created: null, changed: null, unchanged: null },
  calls: { sent: 1, retried: 0, throttled: 0 },
});

/** Sends coupon codes, one per call, to a service that refuses lists with the code BAD. */
async function sendCoupons(codes: readonly string[], { batchSize = 1, concurrency = 1 } = {}): Promise<void> {
  const items = codes.map((code, at) => itemOf(code, at + 2, { code, action: "map_review" }));
  const counts = ["empty_cell", "code_length", "duplicate_code"].map((name) => [
    name,
    { error_text: "", error_count: 0 },
  ]);
  const call = async (_operation: string, input: unknown) => {
    const { codes: sent } = input as { codes: string[] };
    events.push(`call ${sent.join()}`);
    if (sent.includes("BAD")) throw new ServiceError("invalidParams", "no");
    return { total_codes: sent.length, errors: Object.fromEntries(counts), "new-codes": sent.length } as never;
  };
  const behavior = kinds.get("coupons").prepare({ dryRun: false, map: {}, action: "map_review" });
  const { sender, journal } = createSender(newPath(), call, { behavior, concurrency, isOnce: true });
  for (let n = 0; n * batchSize < items.length; n++) {
    await sender.submit({ n, items: items.slice(n * batchSize, (n + 1) * batchSize), extent: `${n}` });
  }
  await sender.drain();
  await journal.close();
}

describe("the journal is on disk", () => {
  test("before a call that cannot be repeated is sent", async () => {
    await sendCoupons(["AAA", "BBB"]);
    const sent = events.filter((event) => !/done|heartbeat/.test(event));
    const first = ["sync folder", "write send", "sync", "synced", "call AAA"];
    expect(sent).toEqual([...first, "write send", "sync", "synced", "call BBB", "sync", "synced"]);
  });

  test("before a part of such a call is sent", async () => {
    await sendCoupons(["AAA", "BAD"], { batchSize: 2 });
    const from = events.indexOf("call AAA,BAD");
    const part = ["write parts", "sync", "synced", "call AAA"];
    expect(events.slice(from, from + 5)).toEqual(["call AAA,BAD", ...part]);
  });

  test("before each of several calls, which share a sync", async () => {
    const [finish, started] = holdSync();
    const sending = sendCoupons(["A", "B", "C", "D"], { concurrency: 4 });
    await started;
    await expect.poll(() => countOf("write send")).toBe(4);
    expect(events.filter((event) => event.startsWith("call"))).toEqual([]);
    finish();
    await sending;
    const sent = events.filter((event) => /sync(ed)?$|send|call/.test(event));
    expect(sent.filter((event) => event.startsWith("call"))).toEqual(["call A", "call B", "call C", "call D"]);
    // One for all, or one for the first and one for the others; and one at the end.
    expect(countOf("sync")).toBeLessThanOrEqual(3);
  });

  test("shortly after other lines, and when it is closed", async () => {
    let nowMs = 1_000;
    const journal = new Journal(newPath(), () => nowMs);
    const append = async () => {
      journal.append({ t: "smaller", maxItems: 1 });
      await nextTurn();
      await nextTurn();
      await expect.poll(() => countOf("synced")).toBe(countOf("sync"));
    };
    await append();
    nowMs += 250;
    await append();
    nowMs += 1;
    await append();
    await journal.close();
    const lines = ["write smaller", "sync", "write smaller", "write smaller", "sync", "sync"];
    expect(events.filter((event) => event !== "synced")).toEqual(["sync folder", ...lines]);
  });
});

describe("a sync that fails", () => {
  const fail = () =>
    replace("fdatasync", ((_descriptor: number, callback: fs.NoParamCallback) => {
      callback(Object.assign(new Error("disk failure"), { code: "EIO" }));
    }) as typeof fs.fdatasync);

  test("fails everyone who waits for it, but not the next one", async () => {
    const journal = new Journal(newPath(), () => 0);
    fail();
    const results = await Promise.allSettled([journal.sync(), journal.sync()]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    restore.pop()?.();
    await journal.sync();
    await journal.close();
  });

  test("fails the next line if nobody waits for it", async () => {
    const journal = new Journal(newPath(), () => 1_000);
    fail();
    journal.append({ t: "smaller", maxItems: 1 });
    await nextTurn();
    await nextTurn();
    expect(() => journal.append({ t: "smaller", maxItems: 1 })).toThrow("disk failure");
    await expect(journal.close()).rejects.toThrow("disk failure");
  });
});

describe("a journal with a damaged line", () => {
  test("keeps the lines after one that was cut short by a crash", async () => {
    const path = newPath();
    writeFileSync(path, '{"t":"smaller","maxItems":5}\n{"t":"send","n":0,"ite');
    const journal = new Journal(path, () => 0);
    journal.append({ t: "smaller", maxItems: 3 });
    await journal.close();
    expect(readJournal(path)).toEqual([
      { t: "smaller", maxItems: 5 },
      { t: "smaller", maxItems: 3 },
    ]);
  });

  test("keeps the lines after one that could not be written completely", async () => {
    const path = newPath();
    const journal = new Journal(path, () => 0);
    const write = fs.writeSync;
    replace("writeSync", (descriptor: number) => {
      write(descriptor, Buffer.from('{"t":"do'));
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    });
    expect(() => journal.append({ t: "smaller", maxItems: 5 })).toThrow("no space");
    restore.pop()?.();
    journal.append({ t: "smaller", maxItems: 3 });
    await journal.close();
    expect(readJournal(path)).toEqual([{ t: "smaller", maxItems: 3 }]);
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
  });
});

test("the totals of a run do not shrink while a resume repeats settled calls", () => {
  const done = (n: number, read: number): JournalEntry => {
    return { t: "done", n, problems: [], calls: { sent: 1, retried: 0, throttled: 0 }, at: 0, totals: totals(read) };
  };
  expect(settle([done(1, 20), done(2, 30), { t: "start", at: 0 }, done(0, 10)]).totals?.rows.read).toBe(30);
  expect(settle([done(1, 20), done(2, 30), { t: "start", at: 0 }, done(0, 40)]).totals?.rows.read).toBe(40);
});

describe("what a journal says about earlier attempts", () => {
  const send = (n: number, more: { key?: string; at?: number } = {}): JournalEntry => {
    return { t: "send", n, items: 1, extent: `${n}`, ...more };
  };
  const calls = (sent: number, retried = 0, throttled = 0) => ({ sent, retried, throttled });
  const done = (n: number, at = 0, read = 0): JournalEntry => {
    return { t: "done", n, problems: [], calls: calls(1, 2, 3), at, totals: totals(read) };
  };
  const refused = (n: number): JournalEntry => {
    return { t: "refused", n, reason: "no", calls: calls(1), at: 0, totals: totals(0) };
  };
  const unanswered = (n: number, sure: boolean): JournalEntry => ({ t: "unanswered", n, sure, calls: calls(1) });

  test("an empty one says nothing", () => {
    expect(settle([])).toEqual({
      done: new Map(),
      lastSent: -1,
      unknown: new Set(),
      extents: new Map(),
      honorsKeys: false,
      keyed: new Map(),
      parted: new Set(),
      reopened: new Set(),
      sentAt: new Map(),
      late: new Set(),
      maxItems: undefined,
      calls: calls(0),
      durationMs: 0,
      totals: undefined,
    });
  });

  test("whether the service honors keys, which chunks were sent in parts, and the size of calls", () => {
    const { honorsKeys, parted, maxItems } = settle([send(4), { t: "parts", n: 4 }, done(4)]);
    expect([honorsKeys, [...parted], maxItems]).toEqual([false, [4], undefined]);
    const later = settle([send(0), { t: "keys" }, { t: "smaller", maxItems: 8 }, { t: "smaller", maxItems: 4 }]);
    expect([later.honorsKeys, [...later.parted], later.maxItems]).toEqual([true, [], 4]);
  });

  test("how long all attempts took", () => {
    const heartbeat = (at: number): JournalEntry => ({ t: "heartbeat", at, ms: 1, seen: [0, 0, 0], waits: [0, 0, 0] });
    const first: JournalEntry[] = [
      { t: "start", at: 1_000 },
      send(0, { key: "k", at: 1_200 }),
      send(1),
      done(0, 1_500),
    ];
    expect(settle(first).durationMs).toBe(500);
    expect(settle([...first, heartbeat(1_400)]).durationMs).toBe(500);
    expect(settle([...first, { t: "start", at: 9_000 }]).durationMs).toBe(500);
    expect(settle([...first, { t: "start", at: 9_000 }, heartbeat(9_030), unanswered(1, true)]).durationMs).toBe(530);
  });

  test("the last of equal totals counts", () => {
    const last = { ...totals(20), calls: calls(9) };
    expect(settle([done(0, 0, 20), { t: "totals", at: 0, totals: last }]).totals).toBe(last);
    expect(settle([done(0, 0, 0)]).totals).toEqual(totals(0));
  });

  test("all calls, and one for each call that was interrupted", () => {
    expect(settle([send(0), done(0), send(1), refused(1), send(2), unanswered(2, false)]).calls).toEqual(
      calls(3, 2, 3),
    );
    expect(settle([send(0), done(0), done(0), send(1), send(2), send(2)]).calls).toEqual(calls(4, 4, 6));
  });

  test("which chunks were sent, in which order, and which of them late", () => {
    const found = settle([send(2), done(5), send(3), send(5), send(6), send(3)]);
    expect([...found.extents]).toEqual([2, 3, 5, 6].map((n) => [n, `${n}`]));
    expect([...found.sentAt]).toEqual([
      [2, 0],
      [3, 4],
      [5, 2],
      [6, 3],
    ]);
    expect([[...found.late], found.lastSent]).toEqual([[3], 6]);
  });

  test("which outcomes are unknown, and which settled chunks were sent again", () => {
    const entries = [
      send(0),
      done(0),
      send(1),
      refused(1),
      send(2),
      unanswered(2, true),
      send(3),
      unanswered(3, false),
    ];
    expect([...settle([...entries, send(4)]).unknown]).toEqual([3, 4]);
    const again = settle([...entries, send(0)]);
    expect([[...again.reopened], [...again.unknown], [...again.done.keys()]]).toEqual([[0], [3, 0], [0]]);
    expect([...settle([...entries, send(0), done(0)]).reopened]).toEqual([]);
    expect([...settle([...entries, send(0), unanswered(0, true)]).reopened]).toEqual([0]);
  });

  test("when each chunk was first sent under its key; a chunk with several keys counts as sent in parts", () => {
    const { keyed, parted } = settle([
      send(0, { key: "a", at: 5 }),
      send(0, { key: "a", at: 9 }),
      send(1, { key: "b" }),
      send(2, { at: 5 }),
      send(3, { key: "d", at: 5 }),
      send(3, { key: "e", at: 6 }),
      send(4, { key: "f", at: 5 }),
      send(4),
    ]);
    expect([...keyed]).toEqual([
      [0, { key: "a", atMs: 5 }],
      [3, { key: "d", atMs: 5 }],
      [4, { key: "f", atMs: 5 }],
    ]);
    expect([...parted]).toEqual([3, 4]);
  });

  test("the errors of a settled chunk, unless its rows have changed", () => {
    const entry: JournalEntry = {
      ...(done(0) as Extract<JournalEntry, { t: "done" }>),
      problems: [
        [0, "email", "bad_email", "is wrong"],
        [3, "", "refused", "no", 0],
      ],
    };
    const settled = settle([send(0), entry, send(1)]);
    expect([...(findOutcome(settled, { n: 0, extent: "0" }) ?? [])]).toEqual([
      [0, { field: "email", code: "bad_email", reason: "is wrong" }],
      [3, { field: "", code: "refused", reason: "no", row: 0 }],
    ]);
    expect(findOutcome(settled, { n: 1, extent: "1" })).toBeUndefined();
    expect(findOutcome(settled, { n: 2, extent: "any" })).toBeUndefined();
    for (const n of [0, 1]) {
      expect(() => findOutcome(settled, { n, extent: "7" })).toThrow(expect.objectContaining({ kind: "failed" }));
    }
  });
});
