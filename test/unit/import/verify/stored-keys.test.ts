import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { StoredKeys } from "../../../../src/import/verify/stored-keys.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

test("stored records are counted with the values of each unit; shared ones have the last values", () => {
  {
    using stored = new StoredKeys(folder);
    stored.add([
      { key: "a", values: { price: "1" } },
      { key: "shared", values: { name: "old" }, isShared: true },
    ]);
    stored.add([
      { key: "a", values: { price: "2" } },
      { key: "shared", values: { name: "new" }, isShared: true },
      { key: "b" },
    ]);
    expect(stored.find("a")).toEqual({ units: 2, values: [{ price: "1" }, { price: "2" }] });
    expect(stored.find("b")).toEqual({ units: 1, values: [{}] });
    expect(stored.find("shared")).toEqual({ units: 0, values: [{ name: "new" }] });
    expect(stored.find("c")).toEqual({ units: 0, values: [] });
    stored.clear();
    expect([stored.find("a").units, stored.find("shared").values]).toEqual([0, []]);
  }
  expect(readdirSync(folder)).toEqual([]);
});

test("more shared records than are remembered are found", () => {
  using stored = new StoredKeys(folder);
  const keys = Array.from({ length: 12_000 }, (_, at) => `p-${at}`);
  for (let at = 0; at < keys.length; at += 1_000) {
    stored.add(keys.slice(at, at + 1_000).map((key) => ({ key, values: { name: key }, isShared: true })));
  }
  for (const key of keys) expect(stored.find(key).values).toEqual([{ name: key }]);
});

test("a field differs from the row that wrote it last, if at all", () => {
  using stored = new StoredKeys(folder);
  const name = { key: "a", field: "name" };
  const row = (line: number, file = 0) => ({ file, line, cells: [] });
  stored.markSame(name);
  stored.markDifferent(name, row(2));
  stored.markDifferent({ ...name, field: "url" }, row(2));
  expect(stored.different).toBe(2);
  expect(stored.isDifferent(name, row(2))).toBe(true);
  stored.markDifferent(name, row(3));
  expect(stored.different).toBe(2);
  expect([stored.isDifferent(name, row(2)), stored.isDifferent(name, row(3))]).toEqual([false, true]);
  expect(stored.isDifferent(name, row(3, 1))).toBe(false);
  stored.markSame(name);
  expect(stored.different).toBe(1);
  expect(stored.isDifferent(name, row(3))).toBe(false);
  stored.clear();
  expect(stored.different).toBe(0);
});
