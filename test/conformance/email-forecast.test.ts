import { expect, it } from "vitest";
import { newAccountPerProduct } from "../support/due-emails.ts";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { lastToken } from "../support/emails.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "../support/builders.ts";

/** The day of the test clock, and the day on which emails for an order of that day are due. */
const [today, dueLater] = ["2026-03-15", "2026-03-29"];
const noneSuppressed = {
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

async function createOrders({ service }: Pick<TestAccount, "service">, ...orders: NonNullable<Order>[]): Promise<void> {
  const orderInputs = orders.map((fields, at) => anOrder({ order_id: `o${at + 1}`, order_date: today, ...fields }));
  await service.orders.massCreate(bulkOrders(orderInputs));
}

const orderedProducts = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, anOrderedProduct()]));

describeBackends("emails.forecast", (harness: () => Harness) => {
  it("is empty for an account without orders", async () => {
    const { service } = await newAccountPerProduct(harness());
    expect(await service.emails.forecast({})).toEqual({ mails: 0, people: 0, days: [], not_sent: noneSuppressed });
  });

  it("counts one email per product of an order, 14 days after it or, if that is past, today", async () => {
    const account = await newAccountPerProduct(harness());
    await createOrders(
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
      not_sent: noneSuppressed,
    });
  });

  it("covers the account's purchases from an ID on", async () => {
    const [account, other] = [await newAccountPerProduct(harness()), await newAccountPerProduct(harness())];
    await createOrders(account, {}, { email: "bo@mail.example" });
    await createOrders(other, {});
    const { purchases } = await account.service.orders.list({});
    const last = purchases.at(-1)?.id ?? 0;
    const forecast = async (id: number) => (await account.service.emails.forecast({ since_purchase_id: id })).mails;
    expect([await forecast(0), await forecast(last), await forecast(last + 1)]).toEqual([2, 1, 0]);
  });

  it("excludes orders older than six months to the day", async () => {
    const account = await newAccountPerProduct(harness());
    await createOrders(
      account,
      { order_date: "2025-09-15" },
      { order_date: "2025-09-14", products: orderedProducts("pan") },
    );
    const { mails, not_sent } = await account.service.emails.forecast({});
    expect({ mails, not_sent }).toEqual({ mails: 1, not_sent: { ...noneSuppressed, order_too_old: 1 } });
  });

  it("excludes blacklisted products and canceled emails", async () => {
    const account = await newAccountPerProduct(harness());
    await createOrders(
      account,
      { products: orderedProducts("teapot", "pan") },
      { email: "bo@mail.example", products: orderedProducts("pan", "cup") },
      { email: "cy@mail.example", products: orderedProducts("pan", "cup") },
    );
    const { orders, products, emails } = account.service;
    await products.massUpdate({ products: { teapot: aProduct({ blacklisted: true }) } });
    await orders.cancelEmails({ orders: [{ order_id: "o2", skus: ["cup"] }, { order_id: "o3" }] });
    const { mails, people, not_sent } = await emails.forecast({});
    expect({ mails, people, not_sent }).toEqual({
      mails: 2,
      people: 2,
      not_sent: { ...noneSuppressed, product_blacklisted: 1, mails_stopped: 3 },
    });
  });

  it("excludes addresses unsubscribed from emails after purchase, but not from other types", async () => {
    const account = await newAccountPerProduct(harness());
    await createOrders(account, { email: "Ann@Mail.example" }, { email: "bo@mail.example" });
    await account.service.unsubscribers.massCreate({ email_list: { 1: ["ann@mail.example"], 2: ["bo@mail.example"] } });
    const { mails, not_sent } = await account.service.emails.forecast({});
    expect({ mails, not_sent }).toEqual({ mails: 1, not_sent: { ...noneSuppressed, unsubscribed: 1 } });
  });

  const review = async ({ reviews, links }: Service, email: string) => {
    await reviews.create(aReview({ email }));
    await links.follow({ token: await lastToken(harness(), "verify_url") });
  };

  it("excludes reviewers of the same product in the last twelve months, under a verified address", async () => {
    const { caller, secret, service: before } = await newAccountPerProduct(harness());
    await review(before, "old@mail.example");
    harness().clock.advance(366 * 24 * 3_600_000);
    // The account's token has expired by now.
    const grant = { client_id: caller.appKey, client_secret: secret, grant_type: "client_credentials" };
    const { access_token: utoken } = await before.tokens.create(grant);
    const service = harness().service({ appKey: caller.appKey, utoken });
    await review(service, "ann@mail.example");
    await service.reviews.createNow(aReview({ email: "unverified@mail.example" }));
    await createOrders(
      { service },
      { email: "ANN@mail.example", order_date: "2027-03-16", products: orderedProducts("teapot", "pan") },
      { email: "old@mail.example", order_date: "2027-03-16" },
      { email: "unverified@mail.example", order_date: "2027-03-16" },
    );
    const { mails, people, not_sent } = await service.emails.forecast({});
    expect({ mails, people, not_sent }).toEqual({
      mails: 3,
      people: 3,
      not_sent: { ...noneSuppressed, reviewed_lately: 1 },
    });
  });

  it("allows five emails to a person in any 30 days, the earliest ones", async () => {
    const account = await newAccountPerProduct(harness());
    await createOrders(
      account,
      // Due on the 15th: five are sent. On April 13, within 30 days: none. On April 14: five again.
      { order_date: "2026-02-01", products: orderedProducts("a", "b", "c", "d", "e", "f") },
      { order_date: "2026-03-30", products: orderedProducts("g") },
      { order_date: "2026-03-31", products: orderedProducts("h", "i") },
      { email: "bo@mail.example", order_date: "2026-02-01", products: orderedProducts("a") },
    );
    expect(await account.service.emails.forecast({})).toEqual({
      mails: 8,
      people: 2,
      days: [
        { day: today, mails: 6 },
        { day: "2026-04-14", mails: 2 },
      ],
      not_sent: { ...noneSuppressed, too_many_to_person: 2 },
    });
  });
});
