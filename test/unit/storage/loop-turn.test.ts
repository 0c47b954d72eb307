import { afterEach, expect, it, vi } from "vitest";
import { runInSlices } from "../../../src/storage/loop-turn.ts";

afterEach(() => void vi.restoreAllMocks());

/** Each time that the clock is read, it is 1 ms later. */
function slowDown(): void {
  let nowMs = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 1));
}

it("returns what the work returns, or throws what it throws", async () => {
  function* work(value: number): Generator<undefined, number> {
    yield;
    if (value < 0) throw new RangeError("negative");
    return value;
  }
  expect(await runInSlices(work(1))).toBe(1);
  await expect(runInSlices(work(-1))).rejects.toThrow(RangeError);
});

it("lets others run, and several works take turns", async () => {
  slowDown();
  const slices: string[] = [];
  function* work(name: string): Generator<undefined, void> {
    for (let element = 0; element < 50; element += 1) {
      if (slices.at(-1) !== name) slices.push(name);
      yield;
    }
  }
  let turns = 0;
  const countTurn = () => {
    turns += 1;
    timer = setImmediate(countTurn);
  };
  let timer = setImmediate(countTurn);
  await Promise.all(["a", "b", "c"].map((name) => runInSlices(work(name))));
  clearImmediate(timer);
  expect(slices.join("")).toMatch(/^(?:abc){8,}[abc]*$/);
  expect(turns).toBeGreaterThan(slices.length / 2);
});
