import { expect, it } from "vitest";
import { describeIsolated } from "../support/backends.ts";
import { aReview } from "../support/builders.ts";
import { aQuestion, lastToken } from "../support/emails.ts";
import { expectCombined, recordStatements } from "../support/statement-count.ts";

const countOf = (statements: readonly string[], pattern: RegExp) =>
  statements.filter((statement) => pattern.test(statement)).length;

describeIsolated("simultaneous votes", (harness) => {
  it("are stored with few statements, and fail on their own", async () => {
    const { service } = await harness().newAccount();
    const created = await Promise.all([1, 2].map(() => service.reviews.createNow(aReview())));
    const [shown = 0, hidden = 0] = created.map(({ reviews }) => reviews[0]?.id);
    await service.reviews.setPublished({ review_id: hidden, published: false, reason: "rude" });
    const named = Array.from({ length: 40 }, (_, at) => [shown, hidden, shown, shown + 999][at % 4] ?? 0);
    let outcomes: PromiseSettledResult<{ readonly vote: { readonly id: number } }>[] = [];
    const statements = await recordStatements(async () => {
      outcomes = await Promise.allSettled(
        named.map((review_id, at) => service.reviews.vote({ review_id, vote_type: at < 10 ? "down" : "up" })),
      );
    });
    const ids = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.vote.id] : []));
    expect(new Set(ids).size).toBe(20);
    const isRejected = outcomes.map(({ status }) => status === "rejected");
    expect(isRejected).toEqual(named.map((id) => id !== shown));
    const failed = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    for (const error of failed) expect(error).toMatchObject({ kind: "recordNotFound" });
    const { review } = await service.reviews.get({ review_id: shown });
    expect(review).toMatchObject({ votes_up: 15, votes_down: 5 });
    const { reviews } = await service.reviews.list({ deleted: true });
    expect(reviews.find(({ id }) => id === hidden)).toMatchObject({ votes_up: 0, votes_down: 0 });
    expectCombined(countOf(statements, /insert into votes/), named.length);
  });

  it("on answers are all counted", async () => {
    const { service } = await harness().newAccount();
    await service.questions.sendConfirmation(aQuestion());
    await service.links.follow({ token: await lastToken(harness(), "confirm_url") });
    const question_id = (await service.questions.list({ sku: "teapot" })).questions[0]?.id ?? 0;
    const { answer } = await service.answers.create({ question_id, content: "Yes" });
    const vote = (vote_type: "up" | "down") => service.answers.vote({ answer_id: answer.id, vote_type });
    const voted = await Promise.all([vote("up"), vote("down"), vote("up")]);
    expect(new Set(voted.map(({ vote: { id } }) => id)).size).toBe(3);
    const { questions } = await service.questions.list({ sku: "teapot" });
    expect(questions[0]?.sorted_public_answers).toMatchObject([{ votes_up: 2, votes_down: 1 }]);
  });
});
