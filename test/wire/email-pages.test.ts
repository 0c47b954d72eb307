import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { policyOf } from "../../src/pages/document.ts";
import { findFaults } from "../support/html.ts";
import { openShop, type Shop } from "../support/shop.ts";
import { findDocumentFaults } from "../support/wire.ts";

const formFields = { score: "5", title: "Pours well", content: "No drips.", display_name: "Ann Tea" };
const personal = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** Sends a request without following redirects, and checks that the response is documented and sets no cookie. */
async function sendRequest(method: string, address: string, init: RequestInit = {}) {
  const response = await fetch(address, { method, redirect: "manual", ...init });
  expect(response.headers.get("set-cookie")).toBeNull();
  const reply = { status: response.status, headers: response.headers, text: await response.text() };
  expect(findDocumentFaults(method, new URL(address).pathname, reply)).toEqual([]);
  return reply;
}

const send = (address: string, body: RequestInit["body"] & {}, type?: string) =>
  sendRequest("POST", address, { body, ...(type !== undefined && { headers: { "content-type": type } }) });
const toJsonAddress = (address: string) => address.replace("/v1/r/", "/v1/review_requests/");
const readState = async (address: string) => {
  const { text } = await sendRequest("GET", toJsonAddress(address));
  const { response } = JSON.parse(text) as { response: { request: { state: string; review: unknown } } };
  return response.request;
};

describe("the page to write a review", () => {
  it("is neither cached nor embeddable", async () => {
    const address = await shop.reviewAddress();
    const shown = await sendRequest("GET", address);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      ...personal,
      "content-security-policy": policyOf("form"),
    });
    expect(policyOf("form")).toMatch(/default-src 'none';.*form-action 'self'; frame-ancestors 'none'/);
    expect(await findFaults(shown.text)).toEqual([]);
    const head = await sendRequest("HEAD", address);
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(Buffer.byteLength(shown.text))]);
  });

  it("selects the rating of a star link, and stores nothing", async () => {
    const address = await shop.reviewAddress();
    const selected = (text: string) => Array.from(text.matchAll(/value="(\d)"[^>]* checked/g), ([, score]) => score);
    const before = await shop.counts();
    await sendRequest("HEAD", `${address}?score=4`);
    const shown = await sendRequest("GET", `${address}?score=4`);
    expect([shown.status, selected(shown.text)]).toEqual([200, ["4"]]);
    expect(await findFaults(shown.text)).toEqual([]);
    for (const query of ["score=6", "score=", "score=%E2%82%AC", "score=1&score=2", "score[]=3", "score=5.0", "x=5"]) {
      const { status, text } = await sendRequest("GET", `${address}?${query}`);
      expect([query, status, selected(text)]).toEqual([query, 200, []]);
    }
    expect(await readState(address)).toMatchObject({ state: "ready" });
    expect(await shop.counts()).toEqual(before);
  });

  it("accepts the fields of its form, and reports invalid ones with status 422", async () => {
    const address = await shop.reviewAddress();
    const rejected = await send(address, new URLSearchParams({ ...formFields, title: "", content: "Kept & <typed>" }));
    expect(rejected.status).toBe(422);
    expect(Object.fromEntries(rejected.headers)).toMatchObject(personal);
    expect(await findFaults(rejected.text)).toEqual([]);
    expect(rejected.text).toContain("Kept &amp; &lt;typed&gt;</textarea>");
    expect(rejected.text).toContain('name="score" value="5" checked');
    const accepted = await send(address, new URLSearchParams(formFields));
    expect(accepted.status).toBe(200);
    expect(accepted.text).toContain("What you wrote");
    expect(await findFaults(accepted.text)).toEqual([]);
    expect(await readState(address)).toMatchObject({ state: "done", review: { title: "Pours well" } });
  });

  it("ignores unknown fields and uses the last value of a repeated field", async () => {
    const [address, other] = [await shop.reviewAddress(), await shop.reviewAddress()];
    const fields = new URLSearchParams({ ...formFields, token: other.slice(other.lastIndexOf("/") + 1) });
    for (const [name, value] of [
      ["score", "2"],
      ["__proto__", "x"],
      ["verified_buyer", "false"],
      ["app_key", "other"],
      ["utoken", "none"],
    ] as const) {
      fields.append(name, value);
    }
    expect((await send(`${address}?score=1&title=No`, fields)).status).toBe(200);
    expect((await readState(address)).review).toMatchObject({ score: 2, title: "Pours well", verified_buyer: true });
    expect(await readState(other)).toMatchObject({ state: "ready" });
  });

  it.each([
    ["bytes that are not UTF-8", "score=5&title=caf%E9", undefined, 400],
    ["raw bytes that are not UTF-8", Buffer.from("title=caf\u00E9", "latin1"), undefined, 400],
    ["another encoding", "score=5", "application/x-www-form-urlencoded; charset=iso-8859-1", 415],
    ["an unknown encoding", "score=5", 'application/x-www-form-urlencoded; charset="x-none"', 415],
    ["JSON", JSON.stringify(formFields), "application/json", 415],
    ["plain text", "score=5", "text/plain", 415],
    ["a huge field", `content=${"x".repeat(300_000)}`, undefined, 413],
    ["very many fields", "a=b&".repeat(70_000), undefined, 413],
  ])("rejects %s and stores nothing", async (_what, body, type, status) => {
    const address = await shop.reviewAddress();
    const reply = await send(address, body, type ?? "application/x-www-form-urlencoded");
    expect(reply.status).toBe(status);
    expect(await readState(address)).toMatchObject({ state: "ready" });
  });

  it("accepts the longest allowed texts in every encoding", async () => {
    const address = await shop.reviewAddress();
    const longest = { ...formFields, content: "長".repeat(10_000), title: "💥".repeat(75) };
    const reply = await send(
      address,
      new URLSearchParams(longest).toString(),
      'application/x-www-form-urlencoded;charset="UTF-8"',
    );
    expect(reply.status).toBe(200);
    expect((await readState(address)).review).toMatchObject({ content: longest.content, title: longest.title });
  });

  it("reports every missing field of an empty form", async () => {
    const reply = await sendRequest("POST", await shop.reviewAddress());
    expect([reply.status, reply.text.match(/class="fault"/g)?.length]).toEqual([422, 4]);
  });

  it("is available as JSON, with status 200 for invalid fields", async () => {
    const address = toJsonAddress(await shop.reviewAddress());
    const rejected = await send(address, JSON.stringify({ score: 9 }), "application/json");
    expect(rejected.status).toBe(200);
    const accepted = await send(address, JSON.stringify({ ...formFields, score: 5 }), "application/json");
    expect(JSON.parse(accepted.text)).toMatchObject({ response: { request: { state: "done", problems: [] } } });
    await sendRequest("GET", address);
  });
});

