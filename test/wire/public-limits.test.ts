import { describe, expect, it } from "vitest";
import { useWire } from "../support/wire.ts";

const wire = useWire({
  publicLimits: {
    "submissions-per-client": { burst: 3, perHour: 60 },
    "votes-per-client": { burst: 3, perHour: 60 },
    "sign-ups-per-client": { burst: 3, perHour: 60 },
    "images-per-client": { burst: 3, perHour: 60 },
    "failures-per-client": { burst: 3, perHour: 60 },
  },
  trustedProxies: ["127.0.0.1"],
});

const refused = { status: 429, body: { errors: [{ message: "Too Many Requests" }] } };

/** Sends a request nine times, and returns the number of responses that are not a 429. */
async function countAllowed(
  method: string,
  path: string,
  body?: unknown,
  client: (at: number) => string = () => "",
  retryAfter = "60",
) {
  let allowed = 0;
  for (let at = 0; at < 9; at += 1) {
    const response = await wire().request(method, path, body, { "X-Forwarded-For": client(at) || "203.0.113.7" });
    if (response.status !== 429) {
      allowed += 1;
      continue;
    }
    expect(response).toMatchObject(refused);
    expect(response.headers.get("Retry-After")).toBe(retryAfter);
  }
  return allowed;
}

const newReview = (at = 0) => ({
  appkey: wire().appKey,
  sku: "pot",
  product_title: "Pot",
  product_url: "https://shop.example/pot",
  display_name: "Ann",
  email: `n${at}@mail.example`,
  review_content: "It pours.",
  review_title: "Pours",
  review_score: 5,
});

describe("calls that anyone can make", () => {
  it.each([
    ["reviews", "POST", "/v1/widget/reviews", () => newReview()],
    ["reviews for development", "POST", "/reviews/dynamic_create", () => newReview()],
    [
      "questions",
      "POST",
      "/questions/send_confirmation_mail",
      () => ({ ...newReview(), sku: undefined, product_id: "pot" }),
    ],
    ["votes on reviews", "GET", "/reviews/7/vote/up", () => undefined],
    ["votes on answers", "GET", "/answers/7/vote/down.json", () => undefined],
    ["images", "POST", "/starpost/v1/images", () => ({ image_upload_token: "x", image: "data:image/png;base64,AA==" })],
    [
      "token requests with an invalid secret",
      "POST",
      "/oauth/token",
      () => ({ client_id: wire().appKey, client_secret: "guess", grant_type: "client_credentials" }),
    ],
    [
      "wide bodies",
      "POST",
      "/users",
      () => Object.fromEntries(Array.from({ length: 1_001 }, (_, nth) => [`n${nth}`, nth])),
    ],
    ["wide queries", "GET", `/users/1?${"a&".repeat(1_000)}`, () => undefined],
    ["nested bodies", "POST", "/batch", () => JSON.parse("[".repeat(40) + "]".repeat(40)) as unknown],
  ])("are limited by client: %s", async (_name, method, path, body) => {
    expect(await countAllowed(method, path, body())).toBe(3);
  });

  it("are limited by /64 and /48 network over IPv6, and separately for each IPv4 address", async () => {
    const path = "/reviews/7/vote/up";
    expect(await countAllowed("GET", path, undefined, (at) => `2001:db8:1:2:${at}::1`)).toBe(3);
    expect(await countAllowed("GET", path, undefined, (at) => `2001:db8:1:${at + 3}::1`)).toBe(9);
    expect(await countAllowed("GET", path, undefined, (at) => `2001:db8:1:${at + 20}::1`, "15")).toBe(0);
    expect(await countAllowed("GET", path, undefined, (at) => `2001:db8:${at + 2}:1::1`)).toBe(9);
    expect(await countAllowed("GET", path, undefined, (at) => `198.51.100.${at}`)).toBe(9);
    expect(await countAllowed("GET", path, undefined, (at) => `198.51.100.99:${at}`)).toBe(3);
    expect(await countAllowed("GET", path, undefined, (at) => `::ffff:198.51.100.${at < 5 ? 99 : 98}`)).toBe(3);
    expect(await countAllowed("GET", path, undefined, (at) => `not an address ${at}`)).toBe(3);
  });

  it("are not limited with a token of the account", async () => {
    const { utoken } = wire();
    for (const [path, body] of [
      ["/v1/widget/reviews", newReview()],
      ["/reviews/dynamic_create", newReview()],
      ["/questions/send_confirmation_mail", { ...newReview(), sku: undefined, product_id: "pot" }],
    ] as const) {
      expect(await countAllowed("POST", path, { ...body, utoken })).toBe(9);
    }
  });
});

describe("a description of a product", () => {
  const describedBy = (length: number, more: object = {}) => ({
    ...newReview(),
    product_id: "pot",
    product_description: "é".repeat(length),
    ...more,
  });

  it.each(["/v1/widget/reviews", "/reviews/dynamic_create", "/questions/send_confirmation_mail"])(
    "may be longer with a token: %s",
    async (path) => {
      const { request, utoken } = wire();
      const post = async (body: unknown, client: string) => {
        const { status, body: answered } = await request("POST", path, body, { "X-Forwarded-For": client });
        return [status, (answered as { status?: { message?: string } }).status?.message];
      };
      expect(await post(describedBy(10_001), "192.0.2.1")).toEqual([
        500,
        "product_description is longer than 10000 characters",
      ]);
      expect((await post(describedBy(10_000), "192.0.2.1"))[0]).toBe(200);
      expect((await post(describedBy(65_535, { utoken }), "192.0.2.1"))[0]).toBe(200);
    },
  );
});

it("wrong tokens do not use up the calls of the store", async () => {
  const { appKey, utoken, request } = wire();
  const list = (token: string) =>
    request("GET", `/core/v3/stores/${appKey}/products`, undefined, { "X-Service-Token": token });
  let answered = 0;
  for (let call = 0; call < 19; call += 1) {
    for (let wrong = 0; wrong < 5; wrong += 1) expect([401, 429]).toContain((await list("guess")).status);
    const { status, headers } = await list(utoken);
    expect(headers.get("RateLimit-Remaining")).toBe(`${4 - (call % 5)}`);
    if (status === 200) answered += 1;
    if (call % 5 === 4) wire().advance(1_000);
  }
  expect(answered).toBe(19);
});
