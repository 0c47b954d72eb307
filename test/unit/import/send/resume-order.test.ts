import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Chunk } from "../../../../src/import/send/chunks.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { Journal, settle, type JournalEntry } from "../../../../src/import/run/journal.ts";
import type { Transport } from "../../../../src/service/transport.ts";
import { isMutationSuite } from "../../../support/suite-size.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { createSender, productItemOf } from "../../../support/senders.ts";

const folder = useTemporaryFolder();

/** One call per product, with the names that a file contains for it, in order. */
function chunksOf(named: readonly (readonly [id: string, name: string])[]): Chunk[] {
  return named.map(([id, name], n) => ({ n, items: [productItemOf(id, name, n + 2)], extent: `${n}` }));
}

const done = (n: number): JournalEntry => ({
  t: "done",
  n,
  problems: [],
  calls: { sent: 1, retried: 0, throttled: 0 },
  at: 0,
  totals: {
    rows: { read: 0, accepted: 0, rejected: 0, failed: 0 },
    items: { sent: 0, accepted: 0, rejected: 0, created: 0, changed: 0, unchanged: 0 },
    calls: { sent: 0, retried: 0, throttled: 0 },
  },
});
const send = (n: number): JournalEntry => ({ t: "send", n, items: 1, extent: `${n}` });

/** Resumes a run with this journal and returns the names sent, in order. */
async function resume(chunks: readonly Chunk[], entries: readonly JournalEntry[]): Promise<string[]> {
  return (await resumeWithKeys(chunks, entries)).map(({ name }) => name);
}

interface Sent {
  readonly name: string;
  readonly isKeyed: boolean;
}

/** Resumes a run whose calls have idempotency keys. */
async function resumeWithKeys(chunks: readonly Chunk[], entries: readonly JournalEntry[]): Promise<Sent[]> {
  const path = join(mkdtempSync(join(folder, "run-")), "journal.ndjson");
  const earlier = new Journal(path, () => 0);
  for (const entry of entries) earlier.append(entry);
  const sent: Sent[] = [];
  const call: Transport["call"] = async (_operation, input, _caller, { idempotencyKey } = {}) => {
    const { products: given } = input as { products: Record<string, { name: string }> };
    sent.push(...Object.values(given).map(({ name }) => ({ name, isKeyed: idempotencyKey !== undefined })));
    return { code: 200, message: "OK", errors: {} } as never;
  };
  const { sender } = createSender(path, call, {
    behavior: { ...kinds.get("products").prepare({ dryRun: false, map: {}, update: true }), keyedBy: "run" },
    concurrency: 4,
  });
  for (const chunk of chunks) await sender.submit(chunk);
  await sender.drain();
  if (sender.failure !== undefined) throw sender.failure;
  return sent;
}

const named = chunksOf([
  ["a", "first"],
  ["b", "other"],
  ["a", "last"],
]);

test("a call overtaken by a repeated call is sent again", async () => {
  // The first call has no recorded response, but the next one does.
  expect(await resume(named, [send(0), send(1), send(2), done(1), done(2)])).toEqual(["first", "last"]);
});

test("also if the resume that repeated the other call was killed before sending it", async () => {
  const entries = [send(0), send(1), send(2), done(1), done(2), send(0), done(0)];
  expect(await resume(named, entries)).toEqual(["last"]);
});

test("nothing is sent again after that", async () => {
  const entries = [send(0), send(1), send(2), done(1), done(2), send(0), done(0), send(2), done(2)];
  expect(await resume(named, entries)).toEqual([]);
});

test("an overtaken call that was sent again without a response is sent once more", async () => {
  const repeated = [send(0), send(1), send(2), done(1), done(2), send(0), done(0), send(2)];
  const calls = { sent: 1, retried: 0, throttled: 0 };
  expect(await resume(named, repeated)).toEqual(["last"]);
  for (const sure of [true, false]) {
    expect(await resume(named, [...repeated, { t: "unanswered", n: 2, sure, calls }])).toEqual(["last"]);
  }
});

test("a call overtaken by a repeated call has no key, so that it is carried out again", async () => {
  const sent = { first: { name: "first", isKeyed: true }, last: { name: "last", isKeyed: false } };
  const other = { name: "other", isKeyed: true };
  expect(await resumeWithKeys(named, [send(0), send(1), send(2), done(1), done(2)])).toEqual([sent.first, sent.last]);
  // The response of the overtaken call was lost as well.
  const lost = [send(0), send(1), send(2)];
  expect(await resumeWithKeys(named, lost)).toEqual([sent.first, other, sent.last]);
  expect(await resumeWithKeys(named, [send(0), done(0)])).toEqual([other, { name: "last", isKeyed: true }]);
});

test("a call with the same values as the overtaking call is not sent again", async () => {
  const alike = chunksOf([
    ["a", "same"],
    ["a", "same"],
  ]);
  expect(await resume(alike, [send(0), send(1), done(1)])).toEqual(["same"]);
});

test.skipIf(isMutationSuite)("a run with very many calls can be resumed", async () => {
  const many = 200_000;
  const entries: JournalEntry[] = [];
  for (let n = 0; n < many; n++) entries.push(done(n));
  expect(settle(entries).lastSent).toBe(many - 1);
  expect(await resume(named, entries)).toEqual([]);
});
