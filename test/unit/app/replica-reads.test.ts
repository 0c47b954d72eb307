import { afterEach, describe, expect, it } from "vitest";
import { type Replica, ReplicaReads } from "../../../src/app/replica-reads.ts";
import { ServiceError } from "../../../src/contract/index.ts";
import type { Transport } from "../../../src/service/transport.ts";

const opened: ReplicaReads[] = [];
afterEach(async () => {
  for (const reads of opened.splice(0)) await reads.close();
});

function transportOf(name: string, calls: string[], answer: () => unknown = () => name): Transport {
  return {
    call: async (operation) => {
      calls.push(`${name} ${operation}`);
      return (await answer()) as never;
    },
    close: async () => void calls.push(`${name} closed`),
  };
}

function setUp(change: Partial<Replica> & { readonly open?: () => Promise<Replica> } = {}) {
  const calls: string[] = [];
  const logged: { level: string; why?: string }[] = [];
  const log = (level: string) => (fields: { why?: string }) => void logged.push({ level, ...fields });
  const replica = { transport: transportOf("replica", calls), readLagMs: async () => 0, ...change };
  const reads = new ReplicaReads(transportOf("primary", calls), {
    open: change.open ?? (async () => replica),
    log: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    shownAs: "postgres://replica/shop",
    maxLagMs: 10_000,
    checkEachMs: 5,
  });
  opened.push(reads);
  const widget = () => reads.call("reviews.top", {}, { appKey: "key" });
  return { reads, calls, logged, widget };
}

describe("reads from a replica", () => {
  it("are those that caches may store", async () => {
    const { reads, calls, logged, widget } = setUp();
    await expect.poll(() => reads.isUsed).toBe(true);
    await widget();
    await reads.call("reviews.bottomLines", {}, { appKey: "key" });
    await reads.call("reviews.list", {}, { appKey: "key", utoken: "t" });
    await reads.call("account.settings", {}, { appKey: "key", utoken: "t" });
    expect(calls).toEqual([
      "replica reviews.top",
      "replica reviews.bottomLines",
      "primary reviews.list",
      "primary account.settings",
    ]);
    expect(logged).toMatchObject([{ level: "info", replica: "postgres://replica/shop" }]);
  });

  it.each([
    [10_000, true],
    [10_001, false],
    [Number.POSITIVE_INFINITY, false],
  ])("with a lag of %d ms are used: %s", async (lagMs, isUsed) => {
    const { reads, logged } = setUp({ readLagMs: async () => lagMs });
    await expect.poll(() => logged.length).toBe(1);
    expect([reads.isUsed, logged[0]?.level]).toEqual([isUsed, isUsed ? "info" : "warn"]);
  });

  it("go to the primary while the replica is not usable, with one warning for each time", async () => {
    let isDown = true;
    const calls: string[] = [];
    const open = async () => {
      if (isDown) throw new Error("connection refused");
      return { transport: transportOf("replica", calls), readLagMs };
    };
    let lagMs = 0;
    const readLagMs = async () => lagMs;
    const { reads, logged, widget } = setUp({ open });
    await expect.poll(() => logged.length).toBe(1);
    expect(await widget()).toBe("primary");
    isDown = false;
    await expect.poll(() => reads.isUsed).toBe(true);
    expect(await widget()).toBe("replica");
    lagMs = 60_000;
    await expect.poll(() => reads.isUsed).toBe(false);
    expect(await widget()).toBe("primary");
    expect(logged).toMatchObject([
      { level: "warn", why: "connection refused" },
      { level: "info" },
      { level: "warn", why: expect.stringContaining("60.0 s") },
    ]);
  });

  it("are repeated on the primary if the database of the replica fails, but not if the call is refused", async () => {
    const calls: string[] = [];
    let error = new ServiceError("recordNotFound", "no such account");
    const transport = transportOf("replica", calls, () => {
      throw error;
    });
    let isChecked = true;
    const readLagMs = async () => {
      if (!isChecked) throw new Error("down");
      return 0;
    };
    const { reads, widget } = setUp({ transport, readLagMs });
    await expect.poll(() => reads.isUsed).toBe(true);
    await expect(widget()).rejects.toBe(error);
    expect(reads.isUsed).toBe(true);
    isChecked = false;
    error = new ServiceError("unavailable", "the connection was lost");
    expect([await widget(), reads.isUsed]).toEqual(["primary", false]);
  });

  it("end when the transport is closed, and both databases are closed", async () => {
    const { reads, calls } = setUp();
    await expect.poll(() => reads.isUsed).toBe(true);
    opened.splice(0);
    await reads.close();
    expect(calls).toEqual(["replica closed", "primary closed"]);
  });
});
