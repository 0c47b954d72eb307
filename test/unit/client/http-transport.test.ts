import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpTransport, type HttpTransportOptions } from "../../../src/client/http-transport.ts";
import type { CallEvent, Transport } from "../../../src/service/transport.ts";
import { type Loopback, type Responder, sendJson, startLoopback } from "../../support/loopback.ts";

const caller = { appKey: "key", utoken: "utoken-5f3c" };
const uploaded = {
  status: { code: 200, message: "OK" },
  response: {
    total_codes: 1,
    errors: Object.fromEntries(
      ["empty_cell", "code_length", "duplicate_code"].map((name) => [name, { error_text: "", error_count: 0 }]),
    ),
    "new-codes": 1,
  },
};
const listed = { status: { code: 200, message: "OK" }, response: { coupons: [{ code: "A1" }] } };

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

interface Setup {
  readonly server: Loopback;
  readonly transport: Transport;
  readonly waits: number[];
  readonly events: CallEvent[];
  readonly upload: () => Promise<unknown>;
  readonly list: () => Promise<unknown>;
  readonly products: () => Promise<unknown>;
}

/** Starts a service that answers with `respond`, and a client that records its sleeps instead of sleeping. */
async function setUp(respond: Responder, options: Partial<HttpTransportOptions> = {}): Promise<Setup> {
  const server = await startLoopback(respond);
  const waits: number[] = [];
  const events: CallEvent[] = [];
  let passedMs = 0;
  const transport = createHttpTransport({
    baseUrl: server.url,
    ratePerSecond: 0,
    clock: () => Date.now() + passedMs,
    sleep: async (ms) => {
      waits.push(ms);
      passedMs += ms;
    },
    random: () => 0.5,
    requestTimeoutMs: 2_000,
    ...options,
  });
  opened.push(server, transport);
  const onEvent = (event: CallEvent) => events.push(event);
  return {
    server,
    transport,
    waits,
    events,
    upload: () => transport.call("coupons.upload", { coupon_action: "map_review", codes: ["A1"] }, caller, { onEvent }),
    list: () => transport.call("coupons.list", {}, caller, { onEvent }),
    products: () => transport.call("products.massCreate", { products: {} }, caller, { onEvent }),
  };
}

/** Applies `fail` to the first `times` requests, then answers. */
function failing(times: number, fail: Responder): Responder {
  return (response, at, request) => {
    if (at < times) fail(response, at, request);
    else if (request.method === "GET") sendJson(response, 200, listed);
    else if (request.url?.includes("products")) sendJson(response, 200, { code: 200, message: "OK" });
    else sendJson(response, 200, uploaded);
  };
}

