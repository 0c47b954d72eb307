import { createHmac } from "node:crypto";
import type { Wire, WireReply } from "./wire.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The time of every request, unless a test advances the clock. */
export const noon = "2026-03-15T12:00:00.000Z";

export const hourMs = 3_600_000;

/** Returns the body of a review that a storefront form sends. */
export function aReview(wire: Wire, fields: Fields = {}): Fields {
  return {
    appkey: wire.appKey,
    domain: "shop.example",
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Jane Doe",
    email: "jane@mail.example",
    review_content: "It pours well.",
    review_title: "Good pot",
    review_score: 5,
    ...fields,
  };
}

/** Creates a review and returns its ID. */
export async function createReview(wire: Wire, fields: Fields = {}): Promise<number> {
  const { status, body } = await wire.request("POST", "/reviews/dynamic_create", aReview(wire, fields));
  if (status !== 200) throw new Error(`cannot create the review: ${JSON.stringify(body)}`);
  return (body as { response: { reviews: { id: number }[] } }).response.reviews[0]?.id ?? 0;
}

/** Returns the body of a review signed by a trusted vendor; `fields` override the signed fields. */
export function aSignedReview(wire: Wire, fields: Fields = {}): Fields {
  const signed = aReview(wire, { reviewer_type: "verified_buyer", time_stamp: "1773576000", ...fields });
  const sorted = Object.entries(signed)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, name === "review_score" ? Number(value) : value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const message = JSON.stringify(Object.fromEntries(sorted));
  return { ...signed, signature: createHmac("sha256", wire.secret).update(message, "utf8").digest("hex") };
}

/** Publishes or unpublishes a review. */
export async function setPublished(wire: Wire, reviewId: number, published: boolean): Promise<void> {
  const path = `/starpost/v1/apps/{app}/reviews/${reviewId}/publication`;
  const { status, body } = await wire.own("PUT", path, { published, reason: "Asked for" });
  if (status !== 200) throw new Error(`cannot update the review: ${JSON.stringify(body)}`);
}

export async function setFeature(wire: Wire, feature: string, enabled: boolean): Promise<void> {
  const { status, body } = await wire.own("PUT", "/starpost/v1/apps/{app}/features", { feature, enabled });
  if (status !== 200) throw new Error(`cannot set the feature: ${JSON.stringify(body)}`);
}

/** Creates products with these IDs, each named after its ID. */
export async function addProducts(wire: Wire, ...ids: string[]): Promise<void> {
  const product = (id: string) => ({
    name: `Product ${id}`,
    url: `https://shop.example/${id}`,
    image_url: `https://shop.example/${id}.png`,
    currency: "EUR",
    price: "12.50",
  });
  const products = Object.fromEntries(ids.map((id) => [id, product(id)]));
  const { body } = await wire.own("POST", "/apps/{app}/products/mass_create", { products });
  if ((body as { errors?: unknown }).errors !== undefined) throw new Error(JSON.stringify(body));
}

/** Creates a group of these products. */
export async function groupProducts(wire: Wire, group: string, ...ids: string[]): Promise<void> {
  const path = "/v1/apps/{app}/products_groups";
  const created = await wire.own("POST", path, { group_name: group });
  const added = await wire.own("PUT", `${path}/${group}`, { product_ids_to_add: ids });
  for (const { status, body } of [created, added]) if (status !== 200) throw new Error(JSON.stringify(body));
}

/** Returns the body of a question that a storefront form sends. */
export function aQuestion(wire: Wire, fields: Fields = {}): Fields {
  return {
    appkey: wire.appKey,
    review_content: "Does it drip?",
    display_name: "Ann Asker",
    email: "ann@mail.example",
    product_id: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    ...fields,
  };
}

/** Follows the link in the newest email. */
export async function followNewestLink(wire: Wire): Promise<WireReply> {
  const token = (await wire.emails()).at(-1)?.linkToken;
  if (token === undefined) throw new Error("no email contains a link");
  return wire.request("POST", `/starpost/v1/links/${token}`);
}

interface QuestionsBody {
  readonly response: {
    readonly questions: readonly {
      readonly id: number;
      readonly content: string;
      readonly sorted_public_answers: readonly { readonly id: number; readonly votes_up: number }[];
    }[];
  };
}

export async function listQuestions(wire: Wire, productId = "teapot") {
  const { status, body } = await wire.request("GET", `/products/${wire.appKey}/${productId}/questions`);
  if (status !== 200) throw new Error(`cannot list questions: ${JSON.stringify(body)}`);
  return (body as QuestionsBody).response.questions;
}

/** Asks, confirms, and answers a question, and returns the answer's ID. */
export async function askAndAnswer(wire: Wire): Promise<number> {
  await wire.request("POST", "/questions/send_confirmation_mail", aQuestion(wire));
  await followNewestLink(wire);
  const [question] = await listQuestions(wire);
  const path = `/starpost/v1/apps/{app}/questions/${question?.id}/answers`;
  await wire.own("POST", path, { content: "It does not." });
  const [answered] = await listQuestions(wire);
  const answer = answered?.sorted_public_answers[0];
  if (!answer) throw new Error("the question has no answer");
  return answer.id;
}

/** Returns the body of an error response. */
export const refusal = (message: unknown, code: number, error_type: string) => ({
  status: { message, code, error_type: `Exceptions::${error_type}` },
});

/** Returns the status and the body of an error response. */
export const refused = (message: unknown, code: number, error_type: string) => ({
  status: code,
  body: refusal(message, code, error_type),
});

export const invalidParams = (message: unknown) => refused(message, 500, "InvalidParams");
export const notFound = (message: unknown) => refused(message, 404, "RecordNotFound");
