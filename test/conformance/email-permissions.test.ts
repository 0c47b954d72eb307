import { expect, it } from "vitest";
import { type EmailAccessChange, changeEmailAccess, readEmailAccess } from "../../src/engine/emails/administration.ts";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, bulkOrders } from "../support/builders.ts";
import { createWorker, sendDueEmails } from "../support/due-emails.ts";

const dayMs = 86_400_000;

describeIsolated("permission to send emails", (harness: () => Harness) => {
  const newTenant = () => harness().newAccount("Tenant", { maySendEmail: false });
  const change = ({ caller }: TestAccount, changed: EmailAccessChange) =>
    harness().work.write(undefined, (context) => changeEmailAccess(caller.appKey, changed, context));
  const readAccess = ({ caller }: TestAccount) =>
    harness().work.read((context) => readEmailAccess(caller.appKey, context));
  /** Sends what is due, and returns the recipients. */
  const send = async () => (await sendDueEmails(harness())).map(({ to }) => to.address);
  const addresses = (count: number, prefix = "p") =>
    Array.from({ length: count }, (_, nth) => `${prefix}${nth}@mail.example`);
  /** Creates orders whose emails are due. */
  const order = ({ service }: TestAccount, emails: readonly string[]) =>
    service.orders.massCreate(
      bulkOrders(
        emails.map((email) => anOrder({ order_id: email, email, order_date: "2026-03-01" })),
        { send_mail: true },
      ),
    );
  const listEmails = async ({ service }: TestAccount) => (await service.emails.list({ sort: "oldest" })).mails;

  it("is required for orders and tests; emails are held, and sent once the operator enables email", async () => {
    const tenant = await newTenant();
    await order(tenant, addresses(3));
    await tenant.service.emails.sendTest({ email: "victim@mail.example" });
    expect(await send()).toEqual([]);
    const held = await listEmails(tenant);
    expect(held.map(({ state, reason }) => `${state}: ${reason}`)).toEqual(Array(4).fill("queued: email_not_enabled"));
    expect(await readAccess(tenant)).toMatchObject({ isEnabled: false, held: { email_not_enabled: 4 }, usedToday: 0 });
    const { decisions } = await tenant.service.emails.explain({ order_id: "p0@mail.example" });
    expect(decisions[0]).toMatchObject({ state: "queued", sentence: expect.stringContaining("is held") as string });
    harness().clock.advance(2 * dayMs);
    expect(await send()).toEqual([]);
    await change(tenant, { type: "enable" });
    expect((await send()).toSorted()).toEqual([...addresses(3), "victim@mail.example"]);
    expect(await readAccess(tenant)).toMatchObject({ isEnabled: true, held: {}, usedToday: 4 });
    await change(tenant, { type: "disable" });
    await order(tenant, addresses(1, "later"));
    expect(await send()).toEqual([]);
  });

  it("is not required for test emails to approved recipients, but these count toward the quota", async () => {
    const tenant = await newTenant();
    const sendTest = (email: string) => tenant.service.emails.sendTest({ email });
    await sendTest("owner@shop.example");
    await sendTest("victim@mail.example");
    expect(await send()).toEqual([]);
    await change(tenant, { type: "approve", recipient: "Owner@shop.example" });
    expect(await send()).toEqual(["owner@shop.example"]);
    await change(tenant, { type: "quota", perDay: 2 });
    for (let tests = 0; tests < 3; tests += 1) await sendTest("OWNER@shop.example");
    await order(tenant, ["owner@shop.example"]);
    expect(await send()).toEqual(["OWNER@shop.example"]);
    await change(tenant, { type: "remove", recipient: "owner@shop.example" });
    harness().clock.advance(dayMs);
    expect(await send()).toEqual([]);
    expect((await readAccess(tenant)).testRecipients).toEqual([]);
  });

  it("is not required for the outbox folder", async () => {
    const tenant = await newTenant();
    await order(tenant, addresses(2));
    const { emails, held } = await createWorker(harness(), "outbox", true).claim(10);
    expect([emails.length, held]).toEqual([2, []]);
  });

  it("covers a daily quota; emails above it are sent on the next days", async () => {
    const account = await harness().newAccount();
    await change(account, { type: "quota", perDay: 2 });
    await order(account, addresses(5));
    expect(await send()).toHaveLength(2);
    const [first] = (await account.service.emails.list({ state: "queued" })).mails;
    expect(first).toMatchObject({ reason: "daily_quota_reached", due_at: "2026-03-16T00:00:00.000Z" });
    expect(await readAccess(account)).toMatchObject({ dailyQuota: 2, usedToday: 2, held: { daily_quota_reached: 3 } });
    expect(await send()).toEqual([]);
    harness().clock.advance(dayMs);
    expect(await send()).toHaveLength(2);
    await change(account, { type: "quota", perDay: null });
    expect(await send()).toHaveLength(1);
  });

  it("is counted once for all workers, and only for emails that the mail server took", async () => {
    const account = await harness().newAccount();
    await change(account, { type: "quota", perDay: 3 });
    await order(account, addresses(8));
    const workers = ["a", "b", "c"].map((name) => createWorker(harness(), name));
    const claims = await Promise.all(workers.map((worker) => worker.claim(3)));
    const begun = await Promise.all(
      claims.map(async ({ emails }, nth) => {
        const ids: number[] = [];
        for (const { email } of emails) if ((await workers[nth]?.step([], email.id))?.hasBegun) ids.push(email.id);
        return ids;
      }),
    );
    expect(begun.flat()).toHaveLength(3);
    const refuser = begun.findIndex((ids) => ids.length > 0);
    const id = begun[refuser]?.[0] ?? 0;
    await workers[refuser]?.step([{ id, outcome: { state: "unreachable" } }]);
    expect(await readAccess(account)).toMatchObject({ usedToday: 2 });
  });

  it("comes too late for emails that were held for more than 30 days", async () => {
    const tenant = await newTenant();
    await order(tenant, addresses(1));
    expect(await send()).toEqual([]);
    harness().clock.advance(31 * dayMs);
    await change(tenant, { type: "enable" });
    expect(await send()).toEqual([]);
    const rows = await harness().database.db.selectFrom("mails").select(["state", "reason"]).execute();
    expect(rows).toEqual([{ state: "not_sent", reason: "held_too_long" }]);
  });

  it("does not let the emails of one account delay those of others", async () => {
    const [tenant, other] = [await newTenant(), await harness().newAccount()];
    await order(tenant, addresses(120));
    await order(other, ["ann@mail.example"]);
    const worker = createWorker(harness());
    const { emails, held } = await worker.claim(50);
    expect(held).toMatchObject([{ appKey: tenant.caller.appKey, reason: "email_not_enabled", emails: 120 }]);
    expect([...emails, ...(await worker.claim(50)).emails].map(({ email }) => email.to.address)).toEqual([
      "ann@mail.example",
    ]);
  });
});
