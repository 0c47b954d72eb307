import { expect, test } from "vitest";
import { productUndo } from "../../../../src/records/products/undo.ts";

test.each([
  ["5.50", "reversed"],
  ["5.51", "kept"],
])("a product whose price the run set to 5.5 and that now costs %s is %s", (price, outcome) => {
  const target = { key: "pot", rows: 1, sureRows: 1, written: { price: "5.5" }, now: { price }, wasSent: false };
  const past = { whyNot: undefined, get: () => ({ price: "4" }), startedMs: 0 };
  expect(productUndo.decide(target, past)).toMatchObject({ outcome });
});
