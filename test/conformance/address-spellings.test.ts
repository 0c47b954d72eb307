import { expect, it } from "vitest";
import { describeIsolated, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../support/builders.ts";
import { findWords } from "../support/customers.ts";
import { evaluateDueEmails } from "../support/due-emails.ts";
import { aQuestion, lastToken } from "../support/emails.ts";

const written = "Zoë@Bücher.example";
const spellings = [
  "ZOË@bücher.example",
  "zoe\u0308@ｂücher.example",
  "zoë@xn--bcher-kva.example",
  "zoë@bücher。example",
];
/** Addresses of other people. */
const others = ["zoe@bücher.example", "zoë+tag@bücher.example", "z.oë@bücher.example"];

describeIsolated("an address that is spelled in several ways", (harness) => {
  let orders = 0;
  /** An order whose email is due now. */
  const order = (email: string, at = (orders += 1)) =>
    anOrder({ order_id: `o${at}`, order_date: "2026-03-01", email, products: { [`p${at}`]: anOrderedProduct() } });
  const orderFrom = ({ service }: TestAccount, ...emails: readonly string[]) =>
    service.orders.massCreate(bulkOrders(emails.map((email) => order(email))));
  const repeat = ({ service }: TestAccount, email: string) =>
    service.orders.massCreate(bulkOrders([order(email, 1)], { details: true }));
  /** Creates orders from each of the spellings and from others. Returns what becomes of the emails. */
  const evaluate = async (account: TestAccount) => {
    await orderFrom(account, ...spellings, ...others);
    const results = Object.values(await evaluateDueEmails(harness()));
    return [new Set(results.slice(0, spellings.length)), new Set(results.slice(spellings.length))];
  };

  it("keeps its spelling, and is found by each of them", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await orderFrom(account, written, ...others);
    await service.unsubscribers.massCreate({ email_list: { 2: [written] } });
    await service.reviews.createNow(aReview({ email: written, reviewer_type: "verified_reviewer" }));
    for (const email of [written, ...spellings]) {
      const { purchases } = await service.orders.search({ email });
      const { unsubscribers } = await service.unsubscribers.search({ email });
      const { reviews } = await service.reviews.search({ email });
      const { mails } = await service.emails.list({ email, category: "map" });
      const { customer } = await service.customers.get({ email });
      expect([...purchases, ...unsubscribers].map(({ user_email }) => user_email)).toEqual([written, written]);
      expect([...reviews, ...mails, ...customer.orders].map((row) => row.email)).toEqual([written, written, written]);
      expect([customer.email, customer.unsubscribed.length, customer.reviews.length]).toEqual([email, 1, 1]);
    }
  });

  it("is that of one customer: in repeated orders, as a buyer, as an author, and in a forecast", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    orders = 0;
    await orderFrom(account, written);
    for (const email of spellings) {
      expect((await repeat(account, email)).outcomes).toMatchObject([{ outcome: "unchanged" }]);
      await service.reviews.create(aReview({ sku: "p1", email }));
      await service.links.follow({ token: await lastToken(harness(), "verify_url") });
      const { reviews } = await service.reviews.list({});
      expect(reviews.at(-1)).toMatchObject({ reviewer_type: "verified_buyer", email: spellings[0] });
    }
    expect((await repeat(account, others[0] ?? "")).outcomes).toMatchObject([{ outcome: "dropped" }]);
    await orderFrom(account, written, ...spellings);
    expect((await service.emails.forecast({})).people).toBe(1);
  });

  it("is not emailed after it was unsubscribed in another one", async () => {
    const account = await harness().newAccount();
    await account.service.unsubscribers.massCreate({ email_list: { 1: [written], 8: [written] } });
    await account.service.unsubscribers.massDelete({ email_list: { 1: others } });
    expect(await evaluate(account)).toEqual([new Set(["unsubscribed"]), new Set(["leased"])]);
    for (const email of spellings) await account.service.questions.sendConfirmation(aQuestion({ email }));
    const { mails } = await account.service.emails.list({ category: "question_confirmation" });
    expect(mails.map(({ reason }) => reason)).toEqual(spellings.map(() => "unsubscribed"));
    const { unsubscribers } = await account.service.unsubscribers.massDelete({
      email_list: { 1: [spellings[0] ?? ""] },
    });
    expect(unsubscribers).toMatchObject([{ user_email: written }]);
  });

  it("is not emailed after it was erased in another one", async () => {
    const account = await harness().newAccount();
    await orderFrom(account, written, ...spellings);
    await account.service.customers.erase({ email: spellings[2] ?? "" });
    expect(await findWords(harness(), ["zoë", "bücher", "bcher-kva", "zoe\u0308"])).toEqual([]);
    await orderFrom(account, written, ...spellings, ...others);
    const { people, not_sent } = await account.service.emails.forecast({});
    expect([people, not_sent.unsubscribed]).toEqual([others.length, spellings.length + 1]);
  });

  it("is suppressed in all of them, and released in another one", async () => {
    const account = await harness().newAccount();
    const { service } = account;
    await service.questions.sendConfirmation(aQuestion({ email: written }));
    const { db } = harness().database;
    const { account_id, email_key } = await db
      .selectFrom("mails")
      .select(["account_id", "email_key"])
      .where("category", "=", "question_confirmation")
      .executeTakeFirstOrThrow();
    const suppression = { account_id, email_key, kind: "spamreports", mail_row: 1, created_at: 0 };
    await db.insertInto("mail_suppressions").values(suppression).execute();
    expect(await evaluate(account)).toEqual([new Set(["reported_spam"]), new Set(["leased"])]);
    expect(await service.emailSuppressions.lift({ email: spellings[3] ?? "" })).toMatchObject({
      lifted: ["spamreports"],
    });
  });

  it("is refused with characters that are not shown", async () => {
    const { service } = await harness().newAccount();
    const email = "zoe\u200B@mail.example";
    const invalid = { kind: "invalidParams", message: expect.stringContaining("invisible character") };
    await expect(service.reviews.createNow(aReview({ email }))).rejects.toMatchObject(invalid);
    await expect(service.questions.sendConfirmation(aQuestion({ email }))).rejects.toMatchObject(invalid);
    const { errors } = await service.orders.massCreate(bulkOrders([order(email)], { validate_data: true }));
    expect(errors).toMatchObject([{ field: "email", error: expect.stringContaining("invisible character") }]);
  });
});
