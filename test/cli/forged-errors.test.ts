import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Responder, sendJson, startLoopback } from "../support/loopback.ts";
import { makeFolder, makeHomeWithDatabase, run } from "./support.ts";
import { KeptTraces, keptTraces } from "../../src/cli/program/output/trace-format.ts";
import { hideSecrets } from "../../src/service/trace.ts";

const forged = "error: the payment failed";
const breaks = ["\n", "\r\n", "\r", "\u2028", "\u0085", "\v", "\f", " ".repeat(60), `${"x".repeat(38)} `];
const hostile = `no${breaks.map((each) => each + forged).join("")}\n\u202E${forged}\n hint: pay again`;

async function callHostile(argv: readonly string[], respond: Responder, isTerminal: boolean) {
  const server = await startLoopback(respond);
  onTestFinished(() => server.close());
  const env = {
    STARPOST_HOME: makeFolder(),
    STARPOST_BASE_URL: server.url,
    STARPOST_APP_KEY: "key",
    STARPOST_UTOKEN: "a-token-of-the-service",
    NO_COLOR: "1",
  };
  const { status, stdout, stderr } = await run(argv, {
    env,
    ...(isTerminal && { io: { isStdoutTerminal: true, isStderrTerminal: true, columns: 40 } }),
  });
  // Lines as a terminal and as a log show them.
  const labeled = `${stdout}\n${stderr}`
    .split(/[\n\r\u2028\u2029\u0085\v\f]/)
    .filter((line) => /^\W*error:/.test(line));
  return { status, stdout, stderr, labeled: labeled.filter((line) => !line.startsWith(" ")) };
}

const refuse: Responder = (response) => sendJson(response, 400, { status: { code: 400, message: hostile } });
const asText: Responder = (response) => void response.writeHead(200, { "content-type": "text/plain" }).end(hostile);
const asCoupons: Responder = (response) =>
  sendJson(response, 200, { status: { code: 200, message: "OK" }, response: { coupons: [{ code: forged }] } });

test.each<[string, readonly string[], Responder, number]>([
  ["an error message", ["coupons", "list"], refuse, 1],
  ["an error message of a raw call", ["api", "GET", "/v1/apps/key/reviews"], refuse, 1],
  ["an error message with --verbose", ["coupons", "list", "--verbose"], refuse, 1],
  ["a page that is not JSON", ["coupons", "list"], asText, 1],
  ["the first column of a table", ["coupons", "list"], asCoupons, 0],
  ["a raw response", ["api", "GET", "/v1/apps/key/reviews"], asText, 0],
])("a service cannot forge an error of the program in %s", async (_what, argv, respond, errors) => {
  const { labeled, stdout, stderr } = await callHostile(argv, respond, true);
  expect(labeled, stdout + stderr).toHaveLength(errors);
  expect(`${stdout}${stderr}`).toContain("payment");
});

test.each<[string, readonly string[], Responder, number]>([
  ["an error message", ["coupons", "list"], refuse, 1],
  ["an error message with --verbose", ["coupons", "list", "--verbose"], refuse, 1],
  ["the first column of a table", ["coupons", "list"], asCoupons, 0],
])("a service cannot forge an error of the program in a log, in %s", async (_what, argv, respond, errors) => {
  const { labeled, stdout, stderr } = await callHostile(argv, respond, false);
  expect(labeled, stdout + stderr).toHaveLength(errors);
});

const token = "utoken-8d1f";
const secret = "secret-77ab";

/** Starts a service that issues a token and answers everything else with `respond`. */
async function startService(respond: Responder) {
  const server = await startLoopback((response, at, request) => {
    if (request.url === "/oauth/token") return sendJson(response, 200, { access_token: token, token_type: "bearer" });
    return respond(response, at, request);
  });
  onTestFinished(() => server.close());
  const env = {
    STARPOST_HOME: makeFolder(),
    STARPOST_BASE_URL: server.url,
    STARPOST_APP_KEY: "shop",
    STARPOST_SECRET: secret,
  };
  return { server, env };
}

