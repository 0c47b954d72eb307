import { expect, test } from "vitest";
import { orderUndo } from "../../../../src/records/orders/undo.ts";

test.each([
  [7, "kept"],
  [8, "reversed"],
])("an undo of a run before which purchase 7 was the last: an order with purchase %i is %s", (id, outcome) => {
  const target = { key: "1001", rows: 1, sureRows: 1, written: {}, now: { id }, wasSent: false };
  const past = { whyNot: undefined, get: () => ({ highest_id: 7 }), startedMs: 0 };
  expect(orderUndo.decide(target, past)).toMatchObject({ outcome });
});
