import { expect, it } from "vitest";
import { imageLimits, type ShopperForm, siteReviewsId } from "../../src/contract/index.ts";
import { describeIsolated, describeEngine, type Harness, type TestAccount } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { lastToken, readEmails } from "../support/emails.ts";
import { takePhoto, tinyPng } from "../support/photos.ts";

const email = "ann@mail.example";
const typed = {
  score: "4",
  title: "  Pours   well ",
  content: "No drips.\r\nNone.",
  display_name: "Ann Tea",
  email,
};
const asked = { content: "Does it pour?", display_name: "Ann Tea", email };

async function setUp(harness: Harness) {
  const account = await harness.newAccount("Tea Shop");
  const { service, caller } = account;
  await service.products.massCreate({
    products: {
      teapot: { name: "Teapot", url: "https://shop.example/teapot", image_url: "https://shop.example/t.png" },
    },
  });
  return { account, service, visitor: harness.service({ appKey: caller.appKey }) };
}

const tokenOf = (url: string | null) => url?.split("/").at(-1) ?? "";

const readStored = async ({ service }: TestAccount) =>
  (await service.reviews.list({ deleted: true })).reviews.map(({ title, content, score, sku }) => ({
    title,
    content,
    score,
    sku,
  }));

describeIsolated("the form for a review", (harness) => {
  it("describes the product or the store, without a token", async () => {
    const { visitor } = await setUp(harness());
    const { form } = await visitor.forms.review({ product_id: "teapot" });
    expect(form).toEqual({
      is_site: false,
      store_name: "Tea Shop",
      product: { name: "Teapot", url: "https://shop.example/teapot", image_url: "https://shop.example/t.png" },
      fields: { score: "", title: "", content: "", display_name: "", email: "" },
      problems: [],
      my_reviews_url: expect.stringMatching(/\/pages\/\w+\/my_reviews$/) as string,
    } satisfies ShopperForm);
    const site = await visitor.forms.review({ product_id: siteReviewsId });
    expect(site.form).toMatchObject({ is_site: true, product: { name: "Tea Shop" } });
    await expect(visitor.forms.review({ product_id: "unknown" })).rejects.toMatchObject({ kind: "recordNotFound" });
    const submitted = visitor.forms.submitReview({ product_id: "unknown", ...typed });
    await expect(submitted).rejects.toMatchObject({ kind: "recordNotFound" });
  });

  it("stores the same review, and sends the same emails, as a call of the API", async () => {
    const { account, visitor } = await setUp(harness());
    const { form, url } = await visitor.forms.submitReview({ product_id: "teapot", ...typed });
    expect(form.problems).toEqual([]);
    expect(url).toMatch(/^http.*\/starpost\/v1\/p\/v1\./);
    const readKinds = async () => (await readEmails(harness())).map(({ category }) => category).toSorted();
    const byForm = { reviews: await readStored(account), emails: await readKinds() };
    expect(byForm.reviews).toEqual([{ title: "Pours well", content: "No drips.\nNone.", score: 4, sku: "teapot" }]);

    const other = await setUp(harness());
    await other.visitor.reviews.create(
      aReview({
        email,
        display_name: "Ann Tea",
        review_title: "Pours well",
        review_content: "No drips.\nNone.",
        review_score: 4,
      }),
    );
    expect(await readStored(other.account)).toEqual(byForm.reviews);
    expect(await readKinds()).toEqual([...byForm.emails, ...byForm.emails].toSorted());
  });

  it("stores a review of the store", async () => {
    const { account, visitor } = await setUp(harness());
    await visitor.forms.submitReview({ product_id: siteReviewsId, ...typed });
    expect(await readStored(account)).toMatchObject([{ title: "Pours well", sku: siteReviewsId }]);
  });

  it("reports what is wrong with each field, keeps what was typed, and stores nothing", async () => {
    const { account, visitor } = await setUp(harness());
    const faulty = { score: "6", title: "\u200B", content: "x".repeat(10_001), display_name: "", email: "ann@" };
    const { form, url } = await visitor.forms.submitReview({ product_id: "teapot", ...faulty });
    expect(form.problems.map(({ field }) => field)).toEqual(["score", "title", "content", "display_name", "email"]);
    expect([form.fields, url]).toEqual([faulty, null]);
    expect(await readStored(account)).toEqual([]);
    expect(await readEmails(harness())).toEqual([]);
  });
});

