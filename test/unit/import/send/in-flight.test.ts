import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ServiceError } from "../../../../src/contract/index.ts";
import type { ImportEvent } from "../../../../src/import/events.ts";
import { readJournal } from "../../../../src/import/run/journal.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { createSender, productItemOf } from "../../../support/senders.ts";

const folder = useTemporaryFolder();

let runs = 0;

/** Opens a sender of products; a call is named by the names of its products, and ends when `end` is called. */
function openSender(options: {
  readonly keepsOrder: boolean;
  readonly concurrency: number;
  readonly maxItems?: number;
  /** Calls with this product are refused. */
  readonly refused?: string;
}) {
  const path = join(folder, `${runs++}.jsonl`);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const events: ImportEvent[] = [];
  const call = async (_operation: string, { products }: { products: Record<string, { name: string }> }) => {
    const name = Object.values(products)
      .map((product) => product.name)
      .join("");
    begun.push(name);
    if (Object.keys(products).length > (options.maxItems ?? Infinity)) throw new ServiceError("bodyTooLarge", "big");
    if (options.maxItems === undefined) await new Promise<void>((resolve) => void ends.set(name, resolve));
    if (options.refused !== undefined && name.includes(options.refused)) throw new ServiceError("invalidParams", "no");
    return {};
  };
  const { sender } = createSender(path, call as never, {
    behavior: kinds.get("products").prepare({ dryRun: false, map: {} }),
    concurrency: options.concurrency,
    keepsOrder: options.keepsOrder,
    runId: undefined,
    report: (event) => events.push(event),
  });
  let n = 0;
  const submit = (...products: readonly (readonly [id: string, name: string])[]) => {
    const items = products.map(([key, name], at) => productItemOf(key, name, at + 2));
    return sender.submit({ n: n++, items, extent: `${n}` });
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    for (let turn = 0; turn < 5; turn++) await setImmediate();
  };
  return { submit, end, begun, events, drain: () => sender.drain(), entries: () => readJournal(path) };
}

test("no more calls are in flight than allowed", async () => {
  const { submit, end, begun, drain } = openSender({ keepsOrder: true, concurrency: 2 });
  await submit(["a", "A"]);
  await submit(["b", "B"]);
  const third = submit(["c", "C"]);
  await end("none");
  expect(begun).toEqual(["A", "B"]);
  await end("B");
  await third;
  expect(begun).toEqual(["A", "B", "C"]);
  await end("A");
  await end("C");
  await drain();
});

test("calls that write a record differently follow each other, unless the service keeps the order of calls", async () => {
  const begin = async (keepsOrder: boolean, name: string) => {
    const opened = openSender({ keepsOrder, concurrency: 5 });
    await opened.submit(["a", "A"], ["b", "B"]);
    const second = opened.submit(["a", name]);
    await opened.end("none");
    const begun = [...opened.begun];
    await opened.end("AB");
    await second;
    await opened.end(name);
    await opened.drain();
    expect(opened.begun).toEqual(["AB", name]);
    return begun;
  };
  expect(await begin(false, "C")).toEqual(["AB"]);
  expect(await begin(false, "A")).toEqual(["AB", "A"]);
  expect(await begin(true, "C")).toEqual(["AB", "C"]);
});

test("a call waits for one that is sent in parts and writes the same record", async () => {
  const { submit, end, begun, drain } = openSender({ keepsOrder: true, concurrency: 5, refused: "X" });
  await submit(["a", "A"], ["b", "B"], ["x", "X"]);
  await end("ABX");
  expect(begun).toEqual(["ABX", "AB"]);
  await submit(["c", "C"]);
  const last = submit(["b", "D"]);
  await end("none");
  expect(begun).toEqual(["ABX", "AB", "C"]);
  await end("AB");
  await end("X");
  await last;
  // Nothing is sent in parts any more.
  await submit(["b", "E"]);
  expect(begun).toEqual(["ABX", "AB", "C", "X", "D", "E"]);
  for (const name of ["C", "D", "E"]) await end(name);
  await drain();
});

test("smaller calls are recorded and reported once for each size", async () => {
  const { submit, begun, events, drain, entries } = openSender({ keepsOrder: true, concurrency: 1, maxItems: 1 });
  for (const start of ["a", "b"]) {
    await submit(...["1", "2", "3", "4"].map((more) => [start + more, start + more] as const));
    await drain();
  }
  expect(begun.filter((name) => name.length > 2)).toEqual(["a1a2a3a4", "a1a2"]);
  expect(entries().flatMap((entry) => (entry.t === "smaller" ? [entry.maxItems] : []))).toEqual([1]);
  expect(
    events.map((event) => [event.type, "message" in event && event.message.endsWith("at most 1 product")]),
  ).toEqual([["notice", true]]);
  const two = openSender({ keepsOrder: true, concurrency: 1, maxItems: 2 });
  await two.submit(...["1", "2", "3", "4"].map((name) => [name, name] as const));
  await two.drain();
  expect(two.events).toMatchObject([{ type: "notice", message: expect.stringMatching(/at most 2 products$/) }]);
});
