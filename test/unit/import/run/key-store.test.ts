import { join } from "node:path";
import { expect, test } from "vitest";
import { KeyStore } from "../../../../src/import/run/key-store.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const pageOf = (...keys: readonly string[]) => [keys.map((key) => ({ key }))];

test("keeps the keys of the service for later attempts, and forgets those of an attempt", async () => {
  const path = join(folder, "keys");
  const first = new KeyStore(path);
  expect(first.isLoaded).toBe(false);
  await first.load(pageOf("A", "B", "A"), 1);
  expect(first.isLoaded).toBe(true);
  expect([first.isExisting("A"), first.isExisting("C")]).toEqual([true, false]);
  expect([first.addKey("C", 2), first.addKey("D", 3), first.addKey("C", 4)]).toEqual([undefined, undefined, 2]);
  expect([first.count("x"), first.count("x"), first.count("y")]).toEqual([1, 2, 1]);
  first[Symbol.dispose]();
  using second = new KeyStore(path);
  expect([second.isLoaded, second.isExisting("B"), second.isExisting("C")]).toEqual([true, true, false]);
  expect(second.isHeld("E")).toBe(false);
  await second.loadHeld(pageOf("E"));
  await second.loadHeld(pageOf());
  expect([second.isHeld("E"), second.isHeld("B")]).toEqual([true, false]);
  expect([second.addKey("C", 9), second.count("x")]).toEqual([undefined, 1]);
});

test("is loaded even if the service had no keys", async () => {
  using store = new KeyStore(join(folder, "empty"));
  await store.load([], 1);
  expect([store.isLoaded, store.isExisting("A"), store.isHeld("A")]).toEqual([true, false, false]);
});

test("what the service holds at a resume is forgotten after it", async () => {
  const path = join(folder, "held");
  {
    using resumed = new KeyStore(path);
    await resumed.loadHeld(pageOf("A", "B", "A"));
    expect([resumed.isHeld("A"), resumed.isHeld("C"), resumed.isExisting("A")]).toEqual([true, false, false]);
    expect([resumed.count("x"), resumed.count("x"), resumed.count("x")]).toEqual([1, 2, 3]);
  }
  using later = new KeyStore(path);
  expect([later.isHeld("A"), later.isLoaded]).toEqual([false, false]);
});

test("counts more names than it keeps in memory", () => {
  using store = new KeyStore(join(folder, "many"));
  const names = Array.from({ length: 20_000 }, (_, n) => `review ${n}`);
  expect(new Set(names.map((name) => store.count(name)))).toEqual(new Set([1]));
  expect([store.count("review 0"), store.count("review 19999"), store.count("new")]).toEqual([2, 2, 1]);
  expect(new Set(names.slice(1, -1).map((name) => store.count(name)))).toEqual(new Set([2]));
  expect([store.count("review 0"), store.count("review 7"), store.count("new")]).toEqual([3, 3, 2]);
});
