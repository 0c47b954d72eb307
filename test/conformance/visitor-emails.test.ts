import { expect, it } from "vitest";
import { describeIsolated, type TestAccount } from "../support/backends.ts";
import { aProduct, aReview } from "../support/builders.ts";
import { aQuestion, readEmails } from "../support/emails.ts";

const spam = "Cheap pills at https://spam.example";

/** Text that a visitor sends in every field that accepts it. */
const spamReview = aReview({
  display_name: spam,
  product_title: spam,
  product_url: "https://spam.example/a",
  product_image_url: "https://spam.example/b.png",
  product_description: spam,
  review_title: spam,
  review_content: spam,
});
const spamQuestion = aQuestion({
  display_name: spam,
  product_title: spam,
  product_url: "https://spam.example/a",
  product_image_url: "https://spam.example/b.png",
  product_description: spam,
  product_tags: spam,
  review_content: spam,
});

describeIsolated("emails to addresses that a visitor states", (harness) => {
  const visit = ({ caller }: TestAccount) => harness().service({ appKey: caller.appKey });

  /** Sends the review and the question as a visitor, and returns the emails to that address. */
  const send = async (account: TestAccount, fields: object = {}) => {
    await visit(account).reviews.create({ ...spamReview, ...fields });
    await visit(account).questions.sendConfirmation({ ...spamQuestion, ...fields });
    return (await readEmails(harness())).filter(({ email }) => email === "ann@mail.example").slice(-2);
  };

  it("contain nothing that the visitor wrote, even about a product that only visitors have named", async () => {
    const account = await harness().newAccount("Tea Shop");
    for (const emails of [await send(account), await send(account)]) {
      expect(emails.map(({ category }) => category)).toEqual([
        "anonymous_testimonials_request",
        "question_confirmation",
      ]);
      expect(JSON.stringify(emails)).not.toMatch(/spam|pills/i);
      expect(emails[0]?.data["product_name"]).toBeNull();
    }
    expect(JSON.stringify(await send(account, { sku: "service_site_reviews" }))).not.toMatch(/spam|pills/i);
  });

  it("name the product as the store did, also after a visitor named it first", async () => {
    const account = await harness().newAccount("Tea Shop");
    await account.service.products.massCreate({ products: { kettle: aProduct({ name: "Kettle" }) } });
    for (const { data } of await send(account, { sku: "kettle", product_id: "kettle" })) {
      expect(data["product_name"]).toBe("Kettle");
      expect(JSON.stringify(data)).not.toMatch(/spam|pills/i);
    }
    await send(account);
    // Without a name, the update does not vouch for the visitor's.
    await account.service.products.massUpdate({ products: { teapot: { price: "5" } } });
    expect(JSON.stringify(await send(account))).not.toMatch(/spam|pills/i);
    await account.service.products.massUpdate({ products: { teapot: { name: "Teapot" } } });
    const names = (await send(account)).map(({ data }) => data["product_name"]);
    expect(names).toEqual(["Teapot", "Teapot"]);
  });

  it("name a product that the store named in a review", async () => {
    const account = await harness().newAccount("Tea Shop");
    await account.service.reviews.createNow(aReview({ product_title: "Teapot" }));
    const names = (await send(account)).map(({ data }) => data["product_name"]);
    expect(names).toEqual(["Teapot", "Teapot"]);
  });
});
