import { expect, it } from "vitest";
import { isSelected } from "../../../../../src/cli/commands/imports/list.ts";
import type { ImportSummary } from "../../../../../src/import/summary.ts";

const run = {
  kind: "orders",
  state: "failed",
  files: ["/home/ann/shop/March Orders.csv", "C:\\data\\returns.csv"],
  started_at: "2026-03-15T12:00:00.000Z",
} as unknown as ImportSummary;

it.each([
  [{}, true],
  [{ kind: "orders" }, true],
  [{ kind: "products" }, false],
  [{ state: ["finished", "failed"] }, true],
  [{ state: ["finished"] }, false],
  [{ search: "march" }, true],
  [{ search: "ORD march" }, true],
  [{ search: "returns" }, true],
  // All words of one name.
  [{ search: "march returns" }, false],
  // Folders are not searched.
  [{ search: "shop" }, false],
  [{ search: "data" }, false],
  [{ since_date: "2026-03-15T12:00:00.000Z" }, true],
  [{ since_date: "2026-03-15T12:00:00.001Z" }, false],
  [{ until_date: "2026-03-15T12:00:00.001Z" }, true],
  [{ until_date: "2026-03-15T12:00:00.000Z" }, false],
  [{ kind: "orders", state: ["failed"], search: "orders", since_date: "2026-03-01" }, true],
  [{ kind: "orders", state: ["finished"], search: "orders" }, false],
])("selects a run by %j: %s", (filter, expected) => {
  expect(isSelected(run, filter)).toBe(expected);
});
