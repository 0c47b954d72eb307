import { describe, expect, test } from "vitest";
import { isItem } from "../../../../src/import/item.ts";
import { kinds } from "../../../support/record-kinds.ts";

const behavior = kinds.get("groups").prepare({ dryRun: true, map: {} });

function read(row: Readonly<Record<string, string>>) {
  const source = { file: 0, line: 2, cells: Object.values(row) };
  return behavior.read(
    (field) => row[field] ?? "",
    source,
    () => {},
    [],
  );
}

describe("a row of groups", () => {
  test("is a membership, sent in a call with others of its group", () => {
    const item = read({ group: "Teas", product_id: "pot" });
    expect(item).toMatchObject({ batchKey: "Teas", payload: { group: "Teas", productId: "pot" } });
    if (isItem(item)) expect([...(behavior.writes?.(item) ?? [])]).toEqual([["pot", "Teas"]]);
  });

  test("has the group in NFC", () => {
    const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"];
    const item = read({ group: decomposed, product_id: "pot" });
    expect(item).toMatchObject({ batchKey: composed, payload: { group: composed } });
    const same = read({ group: composed, product_id: "pot" });
    expect(isItem(item) && isItem(same) && item.key === same.key).toBe(true);
  });

  test.each([
    ["", "pot", [["group", "missing"]]],
    [".", "pot", [["group", "bad_group"]]],
    ["x".repeat(256), "pot", [["group", "too_long"]]],
    ["Teas", "a b", [["product_id", "bad_id"]]],
    [
      "",
      "",
      [
        ["group", "missing"],
        ["product_id", "missing"],
      ],
    ],
  ])("%j with %j has the errors %j", (group, product_id, expected) => {
    const errors = read({ group, product_id });
    expect(isItem(errors) || errors.map(({ field, code }) => [field, code])).toEqual(expected);
  });
});
