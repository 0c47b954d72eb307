import { expect, it } from "vitest";
import { maxBatchMethods, maxLength, siteReviewsId } from "../../src/contract/index.ts";
import { describeBackends } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { wrapFragment, findFaults } from "../support/html.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { invalidField } from "../support/service-errors.ts";

describeBackends("batch.run", (harness) => {
  const ready = async () => {
    const { service } = await harness().newAccount("Tea & Co.");
    await service.reviews.createNow(aReview({ display_name: "Ann Smith", review_score: 4 }));
    await service.reviews.createNow(aReview({ sku: siteReviewsId, review_title: "A good store" }));
    return service;
  };
  const run = async (methods: Parameters<Awaited<ReturnType<typeof ready>>["batch"]["run"]>[0]["methods"]) => {
    const { results } = await (await ready()).batch.run({ methods });
    return results.map(({ result }) => result);
  };
  const params = { pid: "teapot" };

  it("reports no reviews for an unknown product, and fails only without a product", async () => {
    const pieces = await run([
      { method: "main_widget", params: { pid: '"><script>' } },
      { method: "bottomline", params: { pid: "pan" } },
      { method: "reviews", params: { pid: "pan" } },
      { method: "bottomline", params },
    ]);
    for (const piece of pieces.slice(0, 3)) expect(piece).toContain("There are no reviews yet.");
    expect(pieces[3]).toContain("out of 5");
    expect(pieces.join("")).not.toContain("<script>");
  });

  it("rejects a call that would show too many long reviews, however often it repeats them", async () => {
    const service = await ready();
    const review_content = "<".repeat(maxLength.content);
    await service.reviews.createNow(aReview({ review_content }));
    const call = (count: number) =>
      service.batch.run({ methods: Array.from({ length: count }, () => ({ method: "main_widget", params })) });
    expect((await call(50)).results).toHaveLength(50);
    for (let n = 0; n < 4; n += 1) {
      await service.reviews.createNow(aReview({ review_content, email: `b${n}@mail.example` }));
    }
    await expect(call(50)).rejects.toMatchObject({
      kind: "invalidParams",
      message: expect.stringMatching(/^methods .*2000000 characters/),
    });
  });

  it("accepts a missing product for the store itself", async () => {
    const pieces = await run([
      { method: "main_widget" },
      { method: "reviews", params: { pid: siteReviewsId } },
      { method: "testimonials", params },
    ]);
    for (const piece of pieces) expect(piece).toContain("A good store");
  });

  it("shows the requested page", async () => {
    const service = await ready();
    for (let at = 1; at <= 3; at += 1) {
      harness().clock.advance(1_000);
      await service.reviews.createNow(aReview({ review_title: `No. ${at}` }));
    }
    const { results } = await service.batch.run({
      methods: [
        { method: "reviews", params: { ...params, per_page: 2 } },
        { method: "reviews", params: { ...params, per_page: 2, page: 2 } },
        { method: "reviews", params: { ...params, per_page: 2, page: 9 } },
      ],
    });
    const titles = results.map(({ result }) => [...result.matchAll(/<h3[^>]*>(.*?)</g)].map(([, text]) => text));
    expect(titles).toEqual([["No. 3", "No. 2"], ["No. 1", "Pours well"], []]);
  });

  it("returns valid HTML for any user-supplied text", async () => {
    const service = await ready();
    const stored = hostileTexts.filter((text) => text.trim() !== "");
    for (const text of stored) {
      const fields = { review_title: text, review_content: text, display_name: text };
      await service.reviews.createNow(aReview(fields));
    }
    const { results } = await service.batch.run({ methods: [{ method: "main_widget", params }] });
    const piece = results[0]?.result ?? "";
    expect(piece.match(/<article/g)).toHaveLength(10);
    expect(await findFaults(wrapFragment(piece))).toEqual([]);
    expect(piece).not.toContain("<script");
  });

  it("accepts the maximum number of methods", async () => {
    const method = { method: "bottomline", params } as const;
    const service = await ready();
    const methods = Array.from({ length: maxBatchMethods }, () => method);
    expect((await service.batch.run({ methods })).results).toHaveLength(maxBatchMethods);
    await expect(service.batch.run({ methods: [...methods, method] })).rejects.toMatchObject(
      invalidField("methods", maxBatchMethods),
    );
  });
});
