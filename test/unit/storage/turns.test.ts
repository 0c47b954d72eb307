import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Turns } from "../../../src/storage/write-queue.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Takes turns, and lists those that have begun. */
function takeAll(turns: Turns, names: readonly string[]) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  for (const name of names) {
    void turns.take().then((end) => {
      begun.push(name);
      ends.set(name, end);
    });
  }
  const end = async (name: string) => {
    ends.get(name)?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { begun, end };
}

it("lets as many begin as are allowed, in order, and another one when a turn ends", async () => {
  const { begun, end } = takeAll(new Turns(2), ["a", "b", "c", "d", "e"]);
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual(["a", "b"]);
  await end("b");
  expect(begun).toEqual(["a", "b", "c"]);
  // A turn ends once.
  await end("b");
  expect(begun).toEqual(["a", "b", "c"]);
  await end("a");
  await end("c");
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
});

it("can be taken again after all have ended", async () => {
  const turns = new Turns(1);
  for (let n = 0; n < 3; n++) (await turns.take())();
  const { begun } = takeAll(turns, ["a", "b"]);
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual(["a"]);
});

it("ends a turn after 250 ms, and only once", async () => {
  const { begun, end } = takeAll(new Turns(1), ["a", "b", "c"]);
  await vi.advanceTimersByTimeAsync(249);
  expect(begun).toEqual(["a"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(["a", "b"]);
  await end("a");
  expect(begun).toEqual(["a", "b"]);
  await end("b");
  expect(begun).toEqual(["a", "b", "c"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(vi.getTimerCount()).toBe(0);
});