describe("requests", () => {
  it("have the utoken in the query of a GET and in the body of a POST", async () => {
    const { server, list, upload } = await setUp(failing(0, () => {}));
    expect(await list()).toEqual({ coupons: [{ code: "A1" }] });
    expect(await upload()).toEqual(uploaded.response);
    expect(server.received.map(({ method, url, body }) => [method, url, body])).toEqual([
      ["GET", "/apps/key/coupons/unique?utoken=utoken-5f3c", ""],
      [
        "POST",
        "/apps/key/coupons/unique",
        JSON.stringify({ coupon_action: "map_review", codes: ["A1"], utoken: "utoken-5f3c" }),
      ],
    ]);
    expect(server.received[1]?.headers).toMatchObject({ "content-type": "application/json" });
  });

  it("have a body with DELETE, and the core API's token in a header", async () => {
    const { server, transport } = await setUp((response, at) =>
      at === 0
        ? sendJson(response, 200, { code: "200", message: "OK" })
        : sendJson(response, 200, { products: [], pagination: { next_page_info: null } }),
    );
    await transport.call("orders.cancelEmails", { orders: [{ order_id: "1" }] }, caller);
    await transport.call("core.listProducts", { limit: 3 }, caller);
    const [deletion, listing] = server.received;
    expect(deletion?.method).toBe("DELETE");
    expect(JSON.parse(deletion?.body ?? "")).toEqual({ orders: [{ order_id: "1" }], utoken: caller.utoken });
    expect(listing?.url).toBe("/core/v3/stores/key/products?limit=3");
    expect(listing?.headers["x-service-token"]).toBe(caller.utoken);
  });

  it("keep the path of the base URL and encode path segments", async () => {
    const { server } = await setUp((response) => sendJson(response, 200, listed));
    const transport = createHttpTransport({ baseUrl: `${server.url}/api/v9/`, ratePerSecond: 0, clock: Date.now });
    opened.push(transport);
    await transport.call("coupons.list", {}, { appKey: "a/b?ü", utoken: "t&1" });
    expect(server.received[0]?.url).toBe("/api/v9/apps/a%2Fb%3F%C3%BC/coupons/unique?utoken=t%261");
  });

  it("use the path whose parameters are all given", async () => {
    const answer = { code: 200, message: "OK", response: { seo_page_url: "http://x/" } };
    const { server, transport } = await setUp((response) => sendJson(response, 200, answer));
    for (const product_id of ["pot", undefined, ""]) {
      const found = await transport.call("seo.pageUrl", { product_id }, caller);
      expect(found).toEqual(answer.response);
    }
    expect(server.received.map(({ url }) => url)).toEqual([
      "/v1/seo_pages/url/key/pot",
      "/v1/seo_pages/url/key",
      "/v1/seo_pages/url/key?product_id=",
    ]);
  });

  it("repeat the parameter for each value of a list", async () => {
    const { server, transport } = await setUp((response) => sendJson(response, 404, {}));
    const input = { product_id: "pot", sort: ["date" as const, "rating" as const], page: 2 };
    await transport.call("reviews.widget", input, caller).catch(() => {});
    expect(server.received[0]?.url).toBe(
      "/v1/widget/key/products/pot/reviews.json?sort%5B%5D=date&sort%5B%5D=rating&page=2",
    );
  });

  it("are rejected if a value cannot be part of a path", async () => {
    const { transport } = await setUp(() => {});
    const get = (input: { user_id: string }) => transport.call("users.get", input, {});
    await expect(get({ user_id: "" })).rejects.toMatchObject({ kind: "invalidParams", message: "Missing user_id" });
    await expect(get({ user_id: ".." })).rejects.toMatchObject({ kind: "invalidParams" });
    await expect(transport.call("coupons.list", {}, {})).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it.each(["nowhere", "ftp://host", "//host"])("are rejected for the base URL %j", (baseUrl) => {
    expect(() => createHttpTransport({ baseUrl, ratePerSecond: 0, clock: Date.now })).toThrow(
      expect.objectContaining({ kind: "invalidParams", message: expect.stringContaining(baseUrl) }) as Error,
    );
  });
});

describe("responses", () => {
  const batch = { methods: [] };

  it("are bare lists only where the operation returns one", async () => {
    const answers: unknown[] = [[{ result: "<p>" }], [], {}, "text"];
    const { transport } = await setUp((response, at) => sendJson(response, 200, answers[at] ?? [1]));
    expect(await transport.call("batch.run", batch, caller)).toEqual({ results: [{ result: "<p>" }] });
    expect(await transport.call("batch.run", batch, caller)).toEqual({ results: [] });
    const failed = { outcomeUnknown: true };
    await expect(transport.call("batch.run", batch, caller)).rejects.toMatchObject(failed);
    await expect(transport.call("batch.run", batch, caller)).rejects.toMatchObject(failed);
    await expect(transport.call("unsubscribers.massCreate", { email_list: {} }, caller)).rejects.toMatchObject(failed);
  });

  it("contain bytes unchanged", async () => {
    const bytes = Buffer.from([0x89, 0, 0xff, 0xc3, 0x28, 10]);
    const { transport } = await setUp((response) => {
      response.writeHead(200, { "content-type": "image/png" });
      response.end(bytes);
    });
    expect(await transport.call("images.get", { image_id: 7 }, {})).toEqual({
      content_type: "image/png",
      bytes,
    });
  });

  it("that are errors are read for binary operations, and an HTML page is not accepted as an image", async () => {
    const refused = {
      status: { message: "Couldn't find Image with id = 7", code: 404, error_type: "Exceptions::RecordNotFound" },
    };
    const { transport } = await setUp((response, at) => {
      if (at === 0) sendJson(response, 404, refused);
      else response.writeHead(200, { "content-type": "text/html" }).end("<p>Sign in");
    });
    const get = () => transport.call("images.get", { image_id: 7 }, {});
    await expect(get()).rejects.toMatchObject({ kind: "recordNotFound", message: "Couldn't find Image with id = 7" });
    await expect(get()).rejects.toMatchObject({ kind: "unexpectedAnswer" });
  });
});

describe("a service that cannot be reached", () => {
  it("is retried for any call, because nothing was sent", async () => {
    const { server, upload, waits, events } = await setUp(() => {});
    await server.close();
    await expect(upload()).rejects.toMatchObject({
      kind: "unavailable",
      message: `${server.url}: connection refused`,
      outcomeUnknown: false,
    });
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000]);
    expect(events[1]).toEqual({
      type: "wait",
      reason: "retry",
      mayBeDone: false,
      ms: 250,
      message: expect.stringContaining("0.3 s") as string,
    });
  });

  it("is reported if it does not support TLS", async () => {
    const { server } = await setUp(() => {});
    const baseUrl = server.url.replace("http:", "https:");
    const transport = createHttpTransport({ baseUrl, ratePerSecond: 0, clock: Date.now });
    opened.push(transport);
    await expect(transport.call("coupons.list", {}, caller)).rejects.toMatchObject({
      kind: "unexpectedAnswer",
      message: expect.stringContaining(baseUrl) as string,
    });
  });
});

