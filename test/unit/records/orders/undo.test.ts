import { expect, test } from "vitest";
import { createOrderUndo } from "../../../../src/records/orders/undo.ts";

test.each([
  ["an earlier version recorded purchase 7 as the last one", { highest_id: 7 }, "7", "kept"],
  ["an earlier version recorded purchase 7 as the last one", { highest_id: 7 }, "8", "reversed"],
  ["the stored orders were recorded, without this one", { has_details: true }, "1", "reversed"],
  ["nothing was recorded", undefined, "1", "kept"],
])("%s: %o, purchase %s: %s", (_what, note, id, outcome) => {
  const now = { email: "a@mail.example", since: { [id]: "2026-01-01T00:00:00.000Z" }, fields: {}, lines: {} };
  const target = { key: "1001", rows: 1, sureRows: 1, written: { fields: {}, lines: {} }, now, wasSent: false };
  const past = {
    whyNot: undefined,
    get: (key: string) => (key === "" ? note : undefined),
    startedMs: Date.UTC(2026, 0, 2),
  };
  expect(createOrderUndo({ dryRun: false, map: {} }).decide(target, past)).toMatchObject({ outcome });
});
