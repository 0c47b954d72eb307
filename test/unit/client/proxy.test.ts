import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpTransport, type HttpTransportOptions } from "../../../src/client/http-transport.ts";
import type { Proxy } from "../../../src/client/proxy.ts";
import type { Transport } from "../../../src/service/transport.ts";
import { type Responder, sendJson, startLoopback } from "../../support/loopback.ts";
import { startProxy, type ProxyOptions } from "../../support/proxy.ts";

const caller = { appKey: "key", utoken: "utoken-5f3c" };
const listed = { status: { code: 200, message: "OK" }, response: { coupons: [{ code: "A1" }] } };
const answerAll: Responder = (response) => sendJson(response, 200, listed);

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

function open(options: Pick<HttpTransportOptions, "baseUrl"> & Partial<HttpTransportOptions>): Transport {
  const transport = createHttpTransport({ ratePerSecond: 0, clock: Date.now, maxAttempts: 1, ...options });
  opened.push(transport);
  return transport;
}

/** Starts a proxy, and a service whose name only the proxy can resolve. */
async function setUp(given: ProxyOptions = {}, respond: Responder = answerAll) {
  const service = await startLoopback(respond);
  const proxy = await startProxy(given);
  opened.push(service, proxy);
  const port = new URL(service.url).port;
  const through: Proxy = { address: proxy.url, variable: "HTTP_PROXY" };
  return { service, proxy, through, port, baseUrl: `http://service.example:${port}` };
}

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString("base64")}`;

describe("a service without TLS", () => {
  it("is requested with absolute URLs over persistent connections", async () => {
    const { service, proxy, through, baseUrl } = await setUp();
    const transport = open({ baseUrl, proxy: through });
    for (let n = 0; n < 3; n++) {
      expect(await transport.call("coupons.list", {}, caller)).toEqual({ coupons: [{ code: "A1" }] });
    }
    expect(proxy.asked).toEqual(Array(3).fill(`GET ${baseUrl}/apps/key/coupons/unique?utoken=utoken-5f3c`));
    expect(service.received[0]).toMatchObject({ url: "/apps/key/coupons/unique?utoken=utoken-5f3c" });
  });

  it("gets the complete body of a call that is made once", async () => {
    const { service, through, baseUrl } = await setUp();
    const codes = Array.from({ length: 2_000 }, (_, n) => `CODE-${n}`);
    const transport = open({ baseUrl, proxy: through });
    await transport.call("coupons.upload", { coupon_action: "map_review", codes }, caller).catch(() => {});
    expect(service.received).toHaveLength(1);
    expect(JSON.parse(service.received[0]?.body ?? "")).toMatchObject({ codes });
  });

  it("is requested with the proxy's credentials, which are not forwarded", async () => {
    const { service, proxy, through, baseUrl } = await setUp({ credentials: "me:p#w" });
    const transport = open({ baseUrl, proxy: { ...through, authorization: basic("me:p#w") } });
    await transport.call("coupons.list", {}, caller);
    expect(proxy.passed()).toBe(1);
    expect(service.received).toHaveLength(1);
  });

  it("is not requested if the proxy rejects the credentials, and the error names the proxy", async () => {
    const { service, through, baseUrl } = await setUp({ credentials: "me:p#w" });
    const call = open({ baseUrl, proxy: through }).call("coupons.list", {}, caller);
    await expect(call).rejects.toMatchObject({
      kind: "unexpectedAnswer",
      message: expect.stringMatching(new RegExp(`the proxy ${through.address} .*407`)) as string,
      hint: expect.stringContaining("HTTP_PROXY") as string,
    });
    const wrong = { ...through, authorization: basic("me:wrong") };
    await expect(open({ baseUrl, proxy: wrong }).call("coupons.list", {}, caller)).rejects.toThrow(/\b407\b/);
    expect(service.received).toHaveLength(0);
  });

  it("is named together with the proxy if either could have answered", async () => {
    const { through, baseUrl } = await setUp({ refuses: 502 });
    const call = open({ baseUrl, proxy: through }).call("coupons.list", {}, caller);
    await expect(call).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringMatching(new RegExp(`${baseUrl}, or the proxy ${through.address}, .*502`)) as string,
    });
  });
});

describe("a tunneling proxy", () => {
  it.each([
    [407, "unexpectedAnswer", "407"],
    [403, "unexpectedAnswer", "https://service.example:"],
    [502, "unavailable", "https://service.example:"],
    [503, "unavailable", "503"],
  ])("that answers %i is named, and nothing was sent", async (refuses, kind, message) => {
    const { proxy, through, port } = await setUp({ refuses });
    const baseUrl = `https://service.example:${port}`;
    const call = open({ baseUrl, proxy: through }).call("products.massCreate", { products: {} }, caller);
    await expect(call).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(message) as string,
      outcomeUnknown: false,
    });
    expect(proxy.asked).toEqual([`CONNECT service.example:${port}`]);
  });

  it.each(["http", "https"])("that does not run is named, for %s", async (scheme) => {
    const proxy = await startProxy();
    await proxy.close();
    const through = { address: proxy.url, variable: "HTTPS_PROXY" };
    const transport = open({ baseUrl: `${scheme}://service.example`, proxy: through });
    await expect(transport.call("coupons.list", {}, caller)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining(`the proxy ${proxy.url}: `) as string,
      hint: expect.stringContaining("NO_PROXY") as string,
      outcomeUnknown: false,
    });
  });

  it("that does not answer times out", async () => {
    const held: Socket[] = [];
    const server = createServer((socket) => held.push(socket.resume()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // Ends when every connection is closed by either side.
    opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
    const { port } = server.address() as AddressInfo;
    const proxy = { variable: "HTTPS_PROXY", address: `http://127.0.0.1:${port}` };
    const transport = open({ baseUrl: "https://service.example", proxy, connectTimeoutMs: 300 });
    await expect(transport.call("coupons.list", {}, caller)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining(`the proxy ${proxy.address}: `) as string,
      outcomeUnknown: false,
    });
    expect(held).toHaveLength(1);
  });
});
