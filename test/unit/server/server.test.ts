import { connect, Socket } from "node:net";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type ErrorKind, errorKinds, ServiceError } from "../../../src/contract/index.ts";
import { ListenError } from "../../../src/server/listen.ts";
import { createServer, type Server, type ServerOptions } from "../../../src/server/server.ts";
import { createServerLog } from "../../../src/server/server-log.ts";
import type { Transport } from "../../../src/service/transport.ts";
import { type Answerer, startServing } from "./start-test-server.ts";

const opened: Server[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

/** Starts the server over a transport that answers with `respond`, and captures its log. */
async function setUp(answer: Answerer = () => ({}), options: Partial<ServerOptions> = {}) {
  const { server, url, made, lines } = await startServing(answer, options, opened);
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };
  return { server, url, made, lines, ask };
}

const refusal = (message: string, code: number, type: string) => ({
  status: { message, code, error_type: `Exceptions::${type}` },
});

describe("decoding", () => {
  it("merges path, body, and query into one input, and extracts the credentials", async () => {
    const { made, ask } = await setUp();
    await ask("POST", "/apps/key/coupons/unique?utoken=q&coupon_action=query&extra=1", {
      utoken: "body",
      coupon_action: "map_share",
      codes: [],
      app_key: "other",
    });
    expect(made).toEqual([
      {
        operation: "coupons.upload",
        input: { coupon_action: "map_share", codes: [], extra: "1" },
        caller: { appKey: "key", utoken: "body" },
      },
    ]);
  });

  it("reads the utoken from query or body, and the core API's token from its header only", async () => {
    const { made, ask } = await setUp(() => ({ coupons: [], products: [], purchases: [] }));
    await ask("GET", "/apps/key/coupons/unique?utoken=q");
    await ask("DELETE", "/apps/key/purchases?utoken=q", { orders: [] });
    await ask("GET", "/core/v3/stores/key/products?utoken=q", undefined, { "X-Service-Token": "h" });
    await ask("GET", "/core/v3/stores/key/products?utoken=q");
    expect(made.map(({ caller }) => caller)).toEqual([
      { appKey: "key", utoken: "q" },
      { appKey: "key", utoken: "q" },
      { appKey: "key", utoken: "h" },
      { appKey: "key" },
    ]);
  });

  it("passes the client's address, and ignores X-Forwarded-For from proxies that are not trusted", async () => {
    const addresses = async (options: Partial<ServerOptions>) => {
      const seen: unknown[] = [];
      const { ask } = await setUp((_call, { engine } = {}) => {
        seen.push(engine?.clientAddress);
        return { uuid: "u" };
      }, options);
      for (const forwarded of ["203.0.113.7", "203.0.113.7, 198.51.100.1"]) {
        await ask("POST", "/apps/key/purchases/mass_create", {}, { "x-forwarded-for": forwarded });
      }
      return seen;
    };
    expect(await addresses({})).toEqual(["127.0.0.1", "127.0.0.1"]);
    expect(await addresses({ trustedProxies: ["198.51.100.1"] })).toEqual(["127.0.0.1", "127.0.0.1"]);
    expect(await addresses({ trustedProxies: ["127.0.0.0/8"] })).toEqual(["203.0.113.7", "198.51.100.1"]);
    const both = ["127.0.0.1", "198.51.100.0/24"];
    expect(await addresses({ trustedProxies: both })).toEqual(["203.0.113.7", "203.0.113.7"]);
  });

  it("counts all clients without an address as one, instead of exempting them", async () => {
    const seen: unknown[] = [];
    const { url } = await setUp((_call, { engine } = {}) => {
      seen.push(engine?.clientAddress);
      return { uuid: "u" };
    });
    const sockets = Socket.prototype as unknown as { _getpeername: () => object };
    const peer = vi.spyOn(sockets, "_getpeername").mockReturnValue({});
    onTestFinished(() => peer.mockRestore());
    await fetch(`${url}/apps/key/purchases/mass_create`, { method: "POST" });
    expect(seen).toEqual(["unknown"]);
  });

  it("accepts every alias, a trailing slash, and an empty query", async () => {
    const { made, ask } = await setUp(() => ({ uuid: "u" }));
    for (const path of ["mass_create.json", "mass_create", "mass_create/", "mass_create?"]) {
      expect((await ask("POST", `/apps/key/purchases/${path}`, {})).status).toBe(200);
    }
    expect(new Set(made.map(({ operation }) => operation))).toEqual(new Set(["orders.massCreate"]));
  });

  it("accepts form-encoded token requests, but no other forms", async () => {
    const { made, ask } = await setUp(() => ({ access_token: "t", token_type: "bearer" }));
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await ask("POST", "/oauth/token", "client_id=a%20b&grant_type=c", form)).status).toBe(200);
    expect(made[0]?.input).toEqual({ client_id: "a b", grant_type: "c" });
    expect((await ask("POST", "/users", "a=b", form)).status).toBe(415);
  });

  it("accepts long IDs and special characters in paths", async () => {
    const { made, ask } = await setUp(() => ({ user: {} }));
    const odd = ["x".repeat(10_000), "a/b", "ü💥", "%", "\0", "__proto__", "constructor"];
    for (const id of odd) expect((await ask("GET", `/users/${encodeURIComponent(id)}`)).status).toBe(200);
    expect(made.map(({ input }) => (input as { user_id: string }).user_id)).toEqual(odd);
    expect((await ask("GET", "/users/%zz")).body).toEqual(refusal("the path is not well formed", 404, "UnknownPath"));
  });

  it("does not let a query change the type of an input", async () => {
    const { made, ask } = await setUp();
    await ask("GET", "/apps/key/coupons/unique?__proto__=x&constructor=y");
    expect(Object.getPrototypeOf(made[0]?.input)).toBe(Object.prototype);
    expect(Object.keys(made[0]?.input as object)).toEqual(["constructor"]);
  });
});

