import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { operations, ServiceError } from "../../../src/contract/index.ts";
import type { Server, ServerOptions } from "../../../src/server/server.ts";
import { policyOf } from "../../../src/pages/document.ts";
import { findFaults } from "../../support/html.ts";
import { type Answerer, startServing } from "./start-test-server.ts";

const opened: Server[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

async function setUp(answer: Answerer = () => ({}), options: Partial<ServerOptions> = {}) {
  const { url, made, lines } = await startServing(answer, options, opened);
  const ask = async (method: string, path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, { method, ...init });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { url, made, lines, ask };
}

const refusal = (message: string, code: number, type: string) => ({
  status: { message, code, error_type: `Exceptions::${type}` },
});

describe("paths", () => {
  it("work with and without .json if their last part is fixed", async () => {
    const { made, ask } = await setUp(() => {
      throw new ServiceError("recordNotFound", "reached");
    });
    let asked = 0;
    for (const [operation, { method, paths }] of operations) {
      for (const path of paths) {
        if (/\}(?:\.json)?$/.test(path)) continue;
        const filled = path.replace(/\.json$/, "").replaceAll(/\{(\w+)\}/g, "1");
        for (const end of ["", ".json", "/", ".json/"]) {
          const { status, text } = await ask(method, filled + end);
          const isReached = (status === 404 && text.includes("reached")) || text.includes('"error"');
          expect([method, filled + end, isReached]).toEqual([method, filled + end, true]);
          expect(made.at(-1)?.operation).toBe(operation);
          asked += 1;
        }
      }
    }
    expect(asked).toBeGreaterThan(150);
    expect(made).toHaveLength(asked);
  });

  it("do not accept .json after .html", async () => {
    const { ask } = await setUp(() => ({ reviews: [] }));
    expect((await ask("GET", "/apps/key/top_reviews.html")).status).toBe(200);
    expect((await ask("GET", "/apps/key/top_reviews.html.json")).status).toBe(404);
  });

  it("use the site's page for an empty product", async () => {
    const { made, ask } = await setUp(() => ({ seo_page_url: "u" }));
    for (const path of ["key", "key/", "key/pot", "key/pot/"]) await ask("GET", `/v1/seo_pages/url/${path}`);
    expect(made.map(({ input }) => input)).toEqual([{}, {}, { product_id: "pot" }, { product_id: "pot" }]);
    expect(new Set(made.map(({ caller }) => caller.appKey))).toEqual(new Set(["key"]));
  });
});

describe("queries", () => {
  it.each([
    ["sort[]=date", { sort: ["date"] }],
    ["sort[]=date&sort[]=rating", { sort: ["date", "rating"] }],
    ["sort%5B%5D=date", { sort: ["date"] }],
    ["sort=date&sort=rating", { sort: ["date", "rating"] }],
    ["sort=date&sort[]=rating", { sort: ["date", "rating"] }],
    ["sort=date", { sort: "date" }],
    ["page=&per_page=5", { per_page: "5" }],
    ["sort[]=&star=", {}],
    ["star=&star=4", { star: "4" }],
    ["page", {}],
    ["[]=x", { "": ["x"] }],
    ["a+b=c%20d%2B", { "a b": "c d+" }],
    ["page=0", { page: "0" }],
    ["__proto__[]=x&__proto__=y", {}],
    ["callback=f", { callback: "f" }],
  ])("read %s", async (query, input) => {
    const { made, ask } = await setUp();
    await ask("GET", `/v1/widget/key/products/pot/reviews.json?${query}`);
    expect(made[0]?.input).toEqual({ ...input, product_id: "pot" });
    expect(Object.getPrototypeOf(made[0]?.input)).toBe(Object.prototype);
  });

  it("keep empty values of a body", async () => {
    const { made, ask } = await setUp();
    await ask("PUT", "/apps/key/products/mass_update?description=", {
      body: '{"products":{"a":{"description":""}},"b":""}',
      headers: { "content-type": "application/json" },
    });
    expect(made[0]?.input).toEqual({ products: { a: { description: "" } }, b: "" });
  });

  it("treat an empty utoken or app key as missing", async () => {
    const { made, ask } = await setUp();
    await ask("GET", "/users/b2blogin.json?app_key=&secret=s&utoken=");
    expect(made[0]).toMatchObject({ input: { secret: "s" }, caller: {} });
  });
});