const found = { status: { code: 200, message: "OK" }, response: { purchases: [] } };
const find = ["api", "GET", "/apps/{app_key}/purchases", "--field", "email=ann@mail.example"];

test("--verbose traces each request with status, duration, and request ID, without secrets", async () => {
  const { env } = await startService((response) => {
    response.setHeader("x-request-id", "abc-7");
    sendJson(response, 200, found);
  });
  const { stderr, status } = await run([...find, "--verbose"], { env });
  expect(status).toBe(0);
  expect(stderr).toMatch(/^> POST \/oauth\/token$/m);
  expect(stderr).toMatch(/^> GET \/apps\/shop\/purchases\?.*utoken=\*\*\*/m);
  expect(stderr).toContain("ann%40mail.example");
  expect(stderr).toMatch(/^< 200 GET \/apps\/shop\/purchases \(\d+ ms, \d+ bytes, request abc-7\)$/m);
  expect(stderr).not.toContain(token);
  expect(stderr).not.toContain(secret);
  expect((await run(find, { env })).stderr).not.toContain("/apps/shop");
  expect((await run([...find, "--verbose", "--quiet"], { env })).stderr).toBe("");
});

test("with --json and no terminal, all traces are one JSON document", async () => {
  const { env } = await startService((response) => sendJson(response, 200, found));
  const { stderr, stdout } = await run([...find, "--verbose", "--json"], { env });
  JSON.parse(stdout);
  const document = JSON.parse(stderr) as { trace: unknown[] };
  expect(Object.keys(document)).toEqual(["trace"]);
  expect(document.trace).toContainEqual({
    type: "response",
    method: "GET",
    path: "/apps/shop/purchases",
    status: 200,
    duration_ms: expect.any(Number) as number,
    bytes: JSON.stringify(found).length,
  });
});

test("with --json and no terminal, warnings and traces are lines of JSON", async () => {
  const { env } = await startService((response) =>
    sendJson(response, 200, { code: 200, message: "OK", errors: { teapot: { field: "url", error: "is invalid" } } }),
  );
  const create = ["api", "products.massCreate", "--products", '{"teapot":{"name":"Teapot","url":"x"}}', "--json"];
  const notice = { notice: { message: 'The service rejected 1 item. See "errors".' } };
  const linesOf = async (...flags: string[]) => {
    const { stderr } = await run([...create, ...flags], { env });
    return stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  };
  expect(await linesOf("--verbose")).toEqual([
    notice,
    { trace: expect.arrayContaining([expect.objectContaining({ type: "response" })]) as unknown },
  ]);
  expect(await linesOf()).toEqual([notice]);
  expect((await run([...create, "--verbose", "--quiet"], { env })).stderr).toBe("");
});

test("the requests of doctor are traced", async () => {
  const { env } = await startService((response) => sendJson(response, 200, found));
  const { stderr } = await run(["doctor", "--verbose"], { env });
  expect(stderr).toMatch(/^< 200 GET \/v1\/apps\/shop\/bottom_lines /m);
  expect((await run(["doctor"], { env })).stderr).toBe("");
});

test.each(["json", "ndjson"])(
  "with --format %s, an error contains the traces, so that it is one document",
  async (format) => {
    const { env } = await startService((response) =>
      sendJson(response, 404, { status: { code: 404, message: "Gone" } }),
    );
    const { stderr, status } = await run([...find, "--verbose", "--format", format], { env });
    expect(status).toBe(4);
    const { error, trace } = JSON.parse(stderr) as { error: { kind: unknown; message: unknown }; trace: unknown[] };
    expect(error).toMatchObject({ kind: expect.any(String) as string, message: expect.any(String) as string });
    expect(trace).toContainEqual(expect.objectContaining({ type: "response", status: 404 }));
    const quiet = await run([...find, "--verbose", "--quiet", "--format", format], { env });
    expect(Object.keys(JSON.parse(quiet.stderr) as object)).toEqual(["error"]);
  },
);