const hangUp: Responder = (response) => response.destroy();
const halfBody: Responder = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"status":{"code":200');
  setTimeout(() => response.destroy(), 20);
};
const halfJson: Responder = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end('{"status":{"code":200');
};
const internal: Responder = (response) =>
  sendJson(response, 500, {
    status: { message: "internal error", code: 500, error_type: "Exceptions::InternalError" },
  });
const badGateway: Responder = (response) => {
  response.writeHead(502, { "content-type": "text/html" });
  response.end("<html><h1>Bad Gateway</h1></html>");
};

describe.each([
  ["a reset before any answer", hangUp, "unavailable"],
  ["half a body", halfBody, "unavailable"],
  ["half a JSON text", halfJson, "unavailable"],
  ["an internal error", internal, "internal"],
  ["a gateway's error page", badGateway, "unavailable"],
] as const)("after %s, when the call may have been processed", (_title, fail, kind) => {
  it("a read and a repeatable call are retried", async () => {
    const reading = await setUp(failing(2, fail));
    expect(await reading.list()).toEqual({ coupons: [{ code: "A1" }] });
    expect(reading.server.received).toHaveLength(3);
    const writing = await setUp(failing(1, fail));
    await writing.products();
    expect(writing.server.received).toHaveLength(2);
  });

  it("a call with other effects is never retried", async () => {
    const { server, upload, waits } = await setUp(failing(1, fail));
    await expect(upload()).rejects.toMatchObject({ kind, outcomeUnknown: true });
    expect(server.received).toHaveLength(1);
    expect(waits).toEqual([]);
  });
});

describe("a slow service", () => {
  const silent: Responder = () => {};

  it("times out with an unknown outcome", async () => {
    const { server, upload } = await setUp(silent, { requestTimeoutMs: 500 });
    await expect(upload()).rejects.toMatchObject({
      kind: "timeout",
      message: expect.stringContaining(server.url) as string,
      outcomeUnknown: true,
    });
    expect(server.received).toHaveLength(1);
  });

  it("is called up to six times if the call can be repeated", async () => {
    const { server, list } = await setUp(silent, { requestTimeoutMs: 250 });
    await expect(list()).rejects.toMatchObject({ kind: "timeout" });
    expect(server.received).toHaveLength(6);
  });

  it("can be aborted", async () => {
    const { transport } = await setUp(silent);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("interrupted")), 30);
    const call = transport.call("coupons.list", {}, caller, { signal: stop.signal });
    await expect(call).rejects.toThrow("interrupted");
  });

  it("can be aborted while waiting for a retry", async () => {
    const stop = new AbortController();
    const { server } = await setUp((response) =>
      sendJson(response, 429, { errors: [{ message: "Too Many Requests" }] }, { "retry-after": "60" }),
    );
    const transport = createHttpTransport({ baseUrl: server.url, ratePerSecond: 0, clock: Date.now });
    opened.push(transport);
    const onEvent = ({ type }: CallEvent) => {
      if (type === "wait") setImmediate(() => stop.abort(new Error("interrupted")));
    };
    const startedAtMs = Date.now();
    const call = transport.call("coupons.list", {}, caller, { signal: stop.signal, onEvent });
    await expect(call).rejects.toThrow("interrupted");
    expect(Date.now() - startedAtMs).toBeLessThan(30_000);
  });
});