const forbidden = "the body is JSON with a field that no object may have: __proto__, constructor.prototype";

describe("an unreadable request", () => {
  it.each([
    ["{", "the body is not JSON (at character 2)"],
    ['{"a":1}}', "the body is not JSON (at character 8)"],
    ['{"a":"x', "the body is not JSON (at character 8)"],
    ['{"__proto__":{"admin":true}}', forbidden],
    ['{"a":{"constructor":{"prototype":{"b":1}}}}', forbidden],
    ["[]", "the body is not a JSON object"],
    ["null", "the body is not a JSON object"],
    ['"text"', "the body is not a JSON object"],
  ])("is rejected as malformed: %s", async (body, message) => {
    const { made, ask } = await setUp();
    const answered = await ask("POST", "/users", body);
    expect([answered.status, answered.body]).toEqual([400, refusal(message, 400, "MalformedBody")]);
    expect(made).toEqual([]);
  });

  it("is rejected if the body is compressed", async () => {
    const { made, ask } = await setUp();
    const answered = await ask("POST", "/users", "{}", { "content-encoding": "gzip" });
    const message = "send the body as it is, without Content-Encoding";
    expect([answered.status, answered.body]).toEqual([415, refusal(message, 415, "UnsupportedMediaType")]);
    expect(made).toEqual([]);
  });

  it("is rejected if the body is not UTF-8", async () => {
    const { url } = await setUp();
    const response = await fetch(`${url}/users`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from('{"a":"Müller"}', "latin1"),
    });
    expect(await response.json()).toEqual(refusal("the body is not UTF-8 text", 400, "MalformedBody"));
  });

  it("is rejected if the body exceeds the limit", async () => {
    const { ask } = await setUp(() => ({}), { bodyLimitBytes: 100 });
    const bodyOf = (bytes: number) => JSON.stringify({ a: "x".repeat(bytes - 8) });
    expect((await ask("POST", "/users", bodyOf(100))).status).toBe(200);
    const answered = await ask("POST", "/users", bodyOf(101));
    expect([answered.status, answered.body]).toEqual([
      413,
      refusal("the body is larger than 100 bytes, the limit of this call", 413, "BodyTooLarge"),
    ]);
  });

  it("is rejected for other media types", async () => {
    const { ask } = await setUp();
    const answered = await ask("POST", "/users", "<a/>", { "content-type": "text/xml" });
    expect([answered.status, answered.body]).toEqual([
      415,
      refusal("send Content-Type: application/json", 415, "UnsupportedMediaType"),
    ]);
  });

  it("gets an error that names the unknown path without its query, in the format of its API", async () => {
    const { ask } = await setUp();
    const legacy = await ask("POST", "/nowhere?utoken=secret", "not json", { "content-type": "x/y" });
    expect([legacy.status, legacy.body]).toEqual([404, refusal("no endpoint at POST /nowhere", 404, "UnknownPath")]);
    const core = await ask("GET", "/core/v3/nowhere");
    expect([core.status, core.body]).toEqual([404, { errors: [{ message: "no endpoint at GET /core/v3/nowhere" }] }]);
  });

  it("gets an error that lists the allowed methods", async () => {
    const { made, ask } = await setUp();
    const answered = await ask("PATCH", "/apps/key/purchases", "<a/>", { "content-type": "text/xml" });
    expect([answered.status, answered.headers.get("allow"), answered.body]).toEqual([
      405,
      "POST, GET, DELETE, HEAD, OPTIONS",
      refusal("PATCH is not allowed here; allowed: POST, GET, DELETE, HEAD, OPTIONS", 405, "MethodNotAllowed"),
    ]);
    expect((await ask("DELETE", "/users")).headers.get("allow")).toBe("POST, OPTIONS");
    expect((await ask("HEAD", "/users/1")).status).toBe(200);
    expect(made.map(({ operation }) => operation)).toEqual(["users.get"]);
  });

  it("runs no operation for OPTIONS, or for HEAD of an operation that writes", async () => {
    const { made, ask } = await setUp();
    const head = await ask("HEAD", "/reviews/1/vote/up");
    expect([head.status, head.headers.get("allow"), head.body]).toEqual([405, "GET, OPTIONS", undefined]);
    const options = await ask("OPTIONS", "/reviews/1/vote/up");
    expect([options.status, options.headers.get("allow"), options.body]).toEqual([204, "GET, OPTIONS", undefined]);
    expect((await ask("OPTIONS", "/starpost/v1/l/token")).headers.get("allow")).toBe("GET, POST, HEAD, OPTIONS");
    expect((await ask("OPTIONS", "/nowhere")).status).toBe(404);
    expect(made).toEqual([]);
  });
});

