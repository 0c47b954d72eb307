import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Kysely, sql, type Transaction } from "kysely";
import { beforeEach, afterEach, describe, expect, test, vi } from "vitest";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import type { Tables } from "../../../src/storage/tables.ts";
import type { Combinable } from "../../../src/storage/combined-writes.ts";
import { WriteQueue, type WriteQueueOptions } from "../../../src/storage/write-queue.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

let database: Database;
let commits: number;
let count = 0;

beforeEach(async () => {
  database = await openDatabase(join(folder, `${count++}.db`), { nowMs: 0 });
  await sql`create table notes (text text)`.execute(database.db);
  commits = 0;
});
afterEach(() => database.db.destroy());

/** Counts transactions. */
function createQueue(options: WriteQueueOptions = {}): WriteQueue {
  const { db } = database;
  const transaction = () => ({
    execute: (work: (transaction: Transaction<Tables>) => Promise<unknown>) => {
      commits++;
      return db.transaction().execute(work);
    },
  });
  return new WriteQueue({ ...database, db: { transaction } as unknown as Kysely<Tables> }, options);
}

async function note(text: string, transaction: Transaction<Tables>): Promise<void> {
  await sql`insert into notes (text) values (${text})`.execute(transaction);
}

async function readNotes(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`select text from notes order by rowid`.execute(database.db);
  return rows.map(({ text }) => text);
}

test("a write after a pause is carried out", async () => {
  const queue = createQueue();
  for (const text of ["a", "b"]) {
    await queue.run((transaction) => note(text, transaction));
    await setTimeout(5);
  }
  expect(await readNotes()).toEqual(["a", "b"]);
});

/** A write of one note, which can be combined with others. A note "bad" fails after it is written. */
function add(queue: WriteQueue, text: string, { key = "k", id = text } = {}): Promise<string> {
  const write = async (name: string, transaction: Transaction<Tables>) => {
    await note(name, transaction);
    if (text.startsWith("bad")) throw new Error(`failed: ${text}`);
    return name;
  };
  const combinable: Combinable<string> = {
    key,
    ids: [id],
    input: text,
    workOnAll: async (inputs, transaction) => {
      for (const input of inputs) {
        await note(`together ${String(input)}`, transaction);
        if (String(input).startsWith("bad")) throw new Error("failed together");
      }
      return inputs.map((input) => `together ${String(input)}`);
    },
  };
  return queue.run((transaction) => write(`alone ${text}`, transaction), { combinable });
}

describe("writes that wait", () => {
  test("are combined, and settled in order", async () => {
    const queue = createQueue();
    const results = await Promise.all([add(queue, "a"), add(queue, "b"), add(queue, "c"), add(queue, "d")]);
    // The first does not wait.
    expect(results).toEqual(["alone a", "together b", "together c", "together d"]);
    expect(await readNotes()).toEqual(results);
    expect(commits).toBe(2);
  });

  test("are combined only with their neighbors of the same key, and never with the same ID", async () => {
    const queue = createQueue();
    const plain = (text: string) => queue.run((transaction) => note(text, transaction));
    await Promise.all([
      plain("first"),
      add(queue, "a"),
      add(queue, "b"),
      add(queue, "c", { key: "other" }),
      plain("plain"),
      add(queue, "d"),
      add(queue, "e", { id: "d" }),
      add(queue, "f"),
    ]);
    const together = ["together a", "together b"];
    const rest = ["alone c", "plain", "alone d", "together e", "together f"];
    expect(await readNotes()).toEqual(["first", ...together, ...rest]);
    expect(commits).toBe(2);
  });

  test("run alone if combining them fails, so that only the faulty one fails", async () => {
    const queue = createQueue();
    const settled = await Promise.allSettled([add(queue, "a"), add(queue, "b"), add(queue, "bad"), add(queue, "c")]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(settled[2]).toMatchObject({ reason: { message: "failed: bad" } });
    expect(await readNotes()).toEqual(["alone a", "alone b", "alone c"]);
  });

  test("share a commit of at most 128", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0);
    try {
      const queue = createQueue();
      const plain = (text: string) => queue.run((transaction) => note(text, transaction));
      await Promise.all(Array.from({ length: 1 + 128 + 1 }, (_, at) => plain(`${at}`)));
      expect(commits).toBe(3);
      expect(await readNotes()).toHaveLength(130);
    } finally {
      now.mockRestore();
    }
  });

  test("use the next transaction after 20 ms", async () => {
    const now = vi.spyOn(performance, "now");
    try {
      let ms = 0;
      now.mockImplementation(() => ms);
      const queue = createQueue();
      const slow = (text: string) =>
        queue.run(async (transaction) => {
          await note(text, transaction);
          ms += 10;
        });
      await Promise.all(["first", "a", "b", "c"].map(slow));
      expect(commits).toBe(3);
      expect(await readNotes()).toEqual(["first", "a", "b", "c"]);
    } finally {
      now.mockRestore();
    }
  });
});