describe("an overloaded service", () => {
  const refuse =
    (headers: Readonly<Record<string, string>>): Responder =>
    (response) =>
      sendJson(response, 429, { errors: [{ message: "Too Many Requests" }] }, headers);

  it("is retried after a 429 when its window ends, for any call", async () => {
    const startedAtMs = Date.now();
    const reset = Math.floor(startedAtMs / 1_000) + 30;
    const { server, upload, waits, events } = await setUp(
      failing(1, refuse({ "RateLimit-Remaining": "0", "RateLimit-Reset": `${reset}` })),
    );
    expect(await upload()).toEqual(uploaded.response);
    expect(server.received).toHaveLength(2);
    // Half of the jitter is added to the rest of the window.
    expect(waits[0]).toBeGreaterThanOrEqual(reset * 1_000 - Date.now() + 125);
    expect(waits[0]).toBeLessThanOrEqual(reset * 1_000 - startedAtMs + 125);
    expect(events.map(({ type }) => type)).toEqual(["attempt", "limit", "wait", "attempt"]);
  });

  it("is retried after one second if a 429 has no time", async () => {
    const { upload, waits, events } = await setUp(failing(1, refuse({})));
    await upload();
    expect(waits).toEqual([1_125]);
    expect(events[1]).toMatchObject({ message: "the service is throttling calls (429); retrying in 1.1 s" });
  });

  it("is retried after the Retry-After of a 503, which also means that the call was not processed", async () => {
    const { server, upload, waits } = await setUp(
      failing(1, (response) => {
        response.writeHead(503, { "retry-after": "7", "content-type": "text/html" });
        response.end("<h1>maintenance</h1>");
      }),
    );
    await upload();
    expect(waits).toEqual([7_000]);
    expect(server.received).toHaveLength(2);
  });

  it("is not retried forever", async () => {
    const { server, list, waits } = await setUp(refuse({ "retry-after": "300" }));
    await expect(list()).rejects.toMatchObject({ kind: "tooManyRequests" });
    expect(waits.filter((ms) => ms > 299_000)).toHaveLength(1);
    expect(server.received).toHaveLength(2);
  });

  it.each(["301", "99999999", "9".repeat(400), "Fri, 31 Dec 9999 23:59:59 GMT"])(
    "is not waited for if it asks for %s, neither by later calls",
    async (asked) => {
      const busy = refuse({ "retry-after": asked });
      const { server, list, waits } = await setUp((response, ...request) =>
        request[0] === 0 ? busy(response, ...request) : sendJson(response, 200, listed),
      );
      const hint = expect.stringMatching(
        /^the service asks to be called again at 2\d{3}-.*Z; starpost waits at most 5 min/,
      );
      await expect(list()).rejects.toMatchObject({ kind: "tooManyRequests", hint });
      expect(server.received).toHaveLength(1);
      await list();
      expect(Math.max(0, ...waits)).toBeLessThan(2_000);
    },
  );

  it("gets no other calls either until the Retry-After of a 429 has passed", async () => {
    const busy = refuse({ "retry-after": "30" });
    const answer: Responder = (response, ...request) =>
      request[0] === 0 ? busy(response, ...request) : sendJson(response, 200, listed);
    const { list, waits } = await setUp(answer, { maxRetryMs: 0 });
    await expect(list()).rejects.toMatchObject({ kind: "tooManyRequests" });
    await list();
    expect(waits).toEqual([expect.toSatisfy((ms: number) => ms > 20_000 && ms <= 30_000)]);
  });

  it("gets no more calls in an exhausted window", async () => {
    const startedAtMs = Date.now();
    const reset = Math.floor(startedAtMs / 1_000) + 30;
    const { list, waits } = await setUp((response) =>
      sendJson(response, 200, listed, { "ratelimit-remaining": "0", "ratelimit-reset": `${reset}` }),
    );
    await list();
    expect(waits).toEqual([]);
    await list();
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(reset * 1_000 - Date.now());
    expect(waits[0]).toBeLessThanOrEqual(reset * 1_000 - startedAtMs);
  });
});

