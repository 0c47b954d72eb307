import { afterEach, describe, expect, it } from "vitest";
import { cacheControlOf, operations, ServiceError } from "../../../src/contract/index.ts";
import { NotModified } from "../../../src/service/transport.ts";
import type { Server } from "../../../src/server/server.ts";
import { type Answerer, startServing } from "./start-test-server.ts";

const opened: Server[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

const rating = (total: number) => ({ bottomline: { average_score: 5, total_reviews: total } });
const path = "/products/key/teapot/bottomline";
const storefront = "public, max-age=60, stale-while-revalidate=600";

async function setUp(answer: Answerer = () => rating(1)) {
  const { url, made } = await startServing(answer, {}, opened);
  const ask = async (target: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
    const response = await fetch(url + target, { headers, ...init });
    const { status } = response;
    const named = (name: string) => response.headers.get(name);
    return { status, control: named("cache-control"), etag: named("etag") ?? "", text: await response.text(), named };
  };
  return { ask, made };
}

describe("a response that caches may store", () => {
  it("has a lifetime and an ETag, which identifies its content", async () => {
    let total = 1;
    const { ask } = await setUp(() => rating(total));
    const first = await ask(path);
    expect(first).toMatchObject({ status: 200, control: storefront });
    expect(first.etag).toMatch(/^W\/"[\w-]{27}"$/);
    expect((await ask(path)).etag).toBe(first.etag);
    total = 2;
    expect((await ask(path)).etag).not.toBe(first.etag);
  });

  it("does not depend on anything but the URL", async () => {
    const { ask } = await setUp();
    const reply = await ask(path, { origin: "https://shop.example", accept: "text/plain" });
    expect([reply.named("vary"), reply.named("access-control-allow-origin")]).toEqual([null, "*"]);
    expect(reply.etag).toBe((await ask(path)).etag);
  });

  it.each([
    ["the ETag", (etag: string) => etag, 304],
    ["the ETag without W/", (etag: string) => etag.slice(2), 304],
    ["a list with the ETag", (etag: string) => `"other", ${etag}`, 304],
    ["an asterisk", () => "*", 304],
    ["another ETag", () => 'W/"other"', 200],
  ])("answers If-None-Match with %s", async (_name, format, status) => {
    const { ask } = await setUp();
    const { etag, text } = await ask(path);
    const reply = await ask(path, { "if-none-match": format(etag) });
    expect(reply).toMatchObject({ status, control: storefront, etag, text: status === 304 ? "" : text });
    expect(reply.named("content-type")).toBe(status === 304 ? null : "application/json; charset=utf-8");
    expect(reply.named("access-control-allow-origin")).toBe("*");
  });

  it("is validated by a client that uses no cache", async () => {
    const { ask } = await setUp();
    const { etag } = await ask(path);
    expect((await ask(path, { "if-none-match": etag, "cache-control": "no-cache" })).status).toBe(304);
  });

  it("has the same headers for HEAD", async () => {
    const { ask } = await setUp();
    const { etag } = await ask(path);
    expect(await ask(path, {}, { method: "HEAD" })).toMatchObject({ status: 200, control: storefront, etag, text: "" });
  });

  it("may be a page, a script, an image, or a batch of fragments that is requested with GET", async () => {
    const { ask } = await setUp(({ operation }) => {
      if (operation === "reviews.top") return { reviews: [] };
      if (operation === "batch.run") return { results: [] };
      return operation === "images.get"
        ? { content_type: "image/png", bytes: Buffer.from("AAAA", "base64") }
        : rating(1);
    });
    const targets = {
      "/apps/key/top_reviews.html": storefront,
      [`${path}?callback=show`]: storefront,
      "/starpost/v1/images/7": "no-cache",
      "/batch?app_key=key&methods=[]": storefront,
    };
    for (const [target, control] of Object.entries(targets)) {
      const { etag, ...reply } = await ask(target);
      expect([target, reply.status, reply.control]).toEqual([target, 200, control]);
      expect([target, (await ask(target, { "if-none-match": etag })).status]).toEqual([target, 304]);
    }
  });
});

describe("a response that belongs to a version of the account", () => {
  const versioned = async (about = { version: "1.0.0" }) => {
    const state = { version: 7, total: 1, calls: 0 };
    const { url } = await startServing(
      (_call, options) => {
        if (options?.engine?.hasVersion?.(state.version) === true) throw new NotModified();
        state.calls += 1;
        return rating(state.total);
      },
      { about: () => about },
      opened,
    );
    const ask = async (etag?: string, query = "") => {
      const response = await fetch(`${url}${path}${query}`, {
        headers: etag === undefined ? {} : { "if-none-match": etag },
      });
      const { status, headers } = response;
      return {
        status,
        etag: headers.get("etag") ?? "",
        control: headers.get("cache-control"),
        text: await response.text(),
      };
    };
    return { state, ask };
  };

  it("is validated without making the call, as long as the version is the same", async () => {
    const { state, ask } = await versioned();
    const { etag } = await ask();
    expect(etag).toMatch(/^W\/"[\w-]{6}\.7\.[\w-]{27}"$/);
    for (const sent of [etag, etag.slice(2), `"other", ${etag}`]) {
      const reply = await ask(sent);
      expect([reply.status, reply.control, reply.text]).toEqual([304, storefront, ""]);
      expect(sent).toContain(reply.etag);
    }
    expect(state.calls).toBe(1);
    state.version = 71;
    const changed = await ask(etag);
    expect([changed.status, state.calls, changed.etag.includes(".71.")]).toEqual([200, 2, true]);
  });

  it("has an ETag of the program's version and public URL, too", async () => {
    const first = await (await versioned()).ask();
    const { ask } = await versioned({ version: "1.0.1" });
    expect((await ask(first.etag)).status).toBe(200);
  });

  it("is not validated for a URL with a token", async () => {
    const { state, ask } = await versioned();
    const { etag } = await ask();
    expect(await ask(etag, "?utoken=t")).toMatchObject({ status: 200, control: "no-store", etag: "" });
    expect(state.calls).toBe(2);
  });
});

describe("any other response must not be stored", () => {
  const notStored = { control: "no-store", etag: "" };

  it("of a call with a token", async () => {
    const { ask } = await setUp();
    expect(await ask("/apps/key/purchases?utoken=t")).toMatchObject({ status: 200, ...notStored });
    expect(await ask(`${path}?utoken=t`)).toMatchObject({ status: 200, ...notStored });
  });

  it("of a call that fails", async () => {
    const { ask } = await setUp(() => {
      throw new ServiceError("recordNotFound", "no such account");
    });
    expect(await ask(path, { "if-none-match": "*" })).toMatchObject({ status: 404, ...notStored });
  });

  it("of a POST", async () => {
    const { ask } = await setUp(() => ({ results: [] }));
    const reply = await ask("/batch?app_key=key&methods=[]", { "if-none-match": "*" }, { method: "POST" });
    expect(reply).toMatchObject({ status: 200, ...notStored });
  });
});

describe("the contract", () => {
  it("lets caches store reads without a token only", () => {
    const stored = [...operations].filter(([, { caching }]) => caching);
    for (const [name, { effect, auth, returnsSecret, needsSecret, acceptsUtoken }] of stored) {
      const { isSecret, isOpen } = {
        isSecret: returnsSecret ?? needsSecret ?? acceptsUtoken ?? false,
        isOpen: auth === "open" || auth === "account",
      };
      expect([name, effect, isOpen, isSecret]).toEqual([name, "read", true, false]);
    }
    // A cache must not answer in place of the server: these reads are for one person or contain a secret.
    const others = [...operations].filter(
      ([, { effect, auth, caching }]) => effect === "read" && (auth === "open" || auth === "account") && !caching,
    );
    expect(others.map(([name]) => name).toSorted()).toEqual([
      "answerRequests.show",
      "forms.photos",
      "forms.question",
      "forms.review",
      "links.show",
      "myReviews.form",
      "myReviews.show",
      "reviewRequests.show",
      "users.signIn",
      "users.signedIn",
    ]);
  });

  it("requires asking the server if the lifetime is 0", () => {
    const controls = [
      {},
      { caching: { maxAgeSeconds: 0, staleSeconds: 9 } },
      { caching: { maxAgeSeconds: 1, staleSeconds: 0 } },
    ];
    expect(controls.map(cacheControlOf)).toEqual([
      "no-store",
      "no-cache",
      "public, max-age=1, stale-while-revalidate=0",
    ]);
  });
});
