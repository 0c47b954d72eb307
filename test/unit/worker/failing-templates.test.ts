import { randomBytes } from "node:crypto";
import { afterAll, expect, it } from "vitest";
import { sleep } from "../../../src/client/sleep.ts";
import { closeTemplateThreads } from "../../../src/email/templates/render-custom.ts";
import { composeMessage } from "../../../src/email/transports/mime-message.ts";
import type { ComposedMessage, EmailTransport } from "../../../src/email/transports/transport.ts";
import { createEmailQueue } from "../../../src/engine/emails/sending/email-queue.ts";
import { EmailJob } from "../../../src/worker/email-job.ts";
import { describeIsolated, type Harness, type TestAccount } from "../../support/backends.ts";
import { readAccountId } from "../../support/due-emails.ts";
import { silentLog } from "../../support/silent-log.ts";

const leaseMs = 60_000;
const unsubscribe = "{{ unsubscribe_url }}";
const custom = { subject: "Custom", text: unsubscribe, html: unsubscribe };

afterAll(closeTemplateThreads);

describeIsolated("a custom template", (open: () => Harness) => {
  /** Sends test emails with one worker, and returns their subjects. */
  async function send(
    account: TestAccount,
    count: number,
    found: Pick<ComposedMessage, "templateProblem"> = {},
  ): Promise<string[]> {
    const { clock, work } = open();
    for (let nth = 0; nth < count; nth += 1) await account.service.emails.sendTest({ email: `p${nth}@mail.example` });
    const subjects: string[] = [];
    const transport: EmailTransport = {
      send: async ({ subject }) => {
        subjects.push(subject);
        return { state: "accepted", answer: "250 OK" };
      },
      check: async () => ({ ready: true }),
      close: async () => {},
      describe: () => "nowhere",
    };
    const job = new EmailJob({
      clock,
      sleep,
      log: silentLog,
      queue: createEmailQueue(work, { worker: randomBytes(4).toString("hex"), leaseMs }),
      transport,
      compose: async (email) => ({ ...(await composeMessage(email, { from: null, nowMs: clock() })), ...found }),
      leaseMs,
    });
    await job.runDue(new AbortController().signal);
    return subjects;
  }

  /** Replaces a stored template by one that the check would reject, as if the data of the emails were the cause. */
  async function damage(account: TestAccount, text: string): Promise<void> {
    await open()
      .database.db.updateTable("mail_templates")
      .set({ text })
      .where("account_id", "=", await readAccountId(open(), account))
      .execute();
  }

  const findTemplate = async ({ service }: TestAccount) =>
    (await service.emailTemplates.list({})).templates.find(({ category }) => category === "map");

  it("that fails is replaced by the built-in one, and disabled after three emails until it is saved again", async () => {
    const account = await open().newAccount();
    await account.service.emailTemplates.set({ category: "map", ...custom });
    expect(await send(account, 1)).toEqual(["Custom"]);
    await damage(account, "{{ nope }}");
    const [builtIn = "", second] = await send(account, 2);
    expect([builtIn === "Custom", second]).toEqual([false, builtIn]);
    const failing = await findTemplate(account);
    expect([failing?.disabled_at, failing?.problem]).toEqual([undefined, expect.stringContaining("nope")]);
    const { mails } = await account.service.emails.list({ count: 1 });
    const { message } = await account.service.emails.get({ mail_id: mails[0]?.id ?? 0 });
    expect(message?.subject).toBe(builtIn);
    expect(await send(account, 3)).toEqual([builtIn, builtIn, builtIn]);
    expect(await findTemplate(account)).toMatchObject({
      is_own: true,
      disabled_at: expect.any(String),
      problem: expect.stringContaining("nope"),
    });
    await damage(account, unsubscribe);
    expect(await send(account, 1)).toEqual([builtIn]);
    const { template } = await account.service.emailTemplates.set({ category: "map", ...custom });
    expect([template.disabled_at, template.problem]).toEqual([undefined, undefined]);
    expect(await send(account, 1)).toEqual(["Custom"]);
  });

  it("stays enabled if no thread can render it", async () => {
    const account = await open().newAccount();
    await account.service.emailTemplates.set({ category: "map", ...custom });
    await send(account, 4, { templateProblem: { message: "the thread did not start", isOfTemplate: false } });
    const template = await findTemplate(account);
    expect([template?.disabled_at, template?.problem]).toEqual([undefined, undefined]);
  });

  it("that fails for single emails stays enabled", async () => {
    const account = await open().newAccount();
    await account.service.emailTemplates.set({ category: "map", ...custom });
    for (let times = 0; times < 2; times += 1) {
      await damage(account, "{{ nope }}");
      await send(account, 2);
      await damage(account, unsubscribe);
      expect(await send(account, 1)).toEqual(["Custom"]);
    }
    const template = await findTemplate(account);
    expect([template?.disabled_at, template?.problem]).toEqual([undefined, undefined]);
  });
});
