import { expect, it, vi } from "vitest";
import { operations } from "../../../src/contract/index.ts";
import { openEngine } from "../../support/backends.ts";
import { callEveryOperation } from "../../support/every-call.ts";
import { placeOnPartitions } from "../../support/databases.ts";
import { recorded } from "../../support/partition-check.ts";
import { postgresServer, postgresSkipped } from "../../support/postgres.ts";

it.skipIf(postgresServer === undefined)("touches one partition of each table in every statement", async () => {
  const harness = await openEngine(placeOnPartitions);
  const called = vi.spyOn(harness.transport, "call");
  await callEveryOperation(harness, await harness.newAccount());
  const names = new Set(called.mock.calls.map(([name]) => name));
  expect([...operations.keys()].filter((name) => !names.has(name))).toEqual([]);
  expect(recorded.size).toBeGreaterThan(120);
  // Fails for every other statement.
  await harness.close();
});

if (postgresServer === undefined) it.skip(`partitions on ${postgresSkipped}`);
