import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Sleep, sleep } from "../../../src/client/sleep.ts";
import { EmailJob } from "../../../src/worker/email-job.ts";
import { createLocalTransport } from "../../../src/engine/local-transport.ts";
import { createEmailQueue } from "../../../src/engine/emails/sending/email-queue.ts";
import { createSealer } from "../../../src/engine/kernel/sealer.ts";
import { composeMessage } from "../../../src/email/transports/mime-message.ts";
import { openEmailTransport } from "../../../src/email/transports/open-transport.ts";
import type { EmailTransport } from "../../../src/email/transports/transport.ts";
import { describeBackends } from "../../support/backends.ts";
import { readAccountId } from "../../support/due-emails.ts";
import { silentLog } from "../../support/silent-log.ts";

const leaseMs = 60_000;

/** Lists the complete files. */
async function listWritten(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".eml"));
}

describeBackends("an email whose worker was lost while writing it", (open) => {
  it.each([
    ["lost after writing the file", true],
    ["lost before writing the file", false],
  ])("is in the outbox folder once: %s", async (_when, isWritten) => {
    const harness = open();
    const folder = await mkdtemp(join(tmpdir(), "starpost-outbox-"));
    try {
      const account = await harness.newAccount();
      for (const name of ["ann", "bea", "cid"])
        await account.service.emails.sendTest({ email: `${name}@mail.example` });
      const { work } = createLocalTransport({
        database: harness.database,
        clock: harness.clock,
        random: randomBytes,
        sealer: createSealer(randomBytes(32)),
        enforceLimits: false,
      });
      const transport = await openEmailTransport({ kind: "outbox", folder, from: null }, harness.clock);
      const openJob = (worker: string, used: EmailTransport, wait: Sleep) =>
        new EmailJob({
          clock: harness.clock,
          sleep: wait,
          log: silentLog,
          queue: createEmailQueue(work, { worker, leaseMs }),
          transport: used,
          compose: (email) => composeMessage(email, { from: null, nowMs: harness.clock() }),
          leaseMs,
        });
      const lost = new Promise<never>(() => {});
      let sends = 0;
      const dyingTransport: EmailTransport = {
        ...transport,
        send: async (message) => {
          sends += 1;
          if (sends < 2) return transport.send(message);
          if (isWritten) await transport.send(message);
          return lost;
        },
      };
      // A lost worker does not renew its leases.
      const dying = openJob("dying", dyingTransport, () => lost);
      void dying.runDue(new AbortController().signal);
      await expect.poll(() => sends).toBe(2);
      await expect.poll(async () => (await listWritten(folder)).length).toBe(isWritten ? 2 : 1);
      harness.clock.advance(leaseMs);
      const { counts } = await openJob("other", transport, sleep).runDue(new AbortController().signal);
      expect(counts.sent).toBe(2);
      const keys = (await listWritten(folder)).map((name) => name.slice(name.indexOf("-") + 1));
      expect([keys.length, new Set(keys).size]).toEqual([3, 3]);
      const states = await harness.database.db
        .selectFrom("mails")
        .select("state")
        .where("account_id", "=", await readAccountId(harness, account))
        .execute();
      expect(states.map(({ state }) => state)).toEqual(["sent", "sent", "sent"]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
