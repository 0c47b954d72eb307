import { expect, test } from "vitest";
import { checkConnections } from "../../../src/doctor/local/database-checks.ts";

test.each([
  [{ max: 100, used: 90, own: 0 }, "10", "ok"],
  [{ max: 100, used: 91, own: 0 }, "10", "warning"],
  [{ max: 100, used: 91, own: 1 }, "10", "ok"],
  [{ max: 100, used: 99, own: 12 }, "10", "ok"],
  [{ max: 100, used: 100, own: 12 }, "10", "warning"],
  [{ max: 10, used: 0, own: 0 }, "10", "ok"],
  [{ max: 9, used: 0, own: 0 }, "10", "problem"],
  [{ max: 100, used: 0, own: 0 }, "many", "problem"],
])("connections %o with a pool of %s: %s", (connections, pool, status) => {
  expect(checkConnections({ connections }, { STARPOST_DATABASE_POOL: pool })).toMatchObject([
    { name: "connections", status },
  ]);
});

test("a file has no connections", () => {
  expect(checkConnections({ connections: null }, {})).toEqual([]);
});
