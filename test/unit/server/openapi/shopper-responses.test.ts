import { describe, expect, it } from "vitest";
import { useDocumentedCalls } from "../../../support/documented-calls.ts";
import { aQuestion, aReview } from "../../../support/wire-steps.ts";

const { wire, call, app, own, signed, withToken } = useDocumentedCalls();

/** Creates a review without an email and returns its ID. */
async function createReview(): Promise<number> {
  const fields = { user_reference: "u1", product_image_url: "https://shop.example/a.png", review_score: "5" };
  const body = aReview(wire(), fields);
  const made = await call("reviews.createNow", ["POST", "/reviews/dynamic_create"], { body });
  const { reviews } = made["response"] as { reviews: readonly { id: number }[] };
  return reviews[0]?.id ?? 0;
}

describe("responses to shoppers match the OpenAPI document", () => {
  it("for one review", async () => {
    const id = await createReview();
    await call("reviews.comment", ["POST", `${own()}/reviews/${id}/comment`], {
      body: signed({ content: "Thanks" }),
    });
    await call("reviews.get", ["GET", `/reviews/${id}`]);
    await call("reviews.vote", ["GET", `/reviews/${id}/vote/up`]);
    await call("reviews.setPublished", ["PUT", `${own()}/reviews/${id}/publication`], {
      body: signed({ published: false, reason: "Asked for", by: "Bo" }),
    });
    await call("reviews.history", ["GET", withToken(`${own()}/reviews/${id}/history`)]);
    await call("reviews.get", ["GET", `/reviews/${id}`], { status: 404 });
  });

  it("for lists of reviews", async () => {
    const { appKey } = wire();
    await call("reviews.comment", ["POST", `${own()}/reviews/${await createReview()}/comment`], {
      body: signed({ content: "Thanks" }),
    });
    await call("reviews.list", ["GET", withToken(`/v1/apps/${appKey}/reviews`, "&count=1&deleted=true")]);
    const byUser = `/products/${appKey}/service_global_reviews/reviews.json?user_reference=u1`;
    await call("reviews.listByUser", ["GET", byUser]);
    const widget = `/v1/widget/${appKey}/products`;
    const query = "star=5&sort[]=date&sort[]=rating&direction=DESC&per_page=5&page=1";
    const page = await call("reviews.widget", ["GET", `${widget}/teapot/reviews.json?${query}`]);
    expect(page["response"]).toMatchObject({ reviews: [{ comment: { content: "Thanks" } }] });
    await call("reviews.siteWidget", ["GET", `${widget}/service_site_reviews/reviews.json?sort[]=votes_up`]);
    await call("reviews.top", ["GET", `${app()}/top_reviews.json`]);
    await call("reviews.top.html", ["GET", `${app()}/top_reviews.html`]);
  });

  it("for bottom lines, including JSONP", async () => {
    const { appKey } = wire();
    const path = `/v1/apps/${appKey}/bottom_lines`;
    await call("reviews.bottomLines", ["GET", `${path}?count=10&page=1`]);
    await createReview();
    wire().advance(2 * 60 * 60 * 1_000);
    const lines = await call("reviews.bottomLines.alias", ["GET", `${app()}/bottom_lines?count=10&page=1`]);
    expect(lines["response"]).toHaveProperty("bottomlines");
    await call("reviews.bottomLines", ["GET", `${path}?count=10&page=1&callback=store.show`]);
    await call("reviews.bottomLine", ["GET", `/products/${appKey}/teapot/bottomline`]);
    await call("reviews.bottomLine", ["GET", `/products/${appKey}/teapot/bottomline?callback=show`]);
  });

  it("for images", async () => {
    const made = await call("reviews.create", ["POST", "/v1/widget/reviews"], { body: aReview(wire()) });
    const image = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    const path = "/starpost/v1/images";
    const stored = await call("images.upload", ["POST", path], {
      body: { image_upload_token: made["image_upload_token"], image },
    });
    await call("images.upload", ["POST", path], { body: { image_upload_token: "none", image }, status: 401 });
    const { image: found } = stored["response"] as { image: { id: number } };
    await call("images.get", ["GET", `${path}/${found.id}`]);
  });

  it("for questions, answers, and email links", async () => {
    const { appKey } = wire();
    const body = aQuestion(wire(), { prevent_duplicate_review: true });
    await call("questions.sendConfirmation", ["POST", "/questions/send_confirmation_mail"], { body });
    const [mail] = await wire().emails();
    const token = mail?.linkToken ?? "";
    await call("links.show", ["GET", `/starpost/v1/links/${token}`]);
    await call("links.show.html", ["GET", `/starpost/v1/l/${token}`]);
    await call("links.follow", ["POST", `/starpost/v1/links/${token}`]);
    await call("links.follow.html", ["POST", `/starpost/v1/l/${token}`]);
    const found = await call("questions.list", ["GET", `/products/${appKey}/teapot/questions?count=5`]);
    const { questions } = found["response"] as { questions: readonly { id: number }[] };
    const made = await call("answers.create", ["POST", `${own()}/questions/${questions[0]?.id}/answers`], {
      body: signed({ content: "It does not." }),
    });
    const { answer } = made["response"] as { answer: { id: number } };
    await call("answers.vote.alias", ["GET", `/answers/${answer.id}/vote/down.json`]);
    const answered = await call("questions.list", ["GET", `/products/${appKey}/teapot/questions`]);
    expect(answered["response"]).toMatchObject({ questions: [{ sorted_public_answers: [{}] }] });
    await call("questions.bottomLine", ["GET", `/products/${appKey}/teapot/qna_bottomline`]);
  });

  it("for emails", async () => {
    const path = `${app()}/reminders/send_test_email`;
    await call("emails.sendTest", ["POST", path], { body: signed({ email: "ann@mail.example" }) });
    const stats = `${app()}/email_stats/2026-03-01/2026-03-31`;
    const query = "&categories=question_confirmation,reminder&aggregate=month";
    await call("emails.stats", ["GET", withToken(stats, query)]);
  });

  it("for SEO pages", async () => {
    const { appKey } = wire();
    await createReview();
    await call("seo.checkSubdomain", ["GET", withToken(`${app()}/subomain_check/teapots`)]);
    await call("seo.pageUrl", ["GET", `/v1/seo_pages/url/${appKey}/teapot`]);
    await call("seo.pageUrl.alias", ["GET", `/v1/seo_pages/url/${appKey}`]);
    await call("seo.page", ["GET", `${own()}/seo_pages/teapot`]);
    await call("seo.page.alias", ["GET", `${own()}/seo_pages`]);
    await call("seo.page.html", ["GET", `/starpost/v1/pages/${appKey}/products/teapot`]);
    const methods = [{ method: "bottomline", params: { pid: "teapot" } }, { method: "reviews" }];
    await call("batch.run", ["POST", "/batch"], { body: { appkey: appKey, methods } });
  });
});