describe("error responses", () => {
  const cases = [
    [500, { status: { message: "bad", code: 500, error_type: "Exceptions::InvalidParams" } }, "invalidParams"],
    [404, { status: { message: "no", code: 404, error_type: "Exceptions::RecordNotFound" } }, "recordNotFound"],
    [200, { status: { message: "no", code: 404, error_type: "Exceptions::RecordNotFound" } }, "recordNotFound"],
    [401, { status: { message: "off", code: 401, error_type: "Exceptions::FeatureDisabled" } }, "featureDisabled"],
    [401, { status: { message: "who", code: 401, error_type: "Exceptions::Other" } }, "unauthorized"],
    [401, { error: "invalid_client" }, "invalidClient"],
    [400, { error: "unsupported_grant_type" }, "unsupportedGrant"],
    [401, { errors: [{ message: "who" }] }, "unauthorized"],
    [400, { errors: [{ message: "bad" }] }, "invalidParams"],
    [507, { status: { message: "full", code: 507, error_type: "Exceptions::StorageFailed" } }, "storageFailed"],
    [404, { message: "no route" }, "unexpectedAnswer"],
  ] as const;
  it.each(cases)("%i %j is read as %s and not retried", async (status, body, kind) => {
    const { server, list } = await setUp((response) => sendJson(response, status, body));
    await expect(list()).rejects.toMatchObject({ kind, outcomeUnknown: false });
    expect(server.received).toHaveLength(1);
  });
});

describe("an extension that the service does not have", () => {
  const unknown = "Exceptions::UnknownPath";
  const missing = [
    [404, { status: { message: "Not Found", code: 404 } }],
    [404, { status: { message: "no endpoint", code: 404, error_type: unknown } }],
    [404, { status: { message: "Record not found", code: 404, error_type: "Exceptions::RecordNotFound" } }],
    [200, { status: { message: "Not Found", code: 404 } }],
    [404, { message: "no route" }],
    [404, "<html>Not Found</html>"],
    [405, ""],
  ] as const;
  it.each(missing)("is reported as such after %i %j", async (status, body) => {
    const { server, transport } = await setUp((response) => {
      if (typeof body !== "string") return sendJson(response, status, body);
      response.writeHead(status, { "content-type": "text/html" }).end(body);
    });
    await expect(transport.call("orders.search", {}, caller)).rejects.toMatchObject({
      kind: "unknownPath",
      temporary: false,
      message: expect.stringContaining("does not support GET /starpost/v1/apps/{app_key}/orders,") as unknown,
    });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    [404, "Couldn't find Order with order_id = 7", "Exceptions::RecordNotFound", "recordNotFound"],
    [404, "Couldn't find Account with app_key = key", "Exceptions::RecordNotFound", "recordNotFound"],
    [401, "off", "Exceptions::FeatureDisabled", "featureDisabled"],
    [500, "Missing email", "Exceptions::InvalidParams", "invalidParams"],
  ] as const)("is not confused with %i %s", async (status, message, error_type, kind) => {
    const { transport } = await setUp((response) =>
      sendJson(response, status, { status: { message, code: status, error_type } }),
    );
    await expect(transport.call("orders.search", {}, caller)).rejects.toMatchObject({ kind, message });
  });
});

