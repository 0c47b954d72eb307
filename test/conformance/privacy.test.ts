import { expect, it } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { describeIsolated } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { aQuestion, lastToken } from "../support/emails.ts";
import { tinyPng } from "../support/photos.ts";

/** The operations that anyone may call with only the ID of a row. */
const openById = [...operations].flatMap(([name, { auth, paths, input }]) => {
  const [, field] = /\{(\w+_id)\}/.exec(paths[0]) ?? [];
  if (auth !== "open" || field === undefined) return [];
  return [{ name, field, others: "vote_type" in (input as { shape?: object }).shape! ? { vote_type: "up" } : {} }];
});

const ids = [1, 2, 3, 4, 5, 6];

describeIsolated("operations without an app key", (harness) => {
  it("reveal no app key, no full name, and no address of any account", async () => {
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
    for (const kept of [caller.appKey, caller.utoken, secret, /leeds/i, /ownerson/i, /@/]) {
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
