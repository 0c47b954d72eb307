import { expect, it } from "vitest";
import { describeBackends, type Harness, type TestAccount, describeIsolated } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../support/builders.ts";
import { aQuestion, lastToken } from "../support/emails.ts";
import { operations } from "../../src/contract/index.ts";
import { tinyPng } from "../support/photos.ts";

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

/** The operations that anyone may call with only the ID of a row. */
const openById = [...operations].flatMap(([name, { auth, paths, input }]) => {
  const [, field] = /\{(\w+_id)\}/.exec(paths[0]) ?? [];
  if (auth !== "open" || field === undefined) return [];
  return [{ name, field, others: "vote_type" in (input as { shape?: object }).shape! ? { vote_type: "up" } : {} }];
});

const ids = [1, 2, 3, 4, 5, 6];

describeIsolated("operations without an app key", (harness) => {
  it("reveal no app key, no full name of a shopper, and no address of any account", async () => {
    const { service, caller, secret } = await harness().newAccount("Olga Ownerson");
    for (const display_name of ["Ann Leeds", "bob.leeds@mail.example"]) {
      const { image_upload_token } = await service.reviews.create(aReview({ display_name, email: "x@mail.example" }));
      await service.images.upload({ image_upload_token, image: tinyPng });
      await service.links.follow({ token: await lastToken(harness(), "verify_url") });
    }
    await service.questions.sendConfirmation(aQuestion({ display_name: "Cy Leeds", email: "cy@mail.example" }));
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const { questions } = await service.questions.list({ sku: "teapot" });
    await service.answers.create({ question_id: questions[0]?.id ?? 0, content: "It does." });

    const read: string[] = [];
    for (const { name, field, others } of openById) {
      for (const id of ids) {
        const called = harness().transport.call(name, { [field]: id, ...others } as never, {});
        await called.then(
          (output) => read.push(JSON.stringify(output)),
          () => {},
        );
      }
    }
    expect(openById.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["reviews.get", "users.get", "images.get", "reviews.vote", "answers.vote"]),
    );
    // Two reviews, two images, three shoppers or owners, and votes.
    expect(read.length).toBeGreaterThanOrEqual(10);
    expect(read.join("\n")).toMatch(/Ann L\./);
    for (const kept of [caller.appKey, caller.utoken, secret, /leeds/i, /@/]) {
      expect(read.join("\n")).not.toMatch(kept);
    }
    expect((await service.reviews.list({})).reviews.map(({ name }) => name)).toContain("Ann Leeds");
  });

  it("link a review to the product's page instead of a page of the account", async () => {
    const { service } = await harness().newAccount();
    const { reviews } = await service.reviews.createNow(aReview());
    const { review } = await service.reviews.get({ review_id: reviews[0]?.id ?? 0 });
    expect(review.products[0]?.Product).toMatchObject({
      social_network_links: { facebook: "https://shop.example/teapot" },
      facebook_testemonials_page_product_url: "https://shop.example/teapot",
    });
  });
});
