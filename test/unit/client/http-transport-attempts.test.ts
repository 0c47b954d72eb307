import { afterEach, describe, expect, it } from "vitest";
import { createHttpTransport, type HttpTransportOptions } from "../../../src/client/http-transport.ts";
import type { CallOptions } from "../../../src/service/transport.ts";
import { type Loopback, type Responder, sendJson, startLoopback } from "../../support/loopback.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** Starts a service that answers with `respond`, and a client that never sleeps. */
async function setUp(respond: Responder, settings: Partial<HttpTransportOptions> = {}) {
  const server: Loopback = await startLoopback(respond);
  let passedMs = 0;
  const transport = createHttpTransport({
    baseUrl: server.url,
    ratePerSecond: 0,
    clock: () => Date.now() + passedMs,
    sleep: async (ms) => {
      passedMs += ms;
    },
    random: () => 0.5,
    ...settings,
  });
  opened.push(server, transport);
  const send = (options?: CallOptions) =>
    transport.call("products.massCreate", { products: {} }, { appKey: "key", utoken: "t" }, options);
  return { server, send };
}

const tooMany: Responder = (response) =>
  sendJson(response, 429, { errors: [{ message: "Too Many Requests" }] }, { "retry-after": "1" });
const broken: Responder = (response) =>
  sendJson(response, 500, {
    status: { message: "internal error", code: 500, error_type: "Exceptions::InternalError" },
  });
const fine: Responder = (response) => sendJson(response, 200, { code: 200, message: "OK" });

describe("attempts of one call", () => {
  it.each([1, 2, 4])("are limited to maxAttempts: %i", async (maxAttempts) => {
    const { server, send } = await setUp(broken);
    await expect(send({ maxAttempts })).rejects.toMatchObject({ kind: "internal" });
    expect(server.received).toHaveLength(maxAttempts);
  });

  it("do not include those answered with 429", async () => {
    const { server, send } = await setUp((response, at, request) =>
      (at < 10 ? tooMany : at < 15 ? broken : fine)(response, at, request),
    );
    await send();
    expect(server.received).toHaveLength(16);
  });

  it("end after two minutes of 429 responses", async () => {
    const { server, send } = await setUp(tooMany);
    await expect(send()).rejects.toMatchObject({ kind: "tooManyRequests" });
    expect(server.received.length).toBeGreaterThan(50);
    expect(server.received.length).toBeLessThan(130);
  });

  it("are not repeated if the body is too large, even for a proxy's error page", async () => {
    const { server, send } = await setUp((response) => {
      response.writeHead(413, { "content-type": "text/html" });
      response.end("<html>413 Request Entity Too Large</html>");
    });
    await expect(send()).rejects.toMatchObject({ kind: "bodyTooLarge", outcomeUnknown: false });
    expect(server.received).toHaveLength(1);
  });
});

describe("notices", () => {
  it("report each retry, unless the caller handles waits", async () => {
    const messages: string[] = [];
    const onWait = (message: string) => messages.push(message);
    const { server, send } = await setUp(
      (response, at, request) => (at % 3 === 2 ? fine : broken)(response, at, request),
      { onWait },
    );
    await send();
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatch(/; retrying in 0\.3 s$/);
    await send({ onEvent: () => {} });
    expect([messages.length, server.received.length]).toEqual([2, 6]);
  });

  it("report a response that takes long", async () => {
    const messages: string[] = [];
    let answer = () => {};
    const onWait = (message: string) => {
      messages.push(message);
      answer();
    };
    const { server, send } = await setUp(
      (response, at, request) => {
        answer = () => fine(response, at, request);
      },
      { onWait, slowAfterMs: 50 },
    );
    await send();
    expect(messages).toEqual([expect.stringContaining(server.url)]);
  });
});