describe("responses", () => {
  it("have the status of the error", async () => {
    for (const [kind, { http }] of Object.entries(errorKinds)) {
      const { ask } = await setUp(() => {
        throw new ServiceError(kind as ErrorKind, "why");
      });
      expect((await ask("GET", "/users/1")).status).toBe(http);
    }
  });

  it("to bugs contain only the request ID, and the bug is logged", async () => {
    const { ask, lines } = await setUp(() => {
      throw Object.assign(new Error("cannot read x"), { parameters: ["jane@shop.example"] });
    });
    const answered = await ask("GET", "/users/1");
    expect([answered.status, answered.body]).toEqual([
      500,
      refusal("internal error (request req-1)", 500, "InternalError"),
    ]);
    expect(lines.join("")).toContain("cannot read x");
    expect(lines.join("")).not.toContain("jane@");
  });

  it("tell scripts of shops how long to wait", async () => {
    const { ask } = await setUp(() => {
      throw new ServiceError("tooManyRequests", "Too Many Requests", { retryAfterMs: 90_001 });
    });
    const { status, headers } = await ask("POST", "/v1/widget/reviews", {});
    const names = ["retry-after", "access-control-allow-origin", "access-control-expose-headers"];
    expect([status, ...names.map((name) => headers.get(name))]).toEqual([429, "91", "*", "retry-after"]);
  });

  it("have rate limit headers, also for errors", async () => {
    let remaining = 1;
    const { ask } = await setUp((_call, options) => {
      options?.onEvent?.({ type: "limit", remaining, resetAtSeconds: 1_700_000_000 });
      remaining -= 1;
      if (remaining < 0) throw new ServiceError("tooManyRequests", "Too Many Requests", { retryAfterMs: 300 });
      return { products: [], pagination: { next_page_info: null } };
    });
    const read = async () => {
      const { status, headers, body } = await ask("GET", "/core/v3/stores/key/products");
      const named = ["ratelimit-remaining", "ratelimit-reset", "retry-after"].map((name) => headers.get(name));
      return [status, body, ...named];
    };
    expect(await read()).toEqual([
      200,
      { products: [], pagination: { next_page_info: null } },
      "1",
      "1700000000",
      null,
    ]);
    expect(await read()).toEqual([429, { errors: [{ message: "Too Many Requests" }] }, "0", "1700000000", "1"]);
  });

  it("to health checks succeed", async () => {
    const { ask } = await setUp();
    const { status, body } = await ask("GET", "/healthz");
    expect([status, body]).toEqual([200, { status: "ok" }]);
  });
});

