import { expect, test } from "vitest";
import { checkConnections } from "../../../src/doctor/local/database-checks.ts";

test.each([
  [{ limitOf: "server", max: 100, used: 90, own: 0 }, "10", "ok"],
  [{ limitOf: "server", max: 100, used: 91, own: 0 }, "10", "warning"],
  [{ limitOf: "server", max: 100, used: 91, own: 1 }, "10", "ok"],
  [{ limitOf: "server", max: 100, used: 99, own: 12 }, "10", "ok"],
  [{ limitOf: "server", max: 100, used: 100, own: 12 }, "10", "warning"],
  [{ limitOf: "server", max: 10, used: 0, own: 0 }, "10", "ok"],
  [{ limitOf: "server", max: 9, used: 0, own: 0 }, "10", "problem"],
  [{ limitOf: "server", max: 100, used: 0, own: 0 }, "many", "problem"],
  [{ limitOf: "role", max: 5, used: 1, own: 0 }, "5", "warning"],
] as const)("connections %o with a pool of %s: %s", (connections, pool, status) => {
  expect(checkConnections({ connections }, { STARPOST_DATABASE_POOL: pool })).toMatchObject([
    { name: "connections", status },
  ]);
});

test("a file has no connections", () => {
  expect(checkConnections({ connections: null }, {})).toEqual([]);
});
