import { describe, expect, it } from "vitest";
import { differences, int } from "../support/shape.ts";
import { ok } from "../support/wire-shapes.ts";
import { askAndAnswer, createReview, listQuestions, setPublished } from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();

const vote = async (path: string) => {
  const { status, body } = await wire().request("GET", path);
  expect([path, status]).toEqual([path, 200]);
  expect(differences(body, { status: ok, response: { vote: { id: int } } })).toEqual([]);
  return (body as { response: { vote: { id: number } } }).response.vote.id;
};

describe("GET /reviews/{review_id}/vote/{vote_type}", () => {
  it("counts votes, each with an increasing index", async () => {
    const id = await createReview(wire());
    const votes = [
      await vote(`/reviews/${id}/vote/up`),
      await vote(`/reviews/${id}/vote/up.json`),
      await vote(`/reviews/${id}/vote/down`),
    ];
    expect(votes).toEqual(votes.toSorted((one, other) => one - other));
    expect(new Set(votes).size).toBe(3);
    const counted = { votes_up: 2, votes_down: 1 };
    const { appKey, request, own } = wire();
    expect((await request("GET", `/reviews/${id}`)).body).toMatchObject({ response: { review: counted } });
    expect((await own("GET", "/v1/apps/{app}/reviews")).body).toMatchObject({ reviews: [counted] });
    expect((await request("GET", `/v1/widget/${appKey}/products/teapot/reviews.json`)).body).toMatchObject({
      response: { reviews: [counted] },
    });
  });

  it("returns 404 for an unknown or unpublished review", async () => {
    const id = await createReview(wire());
    await setPublished(wire(), id, false);
    for (const missingId of [id, id + 1]) {
      expect(await wire().request("GET", `/reviews/${missingId}/vote/up`)).toMatchObject({
        status: 404,
        body: { status: { code: 404, error_type: "Exceptions::RecordNotFound" } },
      });
    }
  });

  it("rejects an unknown vote type", async () => {
    const id = await createReview(wire());
    expect(await wire().request("GET", `/reviews/${id}/vote/sideways`)).toMatchObject({
      status: 500,
      body: { status: { code: 500, error_type: "Exceptions::InvalidParams" } },
    });
  });
});

describe("GET /answers/{answer_id}/vote/{vote_type}", () => {
  it("counts votes, in one sequence with those on reviews", async () => {
    const review = await createReview(wire());
    const first = await vote(`/reviews/${review}/vote/up`);
    const answer = await askAndAnswer(wire());
    const second = await vote(`/answers/${answer}/vote/up`);
    const third = await vote(`/answers/${answer}/vote/down.json`);
    const fourth = await vote(`/answers/${answer}/vote/up`);
    expect([first < second, second < third, third < fourth]).toEqual([true, true, true]);
    expect(await listQuestions(wire())).toMatchObject([
      { sorted_public_answers: [{ id: answer, votes_up: 2, votes_down: 1 }] },
    ]);
  });

  it("returns 404 for an unknown answer", async () => {
    expect(await wire().request("GET", "/answers/77/vote/up")).toMatchObject({
      status: 404,
      body: { status: { code: 404, error_type: "Exceptions::RecordNotFound" } },
    });
  });

  it("rejects an unknown vote type", async () => {
    const answer = await askAndAnswer(wire());
    expect(await wire().request("GET", `/answers/${answer}/vote/sideways`)).toMatchObject({
      status: 500,
      body: { status: { code: 500, error_type: "Exceptions::InvalidParams" } },
    });
  });
});
