import { expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { lastToken } from "../support/mails.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOf } from "../support/builders.ts";

/** The day of the tests' clock, and the day on which mails of an order of that day are due. */
const [today, dueLater] = ["2026-03-15", "2026-03-29"];
const nothing = {
  requests_off: 0,
  order_too_old: 0,
  bad_address: 0,
  product_blacklisted: 0,
  mails_stopped: 0,
  unsubscribed: 0,
  reported_spam: 0,
  bounced_before: 0,
  reviewed_lately: 0,
  too_many_to_person: 0,
};

type Order = Parameters<typeof anOrder>[0];

async function bring(
  { service }: Pick<TestAccount, "service">,
  ...orders: NonNullable<Order>[]
): Promise<void> {
  const made = orders.map((fields, at) => anOrder({ order_id: `o${at + 1}`, order_date: today, ...fields }));
  await service.orders.massCreate(bulkOf(made));
}

const pots = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, anOrderedProduct()]));

describeBackends("a forecast of mails", (harness: () => Harness) => {
  it("has nothing to say of an account without orders", async () => {
    const { service } = await harness().newAccount();
    expect(await service.emails.forecast({})).toEqual({ mails: 0, people: 0, days: [], not_sent: nothing });
  });

  it("counts one mail a product of an order, 14 days after it, or today where that is past", async () => {
    const account = await harness().newAccount();
    await bring(
      account,
      { products: { teapot: anOrderedProduct({ quantity: 3 }), pan: anOrderedProduct() } },
      { email: "ANN@mail.example", order_date: "2026-03-10" },
      { email: "bo@mail.example", order_date: "2026-01-01" },
      { email: "cy@mail.example", order_date: "2026-03-01" },
    );
    expect(await account.service.emails.forecast({})).toEqual({
      mails: 5,
      people: 3,
      days: [
        { day: today, mails: 2 },
        { day: "2026-03-24", mails: 1 },
        { day: dueLater, mails: 2 },
      ],
      not_sent: nothing,
    });
  });

  it("looks at the purchases from an id on, of the account alone", async () => {
    const [account, other] = [await harness().newAccount(), await harness().newAccount()];
    await bring(account, {}, { email: "bo@mail.example" });
    await bring(other, {});
    const { purchases } = await account.service.orders.list({});
    const last = purchases.at(-1)?.id ?? 0;
    const forecast = async (id: number) =>
      (await account.service.emails.forecast({ since_purchase_id: id })).mails;
    expect([await forecast(0), await forecast(last), await forecast(last + 1)]).toEqual([2, 1, 0]);
  });

  it("leaves out orders that are older than six months to the day", async () => {
    const account = await harness().newAccount();
    await bring(account, { order_date: "2025-09-15" }, { order_date: "2025-09-14", products: pots("pan") });
    const { mails, not_sent } = await account.service.emails.forecast({});
    expect({ mails, not_sent }).toEqual({ mails: 1, not_sent: { ...nothing, order_too_old: 1 } });
  });

  it("leaves out blacklisted products, and what mails are stopped for", async () => {
    const account = await harness().newAccount();
    await bring(
      account,
      { products: pots("teapot", "pan") },
      { email: "bo@mail.example", products: pots("pan", "cup") },
      { email: "cy@mail.example", products: pots("pan", "cup") },
    );
    const { orders, products, emails } = account.service;
    await products.massUpdate({ products: { teapot: aProduct({ blacklisted: true }) } });
    await orders.cancelEmails({ orders: [{ order_id: "o2", skus: ["cup"] }, { order_id: "o3" }] });
    const { mails, people, not_sent } = await emails.forecast({});
    expect({ mails, people, not_sent }).toEqual({
      mails: 2,
      people: 2,
      not_sent: { ...nothing, product_blacklisted: 1, mails_stopped: 3 },
    });
  });

  it("leaves out who is unsubscribed from mails after purchase, and from no others", async () => {
    const account = await harness().newAccount();
    await bring(account, { email: "Ann@Mail.example" }, { email: "bo@mail.example" });
    await account.service.unsubscribers.massCreate({
      email_list: { 1: ["ann@mail.example"], 2: ["bo@mail.example"] },
    });
    const { mails, not_sent } = await account.service.emails.forecast({});
    expect({ mails, not_sent }).toEqual({ mails: 1, not_sent: { ...nothing, unsubscribed: 1 } });
  });

  const review = async ({ reviews, links }: Service, email: string) => {
    await reviews.create(aReview({ email }));
    await links.follow({ token: await lastToken(harness(), "verify_url") });
  };

  it("leaves out who reviewed the same product in the last twelve months, under a verified address", async () => {
    const { caller, secret, service: before } = await harness().newAccount();
    await review(before, "old@mail.example");
    harness().clock.advance(366 * 24 * 3_600_000);
    // A token does not live as long.
    const grant = { client_id: caller.appKey, client_secret: secret, grant_type: "client_credentials" };
    const { access_token: utoken } = await before.tokens.create(grant);
    const service = harness().service({ appKey: caller.appKey, utoken });
    await review(service, "ann@mail.example");
    await service.reviews.createNow(aReview({ email: "unverified@mail.example" }));
    await bring(
      { service },
      { email: "ANN@mail.example", order_date: "2027-03-16", products: pots("teapot", "pan") },
      { email: "old@mail.example", order_date: "2027-03-16" },
      { email: "unverified@mail.example", order_date: "2027-03-16" },
    );
    const { mails, people, not_sent } = await service.emails.forecast({});
    expect({ mails, people, not_sent }).toEqual({
      mails: 3,
      people: 3,
      not_sent: { ...nothing, reviewed_lately: 1 },
    });
  });

  it("gives a person five mails in any thirty days, the earliest of them", async () => {
    const account = await harness().newAccount();
    await bring(
      account,
      // Due on the 15th: five go. On the 13th of April, within thirty days: none. On the 14th: five again.
      { order_date: "2026-02-01", products: pots("a", "b", "c", "d", "e", "f") },
      { order_date: "2026-03-30", products: pots("g") },
      { order_date: "2026-03-31", products: pots("h", "i") },
      { email: "bo@mail.example", order_date: "2026-02-01", products: pots("a") },
    );
    expect(await account.service.emails.forecast({})).toEqual({
      mails: 8,
      people: 2,
      days: [
        { day: today, mails: 6 },
        { day: "2026-04-14", mails: 2 },
      ],
      not_sent: { ...nothing, too_many_to_person: 2 },
    });
  });

  it("changes nothing, and asks for a token", async () => {
    const account = await harness().newAccount();
    await bring(account, {});
    const first = await account.service.emails.forecast({});
    expect(await account.service.emails.forecast({})).toEqual(first);
    const anybody = harness().service({ appKey: account.caller.appKey });
    await expect(anybody.emails.forecast({})).rejects.toMatchObject({ kind: "unauthorized" });
  });
});