describe("the log", () => {
  it("has one line per call with the route's pattern and no input", async () => {
    const { ask, lines } = await setUp(() => {
      throw new ServiceError("recordNotFound", "no account key-1234");
    });
    await ask("POST", "/apps/key-1234/coupons/unique?utoken=secret-1", {
      utoken: "secret-2",
      email: "jane@shop.example",
    });
    await ask("GET", "/core/v3/stores/key-1234/products", undefined, { "X-Service-Token": "secret-3" });
    await ask("GET", "/nowhere?utoken=secret-4");
    const text = lines.join("");
    for (const sent of ["secret", "jane", "key-1234"]) expect(text).not.toContain(sent);
    const calls = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "call");
    expect(calls[0]).toEqual({
      level: "info",
      time: "1970-01-01T00:00:00.000Z",
      id: "req-1",
      account: null,
      caller: "public",
      method: "POST",
      route: "/apps/:app_key/coupons/unique",
      operation: "coupons.upload",
      status: 404,
      duration_ms: expect.any(Number),
      msg: "call",
    });
    expect(calls.map(({ route }) => route)).toEqual([
      "/apps/:app_key/coupons/unique",
      "/core/v3/stores/:store_id/products",
      "(unknown)",
    ]);
  });

  it("names the account of a valid token and its role, also if the role does not permit the call", async () => {
    const { ask, lines } = await setUp((_, options) => {
      options?.onEvent?.({ type: "account", appKey: "key", hasToken: true, role: "support" });
      throw new ServiceError("roleDenied", "no");
    });
    expect((await ask("GET", "/apps/key/coupons/unique?utoken=t")).status).toBe(401);
    const calls = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "call");
    expect(calls).toMatchObject([{ account: "key", caller: expect.stringMatching(/^token-/), role: "support" }]);
  });

  it("also has a line for a malformed path, and for a call whose client did not wait", async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const { ask, url, lines } = await setUp(async () => {
      arrived();
      return new Promise(() => {});
    });
    const calls = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "call");
    expect((await ask("GET", "/%zz?utoken=secret-1")).status).toBe(404);
    await expect.poll(calls).toMatchObject([{ id: "req-1", status: 404, route: "(unknown)", operation: null }]);
    const abort = new AbortController();
    const call = fetch(`${url}/users/1`, { signal: abort.signal });
    await arrival;
    abort.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(calls).toMatchObject([{}, { id: "req-2", status: null, operation: "users.get" }]);
    expect(lines.join("")).not.toContain("secret-1");
  });

  it("names requests uniquely among processes", async () => {
    const { ask, lines } = await setUp(undefined, { random: (bytes) => Buffer.alloc(bytes, 0xab) });
    await ask("GET", "/healthz");
    await ask("GET", "/healthz");
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(["abababab-1", "abababab-2"]);
  });
});

describe("starting and stopping", () => {
  it("completes requests in flight and accepts no more", async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { server, url, ask } = await setUp(async () => {
      arrived();
      await held;
      return { user: {} };
    });
    await ask("GET", "/healthz");
    const call = ask("GET", "/users/1");
    await arrival;
    const closing = server.close();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    finish();
    const answered = await call;
    expect([answered.status, answered.headers.get("connection")]).toEqual([200, "close"]);
    await closing;
  });

  it("closes connections with incomplete requests", async () => {
    const { server, url } = await setUp(() => ({}), { closeWithinMs: 100 });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /users HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{");
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    const startedAtMs = Date.now();
    await server.close();
    // Otherwise, it would wait for ten seconds.
    expect(Date.now() - startedAtMs).toBeLessThan(9_000);
  });

  it("reports a port that is in use", async () => {
    const { url } = await setUp();
    const port = Number(new URL(url).port);
    const { server } = await setUp();
    const error = await createServerAt(port).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ListenError);
    expect(error).toMatchObject({
      message: expect.stringContaining(`127.0.0.1:${port}`) as string,
      hint: expect.stringContaining("port") as string,
    });
    await server.close();
  });
});

async function createServerAt(port: number): Promise<unknown> {
  const transport: Transport = { call: () => Promise.reject(new Error("unused")), close: async () => {} };
  const logger = createServerLog({ write: () => {} }, { level: "silent", clock: () => 0 });
  const server = createServer(transport, { logger });
  opened.push(server);
  return server.listen({ host: "127.0.0.1", port });
}