test("the latest traces of a long command are kept", () => {
  const kept = new KeptTraces();
  expect(kept.take()).toBeUndefined();
  const add = (count: number) => {
    for (let at = 0; at < count; at++) kept.add({ type: "wait", reason: "pace", ms: at, message: "" });
    const { trace = [], trace_omitted } = kept.take() ?? {};
    return [trace.length, trace.at(0), trace.at(-1), trace_omitted].map(
      (part) => (part as { ms?: number })?.ms ?? part,
    );
  };
  expect(add(1)).toEqual([1, 0, 0, undefined]);
  expect(add(keptTraces)).toEqual([keptTraces, 0, keptTraces - 1, undefined]);
  expect(add(keptTraces + 1)).toEqual([keptTraces, 1, keptTraces, 1]);
  expect(add(2 * keptTraces)).toEqual([keptTraces, keptTraces, 2 * keptTraces - 1, keptTraces]);
  expect(add(3 * keptTraces + 5)).toEqual([keptTraces, 2 * keptTraces + 5, 3 * keptTraces + 4, 2 * keptTraces + 5]);
});

test("--redact hides addresses in traces", async () => {
  const { env } = await startService((response) => sendJson(response, 200, found));
  for (const format of ["table", "json"]) {
    const { stderr } = await run([...find, "--verbose", "--redact", "--format", format], { env });
    expect(stderr).toContain("redacted.invalid");
    expect(stderr).toContain("utoken=***");
    expect(stderr).not.toMatch(/ann(?:%40|@)/);
  }
});

test("retries and waits for the pacer are traced", async () => {
  const { env } = await startService((response, at) => {
    if (at > 3) return sendJson(response, 200, found);
    response.setHeader("retry-after", "0");
    return sendJson(response, 503, {});
  });
  const { stderr } = await run([...find, "--verbose"], { env });
  expect(stderr).toMatch(/^< 503 GET [\s\S]*^\* .*503.*; retrying in [\s\S]*^< 200 GET /m);
  expect(stderr).toMatch(/^\* paced: waited \d+ ms$/m);
});

test("a request without a response is traced as failed", async () => {
  const { env } = await startService((response) => response.destroy());
  const { stderr } = await run(["api", "POST", "/nowhere", "--verbose"], { env });
  expect(stderr).toMatch(/^\* POST \/nowhere failed after \d+ ms: /m);
});

test("calls of the embedded engine are traced by operation", async () => {
  const env = { STARPOST_HOME: await makeHomeWithDatabase() };
  rmSync(join(env.STARPOST_HOME, "tokens"), { recursive: true });
  const { stderr } = await run(["webhooks", "list", "--verbose"], { env });
  expect(stderr).toMatch(/^\* tokens\.create: ok \(\d+ ms\)\n\* webhooks\.list: ok \(\d+ ms\)$/m);
  const refused = await run(["webhooks", "redeliver", "7", "--verbose"], { env });
  expect(refused.stderr).toMatch(/^\* webhookDeliveries\.redeliver: recordNotFound \(/m);
});

test.each([
  ["GET", "/x?utoken=a%20b&count=2", "/x?utoken=***&count=2"],
  [
    "GET",
    "/x?a=1&user.password=p&%75token=s&client_secret=t",
    "/x?a=1&user.password=***&%75token=***&client_secret=***",
  ],
  ["GET", "/x?tokens=3&my.signature=9&signature", "/x?tokens=3&my.signature=***&signature=***"],
  ["GET", "/x?%E0=1", "/x?%E0=1"],
  ["GET", "/starpost/v1/review_requests/abc%20d?utoken=1", "/starpost/v1/review_requests/***?utoken=***"],
  ["POST", "/apps/token/reviews", "/apps/token/reviews"],
])("hides the secrets of %s %s", (method, target, shown) => {
  expect(hideSecrets(method, target)).toBe(shown);
});
