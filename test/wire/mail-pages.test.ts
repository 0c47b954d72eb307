import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { policies } from "../../src/pages/document.ts";
import { judge } from "../support/described-calls.ts";
import { findFaults } from "../support/html.ts";
import { openShop, type Shop } from "../support/shop.ts";

const typed = { score: "5", title: "Pours well", content: "No drips.", display_name: "Ann Tea" };
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

/** Asks as a browser does that follows nothing by itself, and sees that no cookie is set. */
async function ask(method: string, address: string, init: RequestInit = {}) {
  const response = await fetch(address, { method, redirect: "manual", ...init });
  expect(response.headers.get("set-cookie")).toBeNull();
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const send = (address: string, body: RequestInit["body"] & {}, type?: string) =>
  ask("POST", address, { body, ...(type !== undefined && { headers: { "content-type": type } }) });
const asJson = (address: string) => address.replace("/v1/r/", "/v1/review_requests/");
const stateOf = async (address: string) => {
  const { text } = await ask("GET", asJson(address));
  const { response } = JSON.parse(text) as { response: { request: { state: string; review: unknown } } };
  return response.request;
};
const described = (id: string, method: string, address: string, reply: Awaited<ReturnType<typeof ask>>) =>
  judge(id, { method, path: new URL(address).pathname }, reply);

describe("the page to write a review", () => {
  it("is for one person alone", async () => {
    const address = await shop.reviewAddress();
    const shown = await ask("GET", address);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      ...personal,
      "content-security-policy": policies.form,
    });
    expect(policies.form).toMatch(/default-src 'none';.*form-action 'self'; frame-ancestors 'none'/);
    expect(await findFaults(shown.text)).toEqual([]);
    expect(described("reviewRequests.show.html", "GET", address, shown)).toEqual([]);
    const head = await ask("HEAD", address);
    expect([head.status, head.headers.get("content-length")]).toEqual([
      200,
      String(Buffer.byteLength(shown.text)),
    ]);
  });

  it("takes the fields of its form, and tells what is wrong with them under status 422", async () => {
    const address = await shop.reviewAddress();
    const wrong = await send(
      address,
      new URLSearchParams({ ...typed, title: "", content: "Kept & <typed>" }),
    );
    expect(wrong.status).toBe(422);
    expect(Object.fromEntries(wrong.headers)).toMatchObject(personal);
    expect(await findFaults(wrong.text)).toEqual([]);
    expect(wrong.text).toContain("Kept &amp; &lt;typed&gt;</textarea>");
    expect(wrong.text).toContain('name="score" value="5" checked');
    expect(described("reviewRequests.write.html", "POST", address, wrong)).toEqual([]);
    const right = await send(address, new URLSearchParams(typed));
    expect(right.status).toBe(200);
    expect(right.text).toContain("What you wrote");
    expect(await findFaults(right.text)).toEqual([]);
    expect(described("reviewRequests.write.html", "POST", address, right)).toEqual([]);
    expect(await stateOf(address)).toMatchObject({ state: "done", review: { title: "Pours well" } });
  });

  it("heeds no field but its own, and of one that is repeated the last", async () => {
    const [address, other] = [await shop.reviewAddress(), await shop.reviewAddress()];
    const fields = new URLSearchParams({ ...typed, token: other.slice(other.lastIndexOf("/") + 1) });
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
    expect((await stateOf(address)).review).toMatchObject({
      score: 2,
      title: "Pours well",
      verified_buyer: true,
    });
    expect(await stateOf(other)).toMatchObject({ state: "ready" });
  });

  it.each([
    ["bytes that are not UTF-8", "score=5&title=caf%E9", undefined, 400],
    ["raw bytes that are not UTF-8", Buffer.from("title=caf\u00E9", "latin1"), undefined, 400],
    ["another encoding", "score=5", "application/x-www-form-urlencoded; charset=iso-8859-1", 415],
    ["an unknown encoding", "score=5", 'application/x-www-form-urlencoded; charset="x-none"', 415],
    ["JSON", JSON.stringify(typed), "application/json", 415],
    ["plain text", "score=5", "text/plain", 415],
    ["a huge field", `content=${"x".repeat(300_000)}`, undefined, 413],
    ["very many fields", "a=b&".repeat(70_000), undefined, 413],
  ])("refuses %s, and keeps nothing", async (_what, body, type, status) => {
    const address = await shop.reviewAddress();
    const reply = await send(address, body, type ?? "application/x-www-form-urlencoded");
    expect(reply.status).toBe(status);
    expect(await stateOf(address)).toMatchObject({ state: "ready" });
  });

  it("takes the longest texts that it allows, however they are encoded", async () => {
    const address = await shop.reviewAddress();
    const longest = { ...typed, content: "長".repeat(10_000), title: "💥".repeat(75) };
    const reply = await send(
      address,
      new URLSearchParams(longest).toString(),
      'application/x-www-form-urlencoded;charset="UTF-8"',
    );
    expect(reply.status).toBe(200);
    expect((await stateOf(address)).review).toMatchObject({ content: longest.content, title: longest.title });
  });

  it("shows all that is missing where nothing was sent", async () => {
    const reply = await ask("POST", await shop.reviewAddress());
    expect([reply.status, reply.text.match(/class="fault"/g)?.length]).toEqual([422, 4]);
  });

  it("is there in JSON, which says of mistakes under status 200 that nothing is done", async () => {
    const address = asJson(await shop.reviewAddress());
    const wrong = await send(address, JSON.stringify({ score: 9 }), "application/json");
    expect(wrong.status).toBe(200);
    expect(described("reviewRequests.write", "POST", address, wrong)).toEqual([]);
    const right = await send(address, JSON.stringify({ ...typed, score: 5 }), "application/json");
    expect(JSON.parse(right.text)).toMatchObject({ response: { request: { state: "done", problems: [] } } });
    expect(described("reviewRequests.write", "POST", address, right)).toEqual([]);
    const shown = await ask("GET", address);
    expect(described("reviewRequests.show", "GET", address, shown)).toEqual([]);
  });
});

