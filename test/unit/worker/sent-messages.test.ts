import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { sleep } from "../../../src/client/sleep.ts";
import { composeMessage } from "../../../src/email/transports/mime-message.ts";
import type { SendOutcome } from "../../../src/email/transports/transport.ts";
import { createEmailQueue } from "../../../src/engine/emails/sending/email-queue.ts";
import { EmailJob } from "../../../src/worker/email-job.ts";
import { describeIsolated, type Harness } from "../../support/backends.ts";
import { silentLog } from "../../support/silent-log.ts";

const leaseMs = 60_000;

/** Sends the emails that are due, and returns what was transmitted. */
async function sendDue({ clock, work }: Harness, outcome: SendOutcome): Promise<Buffer[]> {
  const transmitted: Buffer[] = [];
  const job = new EmailJob({
    clock,
    sleep,
    log: silentLog,
    queue: createEmailQueue(work, { worker: randomBytes(4).toString("hex"), leaseMs }),
    transport: {
      send: async ({ raw }) => {
        transmitted.push(raw);
        return outcome;
      },
      check: async () => ({ ready: true }),
      close: async () => {},
      describe: () => "nowhere",
    },
    compose: (email) => composeMessage(email, { from: null, nowMs: clock() }),
    leaseMs,
  });
  await job.runDue(new AbortController().signal);
  return transmitted;
}

describeIsolated("an email", (harness) => {
  it("is shown as it was sent, even if the store changes later", async () => {
    const account = await harness().newAccount("Tea Shop");
    const { service } = account;
    await service.account.set({ name: "Ça va" });
    await service.emails.sendTest({ email: "ann@mail.example" });
    const [mail] = (await service.emails.list({})).mails;
    const get = async () => (await service.emails.get({ mail_id: mail?.id ?? 0 })).message;
    expect((await get())?.headers).toBeNull();
    const [raw] = await sendDue(harness(), { state: "accepted", answer: "250 OK" });
    await service.account.set({ name: "Renamed" });
    const shown = await get();
    const text = raw?.toString("utf8") ?? "";
    expect(shown?.headers).toBe(text.slice(0, text.indexOf("\r\n\r\n")));
    expect(shown?.headers).toMatch(/^To: .*ann@mail\.example>?$/m);
    expect(shown?.headers).toMatch(/^Message-ID: /m);
    expect([shown?.text, shown?.html].filter((part) => part?.includes("Ça va"))).toHaveLength(2);
    expect(JSON.stringify(shown)).not.toContain("Renamed");
    const other = (await harness().newAccount()).service;
    await expect(other.emails.get({ mail_id: mail?.id ?? 0 })).rejects.toMatchObject({ kind: "recordNotFound" });
  });

  it.each<SendOutcome>([
    { state: "deferred", answer: "450 later" },
    { state: "bounced", answer: "550 no" },
  ])("is not stored if it was not accepted: %j", async (outcome) => {
    const { service } = await harness().newAccount();
    await service.emails.sendTest({ email: "ann@mail.example" });
    expect(await sendDue(harness(), outcome)).toHaveLength(1);
    expect(await harness().database.db.selectFrom("mail_messages").selectAll().execute()).toEqual([]);
  });
});