describe("JSONP", () => {
  const bottomline = { bottomline: { average_score: 4.5, total_reviews: 2 } };
  const path = "/products/key/pot/bottomline";

  it("calls the named function", async () => {
    const { made, ask } = await setUp(() => bottomline);
    for (const name of ["show", "$._x1.y", "jQuery12_3", "a".repeat(128)]) {
      const { status, headers, text } = await ask("GET", `${path}?callback=${encodeURIComponent(name)}`);
      expect([status, headers.get("content-type"), headers.get("x-content-type-options")]).toEqual([
        200,
        "application/javascript; charset=utf-8",
        "nosniff",
      ]);
      const body = { status: { code: 200, message: "OK" }, response: bottomline };
      expect(text).toBe(`${name}(${JSON.stringify(body)});`);
    }
    expect(made.map(({ input }) => input)).toEqual(Array.from({ length: 4 }, () => ({ product_id: "pot" })));
  });

  it.each([
    "alert(1)//",
    "a-b",
    "a.",
    ".a",
    "1a",
    "a[0]",
    "a;b",
    "<script>",
    "ä",
    "a\n",
    "a".repeat(129),
    "a&callback=b",
  ])("rejects %j as JSON without calling the operation", async (name) => {
    const { made, ask } = await setUp(() => bottomline);
    const query = name.includes("&") ? name : encodeURIComponent(name);
    const { status, headers, text } = await ask("GET", `${path}?callback=${query}`);
    expect([status, headers.get("content-type"), JSON.parse(text)]).toEqual([
      500,
      "application/json; charset=utf-8",
      refusal("callback is not the name of a function", 500, "InvalidParams"),
    ]);
    expect(made).toEqual([]);
  });

  it("returns JSON without a callback, and for errors", async () => {
    const { ask } = await setUp(() => bottomline);
    for (const query of ["", "?callback="]) {
      const { headers, text } = await ask("GET", path + query);
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(JSON.parse(text).response).toEqual(bottomline);
    }
    const failing = await setUp(() => {
      throw new ServiceError("recordNotFound", "no product");
    });
    const { status, text } = await failing.ask("GET", `${path}?callback=f`);
    expect([status, JSON.parse(text)]).toEqual([404, refusal("no product", 404, "RecordNotFound")]);
  });

  it("escapes line separators in the script", async () => {
    const { ask } = await setUp(() => ({ bottomlines: [{ domain_key: "a\u2028b\u2029c" }] }));
    const { text } = await ask("GET", "/v1/apps/key/bottom_lines?callback=f");
    expect(text).toContain(String.raw`a\u2028b\u2029c`);
    let called: unknown;
    // oxlint-disable-next-line typescript/no-implied-eval -- runs the script as a browser does
    new Function("f", text)((body: unknown) => (called = body));
    expect(called).toMatchObject({ response: { bottomlines: [{ domain_key: "a\u2028b\u2029c" }] } });
  });
});

describe("pages", () => {
  const link = (state: string) => ({
    link: { kind: "unsubscribe", state, about: "jane@shop.example", detail: "reminders" },
  });

  it("are HTML with a content security policy that allows only their own content", async () => {
    const { ask } = await setUp(() => ({ reviews: [] }));
    const { status, headers, text } = await ask("GET", "/apps/key/top_reviews.html");
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policyOf("public"),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    expect(headers.get("set-cookie")).toBeNull();
    expect(await findFaults(text)).toEqual([]);
    const json = await ask("GET", "/apps/key/top_reviews.json");
    expect(JSON.parse(json.text)).toEqual({ status: { code: 200, message: "OK" }, reviews: [] });
    const head = await ask("HEAD", "/apps/key/top_reviews.html");
    expect([head.status, head.headers.get("content-length"), head.text]).toEqual([
      200,
      headers.get("content-length"),
      "",
    ]);
  });

  it("that are personal are not cached or framed", async () => {
    const { ask } = await setUp(() => link("ready"));
    const { headers } = await ask("GET", "/starpost/v1/l/token");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });

  it("return errors as JSON", async () => {
    const { ask } = await setUp(() => {
      throw new ServiceError("recordNotFound", "no such account");
    });
    const { status, headers, text } = await ask("GET", "/starpost/v1/pages/key/products/pot");
    expect([status, headers.get("content-type"), JSON.parse(text)]).toEqual([
      404,
      "application/json; charset=utf-8",
      refusal("no such account", 404, "RecordNotFound"),
    ]);
  });

  const multipart = new FormData();
  multipart.set("List-Unsubscribe", "One-Click");
  it.each([
    ["a form button", { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "" }],
    ["a one-click request", { body: new URLSearchParams({ "List-Unsubscribe": "One-Click", token: "other" }) }],
    ["a multipart one-click request", { body: multipart }],
    ["an empty request", {}],
    ["invalid JSON", { headers: { "content-type": "application/json" }, body: "{" }],
    ["plain text", { body: "One-Click" }],
  ])("of links accept %s", async (_what, init: RequestInit) => {
    const { made, ask } = await setUp(() => link("done"));
    const { status, text } = await ask("POST", "/starpost/v1/l/t.o-k_en", init);
    expect(status).toBe(200);
    expect(text).toContain("no longer sent to <bdi>jane@shop.example</bdi>");
    expect(made).toEqual([{ operation: "links.follow", input: { token: "t.o-k_en" }, caller: {} }]);
  });

  it("of links reject large bodies, and the JSON path rejects forms", async () => {
    const { made, ask } = await setUp(() => link("done"));
    const large = await ask("POST", "/starpost/v1/l/token", { body: "x".repeat(100_000) });
    expect([large.status, JSON.parse(large.text).status.error_type]).toEqual([413, "Exceptions::BodyTooLarge"]);
    const form = await ask("POST", "/starpost/v1/links/token", { body: new URLSearchParams({ a: "b" }) });
    expect(form.status).toBe(415);
    expect(made).toEqual([]);
    expect((await ask("POST", "/starpost/v1/links/token")).status).toBe(200);
  });
});

