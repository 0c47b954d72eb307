import { expect, it } from "vitest";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../support/builders.ts";
import { aQuestion, lastToken } from "../support/emails.ts";

const email = "zeb@mail.example";

/** Creates a customer with a record of every kind, and another customer with similar ones. */
async function addCustomers(harness: Harness, { service }: TestAccount): Promise<void> {
  for (const [address, name, at] of [
    [email, "Zeb Quark", "1"],
    ["bob@mail.example", "Bob", "2"],
  ] as const) {
    const products = { teapot: anOrderedProduct({ quantity: 2 }), "bad id": anOrderedProduct({ name: "Odd pot" }) };
    const order = anOrder({ email: address.toUpperCase(), customer_name: name, order_id: at, products });
    await service.orders.massCreate(bulkOrders([order]));
    await service.reviews.create(aReview({ email: address, display_name: name, user_reference: `u${at}` }));
    await service.links.follow({ token: await lastToken(harness, "verify_url") });
    await service.questions.sendConfirmation(aQuestion({ email: address, display_name: name }));
    await service.links.follow({ token: await lastToken(harness, "confirm_url") });
    const { questions } = await service.questions.list({ sku: "teapot" });
    const question_id = questions[0]?.id ?? 0;
    await service.answers.create({ question_id, content: `Yes ${at}`, display_name: name, email: address });
    await service.unsubscribers.massCreate({ email_list: { 2: [address] } });
  }
  const reviews = (await service.reviews.list({ deleted: true })).reviews;
  for (const { id } of reviews) await service.reviews.comment({ review_id: id, content: "Thank you" });
}

describeBackends("customers.get", (harness) => {
  it("returns the records of one customer, whatever the case of the address", async () => {
    const account = await harness().newAccount();
    await addCustomers(harness(), account);
    const { customer } = await account.service.customers.get({ email: "Zeb@Mail.Example" });
    const { mails, ...others } = customer;
    expect(others).toMatchObject({
      email: "Zeb@Mail.Example",
      names: ["Zeb Quark"],
      orders: [
        {
          order_id: "1",
          order_date: "2026-03-01T00:00:00.000Z",
          platform: "general",
          customer_name: "Zeb Quark",
          email: email.toUpperCase(),
          products: [{ product_id: "teapot", quantity: 2 }],
        },
      ],
      reviews: [
        {
          product_id: "teapot",
          score: 5,
          title: "Pours well",
          comment: "Thank you",
          reviewer_type: "verified_buyer",
          state: "published",
          user_reference: "u1",
          images: 0,
        },
      ],
      questions: [{ product_id: "teapot", content: "Does it pour well?", state: "public", answers: 1 }],
      answers: [{ product_id: "teapot", content: "Yes 1" }],
      unsubscribed: [{ email_type_id: 2, email_type: "targeted review requests", by: "MODERATOR" }],
      suppressed: [],
      missed_products: [{ order_id: "1", product_id: "bad id", name: "Odd pot", customer_name: "Zeb Quark" }],
    });
    expect(mails.map(({ category }) => category)).toEqual([
      "comment_notification",
      "question_confirmation",
      "anonymous_testimonials_request",
      "map",
    ]);
  });

  it("includes texts of the address that nobody has verified", async () => {
    const { service } = await harness().newAccount();
    await service.reviews.create(aReview({ email: "ZEB@mail.example", display_name: "Mallory" }));
    await service.reviews.create(aReview({ email: "ben@mail.example", display_name: "Ben" }));
    const { customer } = await service.customers.get({ email });
    expect(customer).toMatchObject({ names: ["Mallory"], reviews: [{ reviewer_type: "anonymous" }] });
  });

  it("returns empty lists for an unknown address, and records of no other account", async () => {
    await addCustomers(harness(), await harness().newAccount());
    const { service } = await harness().newAccount();
    const { customer } = await service.customers.get({ email });
    const { email: address, ...records } = customer;
    expect(address).toBe(email);
    expect(Object.values(records).every((list) => list.length === 0)).toBe(true);
  });
});