describe("responses of other programs", () => {
  it("are described by status, media type, and first characters, without a repeated token", async () => {
    const { server, list } = await setUp((response, _at, request) => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end(`<!doctype html>\n<title>Sign in</title> ${request.url}`);
    });
    const error: unknown = await list().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      kind: "unexpectedAnswer",
      message: expect.stringContaining(
        "<!doctype html> <title>Sign in</title> /apps/key/coupons/unique?utoken=…",
      ) as unknown,
    });
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ["a little white space", " ".repeat(4_091)],
    ["millions of characters that are not shown", "\u{e0001}".repeat(8_000_000)],
  ])("never reveal part of a token after %s", async (_what, before) => {
    const { server, list } = await setUp((response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(before + caller.utoken);
    });
    const error = (await list().catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain(`${server.url} responded with status 200`);
    const { utoken } = caller;
    const parts = Array.from({ length: utoken.length - 3 }, (_, at) => utoken.slice(at, at + 4));
    expect(parts.filter((part) => error.message.includes(part))).toEqual([]);
  });

  it("that redirect are not followed, and the target is reported without the token", async () => {
    const { server, list } = await setUp((response, _at, request) => {
      response.writeHead(301, { location: `https://new.example/api${request.url}` });
      response.end();
    });
    await expect(list()).rejects.toMatchObject({
      kind: "unexpectedAnswer",
      message: `${server.url} redirects (301) to https://new.example/api/apps/key/coupons/unique`,
      hint: "change the address of the service to https://new.example/api",
      outcomeUnknown: false,
    });
    expect(server.received).toHaveLength(1);
  });

  it("are rejected if the JSON has another shape", async () => {
    const { list } = await setUp((response) => sendJson(response, 200, { hello: "world" }));
    await expect(list()).rejects.toMatchObject({
      kind: "unexpectedAnswer",
      message: expect.stringContaining("coupons") as string,
      outcomeUnknown: true,
    });
  });

  it("may contain unknown fields", async () => {
    const { list } = await setUp((response) =>
      sendJson(response, 200, { ...listed, extra: 1, response: { ...listed.response, more: 2 } }),
    );
    expect(await list()).toEqual({ coupons: [{ code: "A1" }] });
  });

  it("are reported if they are not HTTP", async () => {
    const { createServer } = await import("node:net");
    const server = createServer((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"));
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    opened.push({ close: async () => void server.close() });
    const { port } = server.address() as { port: number };
    const baseUrl = `http://127.0.0.1:${port}`;
    const transport = createHttpTransport({ baseUrl, ratePerSecond: 0, clock: Date.now, maxAttempts: 1 });
    opened.push(transport);
    await expect(transport.call("coupons.list", {}, caller)).rejects.toMatchObject({
      kind: "unexpectedAnswer",
      message: expect.stringContaining(baseUrl) as string,
    });
  });
});

describe("a response that is larger than the limit", () => {
  const limit = 1_048_576;
  const zeros = Buffer.alloc(8 * limit);
  const encodings: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ["plain", (response) => void response.writeHead(200, { "content-type": "application/json" }).end(zeros)],
    [
      "gzip",
      (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
        response.end(gzipSync(zeros));
      },
    ],
    [
      "brotli",
      (response) => {
        response.writeHead(500, { "content-type": "application/json", "content-encoding": "br" });
        response.end(brotliCompressSync(zeros));
      },
    ],
    [
      "endless",
      (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const writeMore = () => void (response.destroyed || response.write(zeros, () => setImmediate(writeMore)));
        writeMore();
      },
    ],
  ];

  it.each(encodings)("is not read to its end: %s", async (_name, respond) => {
    const { list, upload, server } = await setUp(respond, { maxResponseBytes: limit });
    const tooLarge = { kind: "unexpectedAnswer", outcomeUnknown: true, message: expect.stringContaining("1 MiB") };
    await expect(list()).rejects.toMatchObject(tooLarge);
    await expect(upload()).rejects.toMatchObject(tooLarge);
    expect(server.received).toHaveLength(2);
  });

  it("does not end the connection for smaller ones", async () => {
    const body = gzipSync(JSON.stringify(listed));
    const { list } = await setUp((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(body);
    });
    expect(await list()).toEqual(listed.response);
  });
});
