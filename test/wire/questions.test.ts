import { describe, expect, it } from "vitest";
import { differences } from "../support/shape.ts";
import { answer, ok, question } from "../support/wire-shapes.ts";
import {
  aQuestion,
  askAndAnswer,
  followNewestLink,
  listQuestions,
  noon,
  refusal,
  setFeature,
  invalidParams,
  notFound,
} from "../support/wire-steps.ts";
import { useWire } from "../support/wire.ts";

const wire = useWire();
type Fields = Readonly<Record<string, unknown>>;

const submit = (fields: Fields = {}) =>
  wire().request("POST", "/questions/send_confirmation_mail", aQuestion(wire(), fields));
const read = (call: string, { appKey = wire().appKey, sku = "teapot" } = {}) =>
  wire().request("GET", `/products/${appKey}/${sku}/${call}`);

describe("POST /questions/send_confirmation_mail", () => {
  it("emails the asker, and submits the question after the link in the email is followed", async () => {
    const { status, body } = await submit();
    expect([status, body]).toEqual([200, { status: ok }]);
    expect(await wire().emails()).toMatchObject([
      { category: "question_confirmation", email_type_id: 8, email: "ann@mail.example" },
    ]);
    expect(await listQuestions(wire())).toEqual([]);
    expect((await followNewestLink(wire())).status).toBe(200);
    expect(await listQuestions(wire())).toMatchObject([{ content: "Does it drip?" }]);
    await followNewestLink(wire());
    expect(await listQuestions(wire())).toHaveLength(1);
  });

  it("accepts every field of the specification, and creates the product", async () => {
    const { status, body } = await submit({
      review_source: "widget_v2",
      product_description: "Holds tea",
      product_image_url: "https://shop.example/teapot.png",
      prevent_duplicate_review: true,
      product_tags: "tea",
    });
    expect([status, body]).toEqual([200, { status: ok }]);
    expect((await read("questions")).status).toBe(200);
  });

  it("accepts the product ID as sku", async () => {
    const { product_id, ...others } = aQuestion(wire()) as Record<string, unknown>;
    const path = "/questions/send_confirmation_mail";
    expect((await wire().request("POST", path, { ...others, sku: "a b" })).status).toBe(500);
    expect((await wire().request("POST", path, { ...others, sku: product_id })).status).toBe(200);
    await followNewestLink(wire());
    expect(await listQuestions(wire())).toMatchObject([{ content: "Does it drip?" }]);
    expect(await wire().request("POST", path, others)).toMatchObject(invalidParams("Missing product_id"));
  });

  it.each(["review_content", "display_name", "email", "product_id", "product_title", "product_url"])(
    "rejects a question without %s",
    async (field) => {
      expect(await submit({ [field]: undefined })).toMatchObject(invalidParams(`Missing ${field}`));
      expect(await wire().emails()).toEqual([]);
    },
  );

  it.each([
    ["email", "ann"],
    ["product_url", "shop"],
    ["prevent_duplicate_review", "perhaps"],
  ])("rejects %s %j", async (field, value) => {
    expect(await submit({ [field]: value })).toMatchObject(invalidParams(expect.stringContaining(field)));
    expect(await wire().emails()).toEqual([]);
  });

  it("returns 404 for an unknown app key", async () => {
    expect(await submit({ appkey: "nobody" })).toMatchObject(notFound("Couldn't find Account with app_key = nobody"));
  });
});

describe("GET /products/{app_key}/{sku}/questions", () => {
  it("returns questions and their answers", async () => {
    const answerId = await askAndAnswer(wire());
    await submit({ review_content: "Is it blue?", email: "bo@mail.example", display_name: "Bo" });
    await followNewestLink(wire());
    await submit({ review_content: "Not confirmed" });
    const { status, body } = await read("questions");
    expect(status).toBe(200);
    const shape = { total_questions: 2, total_answers: 1, questions: [question, question] };
    expect(differences(body, { status: ok, response: shape })).toEqual([]);
    const found = await listQuestions(wire());
    const drips = found.find(({ content }) => content === "Does it drip?");
    expect(drips).toMatchObject({ asker: { display_name: "Ann A." }, created_at: noon });
    expect(differences(drips?.sorted_public_answers, [answer])).toEqual([]);
    expect(drips?.sorted_public_answers).toMatchObject([
      {
        id: answerId,
        content: "It does not.",
        store_owner_comment: true,
        votes_up: 0,
        votes_down: 0,
        created_at: noon,
      },
    ]);
    expect(JSON.stringify(body)).not.toContain("@mail.example");
  });
});

describe("GET /products/{app_key}/{sku}/qna_bottomline", () => {
  it("counts questions and answers", async () => {
    await askAndAnswer(wire());
    await submit({ review_content: "Not confirmed" });
    const { status, body } = await read("qna_bottomline");
    expect([status, body]).toEqual([200, { status: ok, response: { total_questions: 1, total_answers: 1 } }]);
  });
});

describe.each(["questions", "qna_bottomline"])("errors of %s", (call) => {
  it("reports an unknown product", async () => {
    const { status, body } = await read(call, { sku: "nowhere" });
    expect(status).toBe(404);
    const message = expect.stringMatching(/domain_key.*nowhere/) as string;
    expect(body).toEqual(refusal(message, 404, "RecordNotFound"));
  });
});

it("rejects a question while the feature is disabled", async () => {
  await setFeature(wire(), "questions_and_answers", false);
  const { status, body } = await submit();
  expect(status).toBe(401);
  expect(body).toMatchObject({ status: { code: 401, error_type: "Exceptions::FeatureDisabled" } });
  expect(await wire().emails()).toEqual([]);
});
