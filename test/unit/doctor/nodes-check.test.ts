import { expect, it } from "vitest";
import { checkNodes } from "../../../src/doctor/local/database-checks.ts";

const node = (name: string, isReachable: boolean) => ({ node: name, isReachable, shards: 16, accounts: null });

it("names the servers of a cluster that cannot be reached", () => {
  expect(checkNodes({ cluster: null })).toEqual([]);
  const cluster = (isReachable: boolean) => ({
    tables: 40,
    nodes: [node("a:5432", true), node("b:5432", isReachable)],
  });
  expect(checkNodes({ cluster: cluster(true) })).toMatchObject([{ name: "nodes", status: "ok" }]);
  const [found] = checkNodes({ cluster: cluster(false) });
  expect(found).toMatchObject({ name: "nodes", status: "problem", message: expect.stringContaining("b:5432") });
  expect(found?.message).not.toContain("a:5432");
});