describe("bulk writes that share a transaction", () => {
  const plain = (queue: WriteQueue, text: string) =>
    queue.run(async (transaction) => {
      await note(text, transaction);
      if (text.startsWith("bad")) throw new Error(`failed: ${text}`);
    });

  test("are run again if one fails, so that only the faulty ones fail", async () => {
    const queue = createQueue({ isBulk: true });
    const texts = ["a", "bad b", "c", "bad d", "e"];
    const settled = await Promise.allSettled(texts.map((text) => plain(queue, text)));
    expect(settled.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(settled[3]).toMatchObject({ reason: { message: "failed: bad d" } });
    expect(await readNotes()).toEqual(["a", "c", "e"]);
    expect(commits).toBe(2);
  });

  test("are not run again after that, because they have savepoints", async () => {
    const queue = createQueue({ isBulk: true });
    await Promise.allSettled(["a", "bad"].map((text) => plain(queue, text)));
    const before = commits;
    await Promise.allSettled(["b", "bad", "c"].map((text) => plain(queue, text)));
    expect(await readNotes()).toEqual(["a", "b", "c"]);
    expect(commits).toBe(before + 1);
  });

  test("report a rollback before they are run again", async () => {
    const onRollback = vi.fn<() => void>();
    const queue = createQueue({ isBulk: true, onRollback });
    await Promise.allSettled(["a", "bad"].map((text) => plain(queue, text)));
    expect(onRollback).toHaveBeenCalledTimes(2);
  });
});

describe("a transaction that cannot be committed", () => {
  test("fails its writes, but not the waiting ones", async () => {
    let transactions = 0;
    const { db } = database;
    const transaction = () => ({
      execute: async (work: (transaction: Transaction<Tables>) => Promise<unknown>) => {
        await db.transaction().execute(async (open) => {
          await work(open);
          if (++transactions === 2) throw new Error("the disk is full");
        });
      },
    });
    const queue = new WriteQueue({ ...database, db: { transaction } as unknown as Kysely<Tables> });
    const plain = (text: string) => queue.run((open) => note(text, open));
    const settled = await Promise.allSettled(["a", "b", "c"].map(plain));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await plain("d");
    expect(await readNotes()).toEqual(["a", "d"]);
  });

  test("and not even begun fails all that wait", async () => {
    const transaction = () => ({ execute: async () => Promise.reject(new Error("locked")) });
    const queue = new WriteQueue({ ...database, db: { transaction } as unknown as Kysely<Tables> });
    const settled = await Promise.allSettled(["a", "b", "c"].map((text) => queue.run((open) => note(text, open))));
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });

  test("rolls back a write that is alone in it", async () => {
    const queue = createQueue();
    await expect(add(queue, "bad")).rejects.toThrow("failed: bad");
    expect(await readNotes()).toEqual([]);
  });
});

describe("a queue that waits for a connection", () => {
  function createWaiting(connected: Promise<void>) {
    const transaction = () => ({
      execute: async (work: (transaction: Transaction<Tables>) => Promise<unknown>) => {
        await connected;
        await work(undefined as unknown as Transaction<Tables>);
      },
    });
    const db = { transaction } as unknown as Kysely<Tables>;
    const queue = new WriteQueue({ db, dialect: { ...database.dialect, runsInOrder: false, isPipelined: true } });
    const write = (name: string) =>
      queue.run(async () => `${name} alone`, {
        combinable: {
          key: "write",
          ids: [],
          input: name,
          workOnAll: async (names) => names.map((each) => `${String(each)} of ${names.length}`),
        },
      });
    return { queue, write };
  }

  test("combines calls that arrive until then", async () => {
    const { queue, write } = createWaiting(setTimeout(10));
    const first = write("a");
    await setTimeout(1);
    const second = write("b");
    expect(queue.length).toBe(2);
    expect(await Promise.all([first, second])).toEqual(["a of 2", "b of 2"]);
    expect(queue.length).toBe(0);
  });

  test("fails all that wait if there is none, and runs later ones", async () => {
    const { write } = createWaiting(setTimeout(5).then(() => Promise.reject(new Error("no connection"))));
    const settled = Promise.allSettled([write("a"), write("b")]);
    expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(write("c")).rejects.toThrow("no connection");
  });
});

describe("a queue whose commits overlap", () => {
  /** Each transaction ends its commit only when `ends[n]` is called. */
  function createSlowCommits() {
    const events: string[] = [];
    const ends: ((error?: Error) => void)[] = [];
    const transaction = () => ({
      execute: async (work: (transaction: Transaction<Tables>) => Promise<unknown>) => {
        const n = ends.length;
        const committed = new Promise<void>((resolve, reject) => {
          ends.push((error) => (error ? reject(error) : resolve()));
        });
        events.push(`begin ${n}`);
        await work(undefined as unknown as Transaction<Tables>);
        events.push(`commit ${n}`);
        await committed;
      },
    });
    const queue = new WriteQueue({
      db: { transaction } as unknown as Kysely<Tables>,
      dialect: { ...database.dialect, runsInOrder: false, isPipelined: true },
    });
    return { queue, events, ends };
  }

  const untilBegun = (events: readonly string[], n: number) => expect.poll(() => events).toContain(`begin ${n}`);

  test("starts one transaction during a commit, and settles a write after its own commit", async () => {
    const { queue, events, ends } = createSlowCommits();
    const settled: string[] = [];
    const write = (name: string) => queue.run(async () => name).then((value) => settled.push(value));
    const a = write("a");
    await untilBegun(events, 0);
    const b = write("b");
    await untilBegun(events, 1);
    const c = write("c");
    await setTimeout(10);
    expect(events).toEqual(["begin 0", "commit 0", "begin 1", "commit 1"]);
    expect(settled).toEqual([]);
    ends[0]?.();
    await a;
    expect(settled).toEqual(["a"]);
    await untilBegun(events, 2);
    ends[1]?.();
    ends[2]?.();
    await Promise.all([b, c]);
    expect(settled).toEqual(["a", "b", "c"]);
  });

  test("a failed commit fails only its own writes", async () => {
    const { queue, events, ends } = createSlowCommits();
    const a = queue.run(async () => "a");
    await untilBegun(events, 0);
    const b = queue.run(async () => "b");
    await untilBegun(events, 1);
    ends[0]?.(new Error("lost"));
    await expect(a).rejects.toThrow("lost");
    ends[1]?.();
    await expect(b).resolves.toBe("b");
  });
});

test("a write after one that took 20 ms has a transaction of its own, and the next ones share again", async () => {
  const now = vi.spyOn(performance, "now");
  try {
    let ms = 0;
    now.mockImplementation(() => ms);
    const queue = createQueue();
    const write = (text: string, tookMs: number) =>
      queue.run(async (transaction) => {
        await note(text, transaction);
        ms += tookMs;
      });
    await Promise.all([write("slow", 20), write("a", 19), write("b", 0), write("c", 0)]);
    expect(commits).toBe(3);
    expect(await readNotes()).toEqual(["slow", "a", "b", "c"]);
  } finally {
    now.mockRestore();
  }
});

describe("long writes", () => {
  let nowMs: number;

  beforeEach(() => {
    nowMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  });
  afterEach(() => vi.restoreAllMocks());

  const writeAll = (queue: WriteQueue, durationsMs: readonly number[]) =>
    Promise.all(
      durationsMs.map((ms) =>
        queue.run(async (transaction) => {
          await note(`${ms}`, transaction);
          nowMs += ms;
        }),
      ),
    );

  test("get a transaction of their own", async () => {
    await writeAll(createQueue(), [1, 30, 30, 30, 1]);
    expect(await readNotes()).toEqual(["1", "30", "30", "30", "1"]);
    expect(commits).toBe(5);
  });

  test("share one in a bulk operation", async () => {
    await writeAll(createQueue({ isBulk: true }), [1, 30, 30, 30, 1]);
    expect(await readNotes()).toEqual(["1", "30", "30", "30", "1"]);
    expect(commits).toBe(1);
  });

  test("do not, beyond a tenth of a second", async () => {
    await writeAll(createQueue({ isBulk: true }), [1, 60, 60, 1]);
    expect(commits).toBe(2);
  });

  test("leave time for another process to lock the file", async () => {
    const ends: number[] = [];
    const begins: number[] = [];
    const { db } = database;
    const transaction = () => ({
      execute: async (work: (transaction: Transaction<Tables>) => Promise<unknown>) => {
        begins.push(Date.now());
        await db.transaction().execute(work);
        ends.push(Date.now());
      },
    });
    const queue = new WriteQueue({ ...database, db: { transaction } as unknown as Kysely<Tables> }, { isBulk: true });
    await writeAll(queue, [250, 100, 100, 100, 1]);
    const gaps = begins.slice(1).map((beganMs, at) => beganMs - (ends[at] ?? 0));
    expect(gaps.map((gap) => gap >= 6)).toEqual([true, expect.any(Boolean), expect.any(Boolean), true]);
  });
});