describeIsolated("the form for a question", (harness) => {
  it("stores the question once, and asks its author to confirm it", async () => {
    const { service, visitor } = await setUp(harness());
    const { form } = await visitor.forms.question({ product_id: "teapot" });
    expect(form).toMatchObject({ state: "ready", product: { name: "Teapot" } });
    for (const _ of [1, 2]) {
      const sent = await visitor.forms.submitQuestion({ product_id: "teapot", ...asked });
      expect(sent.form.state).toBe("sent");
    }
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const { questions } = await visitor.questions.list({ sku: "teapot" });
    expect(questions).toMatchObject([{ content: "Does it pour?", asker: { display_name: "Ann T." } }]);
    expect((await readEmails(harness())).filter(({ category }) => /question/.test(category))).toHaveLength(1);
  });

  it("is missing for the store, for an unknown product, and if the store takes no questions", async () => {
    const { service, visitor } = await setUp(harness());
    for (const product_id of [siteReviewsId, "unknown"]) {
      await expect(visitor.forms.question({ product_id })).rejects.toMatchObject({ kind: "recordNotFound" });
    }
    await service.account.setFeature({ feature: "questions_and_answers", enabled: false });
    for (const call of [
      () => visitor.forms.question({ product_id: "teapot" }),
      () => visitor.forms.submitQuestion({ product_id: "teapot", ...asked }),
    ]) {
      await expect(call()).rejects.toMatchObject({ kind: "featureDisabled" });
    }
  });

  it("reports what is wrong with each field", async () => {
    const { visitor } = await setUp(harness());
    const { form } = await visitor.forms.submitQuestion({ product_id: "teapot", content: " ", email: "no" });
    expect(form.problems.map(({ field }) => field)).toEqual(["content", "display_name", "email"]);
    expect(form.state).toBe("ready");
  });
});