describe("other responses", () => {
  it("return bytes with their media type", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    const { url } = await setUp(() => ({ content_type: "image/png", bytes }));
    const response = await fetch(`${url}/starpost/v1/images/7`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": "6",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'",
      "cache-control": "no-cache",
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  });

  it("return bare lists", async () => {
    const { made, ask } = await setUp(() => ({ results: [{ result: "<p>" }] }));
    const { headers, text } = await ask("POST", "/batch?app_key=key&methods=[]");
    expect([headers.get("content-type"), text]).toEqual(["application/json; charset=utf-8", '[{"result":"<p>"}]']);
    expect(made[0]).toMatchObject({ input: { methods: "[]" }, caller: { appKey: "key" } });
  });

  it("with tokens are not cached", async () => {
    const { ask } = await setUp(() => ({ access_token: "t", token_type: "bearer" }));
    expect((await ask("POST", "/oauth/token")).headers.get("cache-control")).toBe("no-store");
  });
});

describe("an invalid request", () => {
  async function sendRaw(url: string, text: string): Promise<{ head: string; body: unknown }> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let answered = "";
    socket.on("data", (data) => (answered += data.toString()));
    socket.write(text);
    await new Promise<void>((resolve) => void socket.on("close", () => resolve()));
    const [head = "", body = ""] = answered.split("\r\n\r\n");
    return { head, body: body === "" ? undefined : JSON.parse(body) };
  }

  it.each([
    ["not HTTP at all\r\n\r\n", "400 Bad Request", 400, "MalformedRequest"],
    ["BREW / HTTP/1.1\r\nhost: x\r\n\r\n", "400 Bad Request", 400, "MalformedRequest"],
    ["GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n", "400 Bad Request", 400, "MalformedRequest"],
    [
      `GET /?utoken=secret HTTP/1.1\r\nhost: x\r\nx-long: ${"a".repeat(20_000)}\r\n\r\n`,
      "431 Request Header Fields Too Large",
      431,
      "HeadersTooLarge",
    ],
    [
      `GET /?utoken=${"secret".repeat(4_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      "431 Request Header Fields Too Large",
      431,
      "HeadersTooLarge",
    ],
  ])("gets an error in the standard format: %.30j", async (text, line, code, type) => {
    const { url, lines } = await setUp();
    const { head, body } = await sendRaw(url, text);
    expect(head.split("\r\n")[0]).toBe(`HTTP/1.1 ${line}`);
    expect(head).toContain("content-type: application/json; charset=utf-8");
    expect(body).toEqual(refusal(expect.any(String), code, type));
    expect(lines.join("")).not.toContain("secret");
  });

  it("is rejected after a valid request on the same connection", async () => {
    const { url } = await setUp();
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let answered = "";
    socket.on("data", (data) => {
      if (answered === "") socket.write("nonsense\r\n\r\n");
      answered += data.toString();
    });
    socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
    await new Promise<void>((resolve) => void socket.on("close", () => resolve()));
    expect(answered.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
  });

  it.each([
    ["a body", "content-type: application/json\r\ncontent-length: 9\r\n\r\n{"],
    ["headers", ""],
  ])("is rejected completely within the time limit: %s", async (_what, rest) => {
    const { url, made } = await setUp(undefined, { receiving: { requestWithinMs: 200 } });
    const { head, body } = await sendRaw(url, `POST /users HTTP/1.1\r\nhost: x\r\n${rest}`);
    expect(head.split("\r\n")[0]).toBe("HTTP/1.1 408 Request Timeout");
    expect(body).toEqual(refusal("the request did not arrive in the time allowed", 408, "RequestTimeout"));
    expect(made).toEqual([]);
  });

  it("does not include one with an unknown Expect header", async () => {
    const { url } = await setUp();
    const { body } = await sendRaw(
      url,
      "GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n",
    );
    expect(body).toEqual({ status: "ok" });
  });

  it("with a malformed path gets the standard headers", async () => {
    const { ask } = await setUp();
    const { status, headers } = await ask("GET", "/users/%zz");
    expect([status, headers.get("x-content-type-options")]).toEqual([404, "nosniff"]);
  });

  it("is one without Host in HTTP/1.1", async () => {
    const { url } = await setUp();
    const { head, body } = await sendRaw(url, "GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n");
    expect(head.split("\r\n")[0]).toBe("HTTP/1.1 400 Bad Request");
    expect(body).toEqual(refusal("the request has no Host header", 400, "MalformedBody"));
    const old = await sendRaw(url, "GET /healthz HTTP/1.0\r\n\r\n");
    expect(old.body).toEqual({ status: "ok" });
  });
});