describe("tracking", () => {
  const target = "https://shop.example/a?b=c&d=ä";

  it("returns an uncached image, and redirects clicks to the original URL", async () => {
    const { open, click } = await shop.trackedAddresses(target);
    const before = await shop.counts();
    for (const address of [open, click]) await sendRequest("HEAD", address);
    expect(await shop.counts()).toEqual(before);
    const image = await sendRequest("GET", open);
    expect([image.status, Object.fromEntries(image.headers)]).toMatchObject([
      200,
      { "content-type": "image/gif", "cache-control": "no-store", "x-content-type-options": "nosniff" },
    ]);
    for (const method of ["HEAD", "GET"]) {
      const redirect = await sendRequest(method, click);
      expect([redirect.status, redirect.headers.get("location"), redirect.headers.get("cache-control")]).toEqual([
        302,
        new URL(target).href,
        "no-store",
      ]);
      expect(redirect.headers.get("referrer-policy")).toBe("no-referrer");
    }
    const counts = await shop.counts();
    for (const counter of ["opens", "unique_opens", "clicks", "unique_clicks"]) {
      expect([counter, (counts[counter] ?? 0) - (before[counter] ?? 0)]).toEqual([counter, 1]);
    }
    const response = await sendRequest("GET", click.replace("/v1/c/", "/v1/clicks/"));
    expect(JSON.parse(response.text)).toMatchObject({ response: { url: new URL(target).href } });
  });

  it("never redirects to any other URL", async () => {
    const { click } = await shop.trackedAddresses(target);
    for (const rejected of [
      `${shop.url}/starpost/v1/c/${encodeURIComponent("https://evil.example/")}`,
      `${click.slice(0, -2)}?url=https://evil.example/`,
      `${shop.url}/starpost/v1/c/x?url=https://evil.example/`,
    ]) {
      const { status, headers, text } = await sendRequest("GET", rejected);
      expect([status, headers.get("location")]).toEqual([200, null]);
      expect(text).toContain("no longer works");
      expect(await findFaults(text)).toEqual([]);
    }
    const redirect = await sendRequest("GET", `${click}?url=https://evil.example/`);
    expect(redirect.headers.get("location")).toBe(new URL(target).href);
  });
});

describe("unsubscribing with one click", () => {
  it("takes effect on the POST request of an email client", async () => {
    const address = await shop.unsubscribeAddress();
    for (const _ of [1, 2]) {
      const done = await send(address, "List-Unsubscribe=One-Click", "application/x-www-form-urlencoded");
      expect([done.status, Object.fromEntries(done.headers)]).toMatchObject([200, personal]);
      expect(done.text).toContain("You are unsubscribed");
    }
    expect((await sendRequest("GET", address)).text).toContain("You are unsubscribed");
    const { unsubscribers } = await shop.service.unsubscribers.list({});
    expect(unsubscribers.map(({ email_type_id }) => email_type_id)).toEqual([1]);
  });

  it("does not happen on GET or HEAD, which email scanners send", async () => {
    const address = await shop.unsubscribeAddress();
    for (const method of ["GET", "HEAD", "OPTIONS"]) await sendRequest(method, address);
    expect((await sendRequest("GET", address)).text).toContain('<form method="post">');
  });
});