describeIsolated("the form for photos", (harness) => {
  const newToken = async ({ visitor }: Awaited<ReturnType<typeof setUp>>) =>
    tokenOf((await visitor.forms.submitReview({ product_id: "teapot", ...typed })).url);

  it("adds photos to the review up to the limit, and shows them once the author is confirmed", async () => {
    const shop = await setUp(harness());
    const image_upload_token = await newToken(shop);
    const anyone = harness().service({});
    const start = await anyone.forms.photos({ image_upload_token });
    expect(start.form).toMatchObject({
      state: "ready",
      product: { name: "Teapot" },
      review: { title: "Pours well", display_name: "Ann T.", score: 4 },
      review_state: "public",
      is_confirmed: false,
      photos: 0,
      takes_photos: true,
      problem: null,
    });
    const image = (await takePhoto({ width: 40, height: 30 })).toString("base64");
    for (let photos = 1; photos <= imageLimits.perReview; photos += 1) {
      const { form, url } = await anyone.forms.addPhoto({ image_upload_token, image });
      expect([form.photos, form.problem, form.takes_photos]).toEqual([photos, null, photos < imageLimits.perReview]);
      expect(url).toMatch(/\/starpost\/v1\/p\//);
    }
    const full = await anyone.forms.addPhoto({ image_upload_token, image });
    expect([full.form.problem, full.form.photos, full.url]).toEqual(["many", imageLimits.perReview, null]);
    const shown = async () =>
      (await shop.visitor.reviews.widget({ product_id: "teapot" })).reviews[0]?.images_data ?? [];
    expect(await shown()).toHaveLength(0);
    await shop.service.links.follow({ token: await lastToken(harness(), "verify_url") });
    expect(await shown()).toHaveLength(imageLimits.perReview);
    expect((await anyone.forms.photos({ image_upload_token })).form).toMatchObject({ is_confirmed: true });
  });

  it("explains why a photo is refused", async () => {
    const shop = await setUp(harness());
    const image_upload_token = await newToken(shop);
    const anyone = harness().service({});
    const problemOf = async (image?: string) => {
      const { form, url } = await anyone.forms.addPhoto({ image_upload_token, ...(image !== undefined && { image }) });
      return [form.problem, form.photos, url];
    };
    expect(await problemOf()).toEqual(["missing", 0, null]);
    expect(await problemOf("")).toEqual(["missing", 0, null]);
    expect(await problemOf(Buffer.from("<svg/>").toString("base64"))).toEqual(["type", 0, null]);
    expect(await problemOf("not base64!")).toEqual(["type", 0, null]);
    expect(await problemOf(Buffer.alloc(imageLimits.bytes + 1).toString("base64"))).toEqual(["size", 0, null]);
  });

  it("is gone when the token expires, is invalid, or its review is deleted", async () => {
    const shop = await setUp(harness());
    const image_upload_token = await newToken(shop);
    const anyone = harness().service({});
    const states = async (token: string) => {
      const input = { image_upload_token: token };
      const added = await anyone.forms.addPhoto({ ...input, image: tinyPng });
      return [(await anyone.forms.photos(input)).form.state, added.form.state, added.url];
    };
    const gone = ["gone", "gone", null];
    expect(await states("nothing")).toEqual(gone);
    harness().clock.advance(imageLimits.tokenLifetimeMs);
    expect(await states(image_upload_token)).toEqual(gone);
    const deleted = await newToken(shop);
    await shop.service.links.follow({ token: await lastToken(harness(), "verify_url") });
    await shop.service.customers.erase({ email, reviews: "delete" });
    expect(await states(deleted)).toEqual(gone);
  });
});

describeEngine(
  "the limits of calls without a token",
  (harness) => {
    it("count forms and calls of the API together, but no forms with errors", async () => {
      const { account } = await setUp(harness());
      const { transport } = harness();
      const caller = { appKey: account.caller.appKey };
      const options = { engine: { clientAddress: "192.0.2.1" } };
      const submit = (input: object) =>
        transport.call("forms.submitReview", { product_id: "teapot", ...typed, ...input }, caller, options);
      const create = (at: number) =>
        transport.call("reviews.create", aReview({ email: `n${at}@mail.example` }), caller, options);
      for (let at = 0; at < 5; at += 1) await submit({ title: "" });
      await submit({});
      await create(1);
      await transport.call("forms.submitQuestion", { product_id: "teapot", ...asked, content: "" }, caller, options);
      await transport.call("forms.submitQuestion", { product_id: "teapot", ...asked }, caller, options);
      for (const call of [() => submit({}), () => create(2)]) {
        await expect(call()).rejects.toMatchObject({ kind: "tooManyRequests" });
      }
      expect(await submit({ title: "" })).toMatchObject({ form: { problems: [{ field: "title" }] } });
    });

    it("count photos, but no forms without one", async () => {
      const { account } = await setUp(harness());
      const { transport } = harness();
      const options = { engine: { clientAddress: "192.0.2.2" } };
      const { image_upload_token } = await account.service.reviews.create(aReview());
      const add = (image: string) => transport.call("forms.addPhoto", { image_upload_token, image }, {}, options);
      for (let at = 0; at < 3; at += 1) expect(await add("")).toMatchObject({ form: { problem: "missing" } });
      for (let at = 0; at < 2; at += 1) expect(await add("AAAA")).toMatchObject({ form: { problem: "type" } });
      await expect(add("AAAA")).rejects.toMatchObject({ kind: "tooManyRequests" });
      expect(await add("")).toMatchObject({ form: { problem: "missing" } });
    });
  },
  {
    publicLimits: { "submissions-per-client": { burst: 3, perHour: 3 }, "images-per-client": { burst: 2, perHour: 1 } },
  },
);