describe("tracking", () => {
  const target = "https://shop.example/a?b=c&d=ä";

  it("answers an image that is kept nowhere, and leads on to where the mail led", async () => {
    const { open, click } = await shop.trackedAddresses(target);
    const before = await shop.counts();
    for (const address of [open, click]) await ask("HEAD", address);
    expect(await shop.counts()).toEqual(before);
    const image = await ask("GET", open);
    expect([image.status, Object.fromEntries(image.headers)]).toMatchObject([
      200,
      { "content-type": "image/gif", "cache-control": "no-store", "x-content-type-options": "nosniff" },
    ]);
    expect(described("tracking.open", "GET", open, image)).toEqual([]);
    for (const method of ["HEAD", "GET"]) {
      const led = await ask(method, click);
      expect([led.status, led.headers.get("location"), led.headers.get("cache-control")]).toEqual([
        302,
        new URL(target).href,
        "no-store",
      ]);
      expect(led.headers.get("referrer-policy")).toBe("no-referrer");
    }
    const counted = await shop.counts();
    for (const counter of ["opens", "unique_opens", "clicks", "unique_clicks"]) {
      expect([counter, (counted[counter] ?? 0) - (before[counter] ?? 0)]).toEqual([counter, 1]);
    }
    const told = await ask("GET", click.replace("/v1/c/", "/v1/clicks/"));
    expect(JSON.parse(told.text)).toMatchObject({ response: { url: new URL(target).href } });
    expect(described("tracking.click", "GET", click.replace("/v1/c/", "/v1/clicks/"), told)).toEqual([]);
  });

  it("leads nowhere else, whatever it is asked", async () => {
    const { click } = await shop.trackedAddresses(target);
    for (const wrong of [
      `${shop.url}/starpost/v1/c/${encodeURIComponent("https://evil.example/")}`,
      `${click.slice(0, -2)}?url=https://evil.example/`,
      `${shop.url}/starpost/v1/c/x?url=https://evil.example/`,
    ]) {
      const { status, headers, text } = await ask("GET", wrong);
      expect([status, headers.get("location")]).toEqual([200, null]);
      expect(text).toContain("no longer works");
      expect(await findFaults(text)).toEqual([]);
    }
    const led = await ask("GET", `${click}?url=https://evil.example/`);
    expect(led.headers.get("location")).toBe(new URL(target).href);
  });
});

describe("unsubscribing in one click", () => {
  it("is a POST that a mail program makes by itself, and is done at once", async () => {
    const address = await shop.unsubscribeAddress();
    for (const _ of [1, 2]) {
      const done = await send(address, "List-Unsubscribe=One-Click", "application/x-www-form-urlencoded");
      expect([done.status, Object.fromEntries(done.headers)]).toMatchObject([200, personal]);
      expect(done.text).toContain("You are unsubscribed");
    }
    expect((await ask("GET", address)).text).toContain("You are unsubscribed");
    const { unsubscribers } = await shop.service.unsubscribers.list({});
    expect(unsubscribers.map(({ email_type_id }) => email_type_id)).toEqual([1]);
  });

  it("is done by no GET and no HEAD, which scanners of mails make", async () => {
    const address = await shop.unsubscribeAddress();
    for (const method of ["GET", "HEAD", "OPTIONS"]) await ask(method, address);
    expect((await ask("GET", address)).text).toContain('<form method="post">');
  });
});
