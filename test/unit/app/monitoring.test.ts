import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createMonitoring, limitTime } from "../../../src/app/monitoring.ts";
import { createSealer } from "../../../src/engine/kernel/sealer.ts";
import { createLocalTransport } from "../../../src/engine/local-transport.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { addLockable, describeDatabases } from "../../support/databases.ts";

describe("a check with a time limit", () => {
  it("fails in time, and is shared until it ends", async () => {
    let runs = 0;
    let finish = () => {};
    const check = limitTime(() => {
      runs += 1;
      return new Promise<string>((resolve) => {
        finish = () => resolve("done");
      });
    }, 20);
    await expect(check()).rejects.toThrow("20 ms");
    const second = check();
    expect(runs).toBe(1);
    finish();
    expect(await second).toBe("done");
    const third = check();
    finish();
    expect([await third, runs]).toEqual(["done", 2]);
  });

  it("fails as the check does, and can be repeated", async () => {
    let runs = 0;
    const check = limitTime(async () => {
      runs += 1;
      if (runs === 1) throw new Error("refused");
      return runs;
    }, 1_000);
    await expect(check()).rejects.toThrow("refused");
    expect(await check()).toBe(2);
  });
});

describeDatabases("monitoring", (url) => {
  const nowMs = 1_000_000;

  async function setUp() {
    const database = await openDatabase(url(), { nowMs });
    const waits: number[] = [];
    const transport = createLocalTransport({
      database,
      clock: () => nowMs,
      random: randomBytes,
      sealer: createSealer(randomBytes(32)),
      enforceLimits: false,
      onLock: (waitedMs) => waits.push(waitedMs),
    });
    const monitoring = await createMonitoring(transport, {
      metricsAt: { host: "127.0.0.1", port: 0 },
      version: "1.2.3",
      paths: { runsFolder: "/none" },
    });
    const { url: metricsUrl = "" } = (await monitoring.listen()) ?? {};
    const read = async (name: string) => {
      const text = await (await fetch(`${metricsUrl}/metrics`)).text();
      return text.split("\n").find((line) => line.startsWith(`${name} `));
    };
    return { database, transport, monitoring, waits, read };
  }

  it("measures the email that has been due for the longest time", async () => {
    const { database, transport, monitoring, read } = await setUp();
    const accountId = await addLockable(database);
    const add = (due_at: number, state: string, held_at: number | null = null) =>
      database.db
        .insertInto("mails")
        .values({
          account_id: accountId,
          category: "test",
          email_type_id: 1,
          email: "a@mail.example",
          email_key: "a@mail.example",
          name: "Ann",
          data: "{}",
          state,
          due_at,
          created_at: 0,
          held_at,
        })
        .execute();
    await add(1_000, "sent");
    await add(2_000, "queued", 1_500);
    await add(nowMs + 5_000, "queued");
    expect(await read("starpost_email_delay_seconds")).toBe("starpost_email_delay_seconds 0");
    await add(nowMs - 7_000, "queued");
    await add(nowMs - 3_000, "queued");
    expect(await read("starpost_email_delay_seconds")).toBe("starpost_email_delay_seconds 7");
    await database.db.updateTable("accounts").set({ disabled_at: 1 }).execute();
    expect(await read("starpost_email_delay_seconds")).toBe("starpost_email_delay_seconds 0");
    await monitoring.close();
    await transport.close();
  });

  it("measures the deliveries of webhooks that are due", async () => {
    const { database, transport, monitoring, read } = await setUp();
    const account_id = await addLockable(database);
    const add = (due_at: number, state: string) =>
      database.db
        .insertInto("webhook_deliveries")
        .values({
          account_id,
          webhook_row: 1,
          event_id: `${due_at}`,
          event_name: "review_create",
          body: "{}",
          state,
          due_at,
          created_at: 0,
        })
        .execute();
    const readBoth = async () => {
      const lines = [await read("starpost_webhook_backlog"), await read("starpost_webhook_delay_seconds")];
      return lines.map((line) => Number(line?.split(" ")[1]));
    };
    await add(1_000, "delivered");
    await add(2_000, "leased");
    await add(nowMs + 5_000, "queued");
    expect(await readBoth()).toEqual([0, 0]);
    await add(nowMs - 7_000, "queued");
    await add(nowMs - 3_000, "queued");
    expect(await readBoth()).toEqual([2, 7]);
    await database.db.updateTable("accounts").set({ disabled_at: 1 }).execute();
    expect(await readBoth()).toEqual([0, 0]);
    await monitoring.close();
    await transport.close();
  });

  it("reports waits for locks, waiting writes, and a database that does not answer", async () => {
    const { database, transport, monitoring, waits, read } = await setUp();
    const accountId = await addLockable(database);
    let finish = () => {};
    const held = new Promise<void>((resolve) => (finish = resolve));
    const writes = [1, 2, 3].map(() => transport.work.write(accountId, () => held));
    await expect.poll(() => waits.length).toBeGreaterThan(0);
    await expect.poll(() => transport.queuedWrites()).toBeLessThan(3);
    finish();
    await Promise.all(writes);
    expect(waits.every((waited) => waited >= 0 && waited < 5_000)).toBe(true);
    expect([transport.queuedWrites(), await read("starpost_write_queue_length")]).toEqual([
      0,
      "starpost_write_queue_length 0",
    ]);
    expect(await monitoring.readReadiness()).toEqual({ isReady: true });
    await database.db.destroy();
    expect([await monitoring.readReadiness(), await read("starpost_database_up")]).toEqual([
      { isReady: false },
      "starpost_database_up 0",
    ]);
    await monitoring.close();
  });
});
