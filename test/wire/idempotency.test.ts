import { expect, it } from "vitest";
import { useWire, type WireReply } from "../support/wire.ts";
import { refusal } from "../support/wire-steps.ts";

const wire = useWire();

const upload = (codes: readonly string[], key: string | undefined, tail = ""): Promise<WireReply> => {
  const { appKey, utoken, request } = wire();
  const body = { utoken, coupon_action: "map_review", codes };
  const headers = key === undefined ? undefined : { "Idempotency-Key": key };
  return request("POST", `/apps/${appKey}/coupons/unique${tail}`, body, headers);
};

const marks = ({ headers }: WireReply) => [headers.get("idempotency-key"), headers.get("idempotent-replayed")];

it("repeats status and body of the first response, and marks it", async () => {
  const first = await upload(["AAAA"], "key 1");
  const repeated = await upload(["AAAA"], "key 1", ".json");
  expect([first.status, marks(first)]).toEqual([200, ["key 1", null]]);
  expect([repeated.status, marks(repeated)]).toEqual([200, ["key 1", "true"]]);
  expect(repeated.body).toEqual(first.body);
  expect(first.body).toMatchObject({ response: { "new-codes": 1 } });
});

it("accepts another token of the account in a repeat", async () => {
  const { appKey, secret, utoken, request } = wire();
  const tokens = await request("POST", "/oauth/token", {
    client_id: appKey,
    client_secret: secret,
    grant_type: "client_credentials",
  });
  const { access_token: other } = tokens.body as { access_token: string };
  expect(other).not.toBe(utoken);
  const body = { coupon_action: "map_review", codes: ["AAAA"] };
  const path = `/apps/${appKey}/coupons/unique`;
  await request("POST", path, { ...body, utoken }, { "idempotency-key": "k" });
  const repeated = await request("POST", path, { ...body, utoken: other }, { "idempotency-key": "k" });
  expect(marks(repeated)).toEqual(["k", "true"]);
});

it("refuses a key with another body, and one that is too long", async () => {
  await upload(["AAAA"], "k");
  for (const refused of [await upload(["BBBB"], "k"), await upload(["AAAA"], "k".repeat(256))]) {
    expect([refused.status, marks(refused)]).toEqual([422, [null, null]]);
    expect(refused.body).toEqual(refusal(expect.any(String), 422, "InvalidIdempotencyKey"));
  }
});

it("honors the key of a public call that creates something, if it carries a token", async () => {
  const { appKey, utoken, request, own } = wire();
  const review = {
    appkey: appKey,
    sku: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Ann",
    email: "ann@mail.example",
    review_title: "Pours well",
    review_content: "Not a drop beside the cup.",
    review_score: 5,
  };
  const create = (token: object) =>
    request("POST", "/v1/widget/reviews", { ...review, ...token }, { "idempotency-key": "k" });
  const first = await create({ utoken });
  const repeated = await create({ utoken });
  expect([marks(first), marks(repeated)]).toEqual([
    ["k", null],
    ["k", "true"],
  ]);
  expect(repeated.body).toEqual(first.body);
  // Anyone could guess it.
  for (const token of [{}, { utoken: "unknown" }]) expect(marks(await create(token))).toEqual([null, null]);
  const { body } = await own("GET", "/v1/apps/{app}/reviews");
  expect(body).toMatchObject({ reviews: { length: 3 } });
});

it("ignores the key of a GET, of a public call, and of no value", async () => {
  const { appKey, utoken, request } = wire();
  const key = { "idempotency-key": "k" };
  const listed = await request("GET", `/apps/${appKey}/coupons/unique?utoken=${utoken}`, undefined, key);
  const voted = await request("POST", "/oauth/token", { client_id: appKey, client_secret: "x", grant_type: "y" }, key);
  for (const reply of [listed, voted, await upload(["AAAA"], ""), await upload(["AAAA"], undefined)]) {
    expect(marks(reply)).toEqual([null, null]);
  }
});

it("honors a long key of a review or question without a token, with the same body", async () => {
  const { appKey, utoken, request, emails } = wire();
  const key = "k".repeat(22);
  const question = {
    app_key: appKey,
    product_id: "teapot",
    product_title: "Teapot",
    product_url: "https://shop.example/teapot",
    display_name: "Ann",
    email: "ann@mail.example",
    review_content: "Does it pour?",
  };
  const ask = (fields: object, headers?: Record<string, string>) =>
    request("POST", "/questions/send_confirmation_mail", { ...question, ...fields }, headers);
  expect(marks(await ask({}, { "idempotency-key": key }))).toEqual([key, null]);
  expect(marks(await ask({ idempotency_key: key }))).toEqual([key, "true"]);
  // Another call: of the shop, with other texts, with another key.
  expect(marks(await ask({ idempotency_key: key, utoken }))).toEqual([key, null]);
  expect(marks(await ask({ idempotency_key: key, review_content: "Is it red?" }))).toEqual([key, null]);
  expect(marks(await ask({ idempotency_key: `${key}2` }))).toEqual([`${key}2`, null]);
  for (const ignored of [key.slice(1), `${key}\r\nset-cookie: a=b`, 7, [key], ""]) {
    const reply = await ask({ idempotency_key: ignored });
    expect([reply.status, ...marks(reply)]).toEqual([200, null, null]);
  }
  // Of ten calls, one was a repeat.
  expect(await emails()).toHaveLength(9);
});
