import { expect, it } from "vitest";
import { emailCounters, maxStats } from "../../src/contract/index.ts";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { aQuestion, readEmailCounts, readEmails } from "../support/emails.ts";
import { invalidField } from "../support/service-errors.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const zeroCounts = Object.fromEntries(emailCounters.map((name) => [name, 0]));
/** The day of the test clock. */
const today = "2026-03-15";

async function insertCounts(
  { database }: Harness,
  appKey: string,
  rows: readonly (readonly [category: string, date: string, counter: string, mails: number])[],
): Promise<void> {
  const { id } = await database.db
    .selectFrom("accounts")
    .select("id")
    .where("app_key", "=", appKey)
    .executeTakeFirstOrThrow();
  const values = rows.map(([category, date, counter, mails]) => ({
    account_id: id,
    category,
    day: Date.parse(date) / dayMs,
    counter,
    mails,
  }));
  await database.db.insertInto("mail_counts").values(values).execute();
}

describeIsolated("email statistics and test emails", (harness) => {
  it("counts emails on the day they were queued", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    await service.questions.sendConfirmation(aQuestion({ review_content: "And?" }));
    harness().clock.advance(12 * 60 * 60 * 1_000);
    await service.emails.sendTest({});
    const stats = await service.emails.stats({
      since_date: today,
      to_date: "2026-03-16",
      categories: "question_confirmation, map,reminder,map",
      aggregate: "day",
    });
    const [first, second] = [`${today},${today}`, "2026-03-16,2026-03-16"];
    expect(stats).toEqual({
      question_confirmation: { [first]: { ...zeroCounts, requests: 2 }, [second]: zeroCounts },
      map: { [first]: zeroCounts, [second]: { ...zeroCounts, requests: 1 } },
      reminder: { [first]: zeroCounts, [second]: zeroCounts },
    });
    expect(Object.keys(stats)).toEqual(["question_confirmation", "map", "reminder"]);
  });

  it("sums the counts of each range, including its first and last day, within the account", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    await insertCounts(harness(), one.caller.appKey, [
      ["map", "2026-01-30", "opens", 1],
      ["map", "2026-01-31", "opens", 2],
      ["map", "2026-02-27", "opens", 4],
      ["map", "2026-02-28", "opens", 8],
      ["map", "2026-03-30", "delivered", 16],
      ["map", "2026-03-31", "delivered", 32],
      ["map", "2026-04-02", "delivered", 64],
      ["map", "2026-04-03", "delivered", 128],
      ["reminder", "2026-02-01", "opens", 256],
    ]);
    await insertCounts(harness(), other.caller.appKey, [["map", "2026-02-01", "opens", 1_000]]);
    const stats = await one.service.emails.stats({
      since_date: "2026-01-31",
      to_date: "2026-04-02",
      categories: "map",
      aggregate: "month",
    });
    expect(stats).toEqual({
      map: {
        "2026-01-31,2026-02-27": { ...zeroCounts, opens: 6 },
        "2026-02-28,2026-03-30": { ...zeroCounts, opens: 8, delivered: 16 },
        "2026-03-31,2026-04-02": { ...zeroCounts, delivered: 96 },
      },
    });
  });

  it("accepts the longest range, and rejects a longer one and one that ends before it starts", async () => {
    const { service } = await harness().newAccount();
    const stats = (since_date: string, to_date: string) =>
      service.emails.stats({ since_date, to_date, categories: "map", aggregate: "day" });
    const since = "2020-01-01";
    const last = (days: number) => new Date(Date.parse(since) + (days - 1) * dayMs).toISOString().slice(0, 10);
    const longest = await stats(since, last(maxStats.ranges));
    expect(Object.keys(longest["map"] ?? {})).toHaveLength(maxStats.ranges);
    await expect(stats(since, last(maxStats.ranges + 1))).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining(String(maxStats.ranges)),
    });
    const years = { since_date: since, categories: "map", aggregate: "year" } as const;
    const decades = await service.emails.stats({ ...years, to_date: last(maxStats.days) });
    expect(Object.keys(decades["map"] ?? {})).toHaveLength(21);
    await expect(service.emails.stats({ ...years, to_date: last(maxStats.days + 1) })).rejects.toMatchObject(
      invalidField("since_date", "to_date", maxStats.days),
    );
    await expect(stats("0001-01-01", "9999-12-31")).rejects.toMatchObject({ kind: "invalidParams" });
    await expect(stats("2026-03-02", "2026-03-01")).rejects.toMatchObject(invalidField("since_date", "to_date"));
  });

  it("queues a test email to the given address, or to the account's own", async () => {
    const { service } = await harness().newAccount("Tea Shop");
    expect(await service.emails.sendTest({})).toEqual({});
    expect(await service.emails.sendTest({ email: "me@mail.example" })).toEqual({});
    const testEmail = { category: "map", email_type_id: 1, name: "Tea Shop", state: "queued" };
    const data = expect.objectContaining({
      is_test: true,
      order_date: today,
      products: [{ product_id: "sample", name: "Sample product", url: "https://shop.example", image_url: null }],
      unsubscribe_url: expect.stringContaining("/starpost/v1/l/"),
    });
    expect(await readEmails(harness())).toEqual([
      { ...testEmail, email: "owner1@shop.example", data },
      { ...testEmail, email: "me@mail.example", data },
    ]);
    await expect(service.emails.sendTest({ email: "me" })).rejects.toMatchObject({ kind: "invalidParams" });
  });

  it("requires an address if the account has none", async () => {
    const { service } = await harness().newAccount();
    await harness().database.db.deleteFrom("users").execute();
    await expect(service.emails.sendTest({})).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringContaining("Missing email"),
    });
    expect(await service.emails.sendTest({ email: "me@mail.example" })).toEqual({});
    expect(await readEmails(harness())).toHaveLength(1);
  });

  it("rejects a test email to an unsubscribed address", async () => {
    const { service } = await harness().newAccount();
    await service.unsubscribers.massCreate({ email_list: { 1: ["ME@mail.example"], 2: ["you@mail.example"] } });
    await expect(service.emails.sendTest({ email: "me@mail.example" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringMatching(/me@mail\.example .*\breviews\b/),
    });
    expect(await service.emails.sendTest({ email: "you@mail.example" })).toEqual({});
    expect(await readEmailCounts(harness(), "map")).toEqual({ requests: 1 });
  });
});
