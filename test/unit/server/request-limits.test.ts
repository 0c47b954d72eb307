import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { bodyLimits, ServiceError } from "../../../src/contract/index.ts";
import type { Server, ServerOptions } from "../../../src/server/server.ts";
import { startServing } from "./start-test-server.ts";

const opened: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of opened.splice(0)) await server.close();
});

async function setUp(options: Partial<ServerOptions> = {}) {
  const { url, made } = await startServing(() => ({}), options, opened);
  const post = async (path: string, body: string, type = "application/json") => {
    const response = await fetch(url + path, { method: "POST", body, headers: { "content-type": type } });
    const { status } = (await response.json()) as { status?: { error_type: string; message: string } };
    return { code: response.status, type: status?.error_type, message: status?.message ?? "" };
  };
  /** Sends the start of a request, and returns what the server answers until it closes the connection. */
  const open = async (text: string) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    sockets.push(socket);
    await once(socket, "connect");
    let answered = "";
    socket.on("data", (data: Buffer) => (answered += data.toString())).on("error", () => {});
    const closed = once(socket, "close").then(() => answered);
    socket.write(text);
    const waitForAnswers = (count: number) =>
      expect.poll(() => answered.match(/HTTP\/1\.1 /g)?.length ?? 0, { interval: 5 }).toBe(count);
    return { socket, closed, waitForAnswers };
  };
  return { made, post, open };
}

const bulkPath = "/apps/key/purchases/mass_create";
const headOf = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`;
const json = "content-type: application/json\r\n";

describe("a JSON body", () => {
  it("is limited by the operation", async () => {
    const { made, post } = await setUp();
    const bodyOf = (bytes: number) => `"${"a".repeat(bytes - 2)}"`;
    const codes = async (path: string, bytes: number) => (await post(path, bodyOf(bytes))).code;
    for (const path of ["/users", "/oauth/token", "/v1/widget/reviews"]) {
      expect(await codes(path, bodyLimits.open + 1)).toBe(413);
      expect(await codes(path, bodyLimits.open)).toBe(400);
    }
    expect(await codes("/apps/key/purchases", bodyLimits.regular + 1)).toBe(413);
    expect(await codes("/apps/key/purchases", bodyLimits.regular)).toBe(400);
    expect(await codes(bulkPath, bodyLimits.bulk + 1)).toBe(413);
    expect(await codes(bulkPath, bodyLimits.bulk)).toBe(400);
    expect(await codes("/starpost/v1/images", 7 * 1_024 * 1_024)).toBe(413);
    expect(await codes("/starpost/v1/images", 6.7 * 1_024 * 1_024)).toBe(400);
    expect(made).toEqual([]);
  });

  const names = (count: number) => `{${Array.from({ length: count }, (_, nth) => `"n${nth}":1`).join(",")}}`;
  const paths = [bulkPath, "/starpost/v1/apps/key/mail_events", "/oauth/token"];

  it.each([
    [
      "an integer that would be rounded",
      [400, "MalformedBody"],
      '{"order_id":12345678901234567890}',
      "order_id",
      paths,
    ],
    ["deep nesting", [500, "InvalidParams"], "[".repeat(100), "character 33", paths],
    ["too many values", [500, "InvalidParams"], `[${"1,".repeat(200_000)}1]`, "values", paths.slice(0, 2)],
    ["too many names", [500, "InvalidParams"], names(12_001), "field names", paths],
    ["too many values without a token", [500, "InvalidParams"], `[${"1,".repeat(10_000)}1]`, "values", paths.slice(2)],
    ["too many names without a token", [500, "InvalidParams"], names(1_001), "field names", paths.slice(2)],
  ])("is refused with %s", async (_, [expectedCode, expectedType], body, named, refusing) => {
    const { made, post } = await setUp();
    for (const path of refusing) {
      const { code, type, message } = await post(path, body);
      expect([path, code, type]).toEqual([path, expectedCode, `Exceptions::${expectedType}`]);
      expect(message).toContain(named);
    }
    expect(made).toEqual([]);
  });

  it("may have as many names as the largest call", async () => {
    const { made, post } = await setUp();
    expect((await post(bulkPath, names(12_000))).code).toBe(200);
    expect((await post("/oauth/token", names(1_000))).code).toBe(200);
    expect(made).toHaveLength(2);
  });

  it("that is too complex is counted by an engine, which may answer otherwise", async () => {
    const counted: string[] = [];
    const countRefusal = async (clientAddress: string) => {
      counted.push(clientAddress);
      if (counted.length > 1) throw new ServiceError("tooManyRequests", "Too Many Requests");
    };
    const gate = { checkFailures: async () => {}, charge: async () => {}, countRefusal };
    const { url, made } = await startServing(() => ({}), {}, opened, { gate });
    const post = () =>
      fetch(`${url}/oauth/token`, {
        method: "POST",
        body: "[".repeat(100),
        headers: { "content-type": "application/json" },
      });
    expect([(await post()).status, (await post()).status]).toEqual([500, 429]);
    expect(counted).toEqual(["127.0.0.1", "127.0.0.1"]);
    expect(made).toEqual([]);
  });

  it("is parsed after small ones if it is large", async () => {
    const { made, post } = await setUp();
    const large = `{"large":"${"x".repeat(bodyLimits.bulk - 100)}"}`;
    const larges = Promise.all(Array.from({ length: 5 }, () => post(bulkPath, large)));
    while (made.length === 0) await sleep(1);
    await post("/oauth/token", "{}");
    expect(made.length).toBeLessThan(5);
    expect((await larges).map(({ code }) => code)).toEqual([200, 200, 200, 200, 200]);
    expect(made).toHaveLength(6);
  });
});

describe("an upload", () => {
  const path = "/starpost/v1/images";
  const uploads = { atOnce: 1, waiting: 2, waitMs: 20_000, receiveMs: 10_000 };
  const head = (length: number) => headOf(path, `${json}content-length: ${length}\r\n`);

  it("makes room if its client disconnects, also while an earlier request of it waits", async () => {
    const { made, post, open } = await setUp({ receiving: { uploads: { ...uploads, waitMs: 5_000 } } });
    const first = await open(`${headOf("/oauth/token", `${json}content-length: 10\r\n`)}{`);
    first.socket.destroy();
    const pipelined = headOf(path, `${json}content-length: 2\r\n`);
    const second = await open(`${pipelined}{}${head(10)}{`);
    await expect.poll(() => made).toHaveLength(1);
    second.socket.destroy();
    expect((await post(path, "{}")).code).toBe(200);
  });

  it("waits, without being received, until one before it is answered", async () => {
    const { made, post, open } = await setUp({ receiving: { uploads } });
    const first = await open(`${head(10)}{`);
    const second = post(path, "{}");
    await sleep(50);
    expect(made).toEqual([]);
    first.socket.write(`${" ".repeat(8)}}`);
    expect((await second).code).toBe(200);
    expect(made).toHaveLength(2);
  });

  it("is refused if too many wait, or for too long, or if it is slow while others wait", async () => {
    const { post, open } = await setUp({ receiving: { uploads: { ...uploads, waitMs: 100 } } });
    await open(`${head(10)}{`);
    const waiting = [post(path, "{}"), post(path, "{}")];
    await sleep(20);
    expect((await post(path, "{}")).code).toBe(503);
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual([503, 503]);
    const slow = await setUp({ receiving: { uploads: { ...uploads, receiveMs: 50 } } });
    const { closed } = await slow.open(`${headOf(path, `${json}connection: close\r\ncontent-length: 10\r\n`)}{`);
    expect((await slow.post(path, "{}")).code).toBe(200);
    expect(await closed).toContain(" 503 ");
  });
});

it("does not receive a large body that it refuses", async () => {
  const { open } = await setUp();
  const { socket, closed } = await open(headOf("/oauth/token", `${json}content-length: 900000\r\n`));
  expect(await closed).toMatch(/ 413 [\s\S]*connection: close/);
  expect(socket.destroyed).toBe(true);
});

it("limits forms", async () => {
  const { post, made } = await setUp();
  const send = (form: string) => post("/oauth/token", form, "application/x-www-form-urlencoded");
  expect((await send(`a=${"%41".repeat(30_000)}`)).code).toBe(413);
  const fields = Array.from({ length: 1_000 }, (_, nth) => `f${nth}=%C3%A9`).join("&");
  expect((await send(fields)).code).toBe(200);
  expect(made).toMatchObject([{ input: { f0: "é", f999: "é" } }]);
  expect(await send(`${fields}&a`)).toMatchObject({ code: 500, type: "Exceptions::InvalidParams" });
  for (const malformed of ["a=%C3", "a=%ED%A0%80", "a=%FF"]) expect((await send(malformed)).code).toBe(400);
  expect((await send("a=%zz%&b=+%41")).code).toBe(200);
  expect(made[1]).toMatchObject({ input: { a: "%zz%", b: " A" } });
});

it("limits the fields of a query", async () => {
  const { post } = await setUp();
  const fields = "a=1&".repeat(999);
  expect((await post(`${bulkPath}?${fields}b`, "{}")).code).toBe(200);
  expect(await post(`${bulkPath}?${fields}b&c`, "{}")).toMatchObject({
    code: 500,
    type: "Exceptions::InvalidParams",
    message: "the query has more than 1000 fields",
  });
});

describe("a body that stalls", () => {
  it("is refused when nothing arrives", async () => {
    const { open } = await setUp({ receiving: { idleMs: 100 } });
    const { closed } = await open(headOf(bulkPath, `${json}content-length: 10\r\n`));
    expect(await closed).toMatch(/^HTTP\/1.1 408 /);
  });

  it("makes room for others", async () => {
    const { made, post, open } = await setUp({ receiving: { bufferedBytes: 100_000 } });
    const stalled = [];
    for (let n = 0; n < 3; n += 1) {
      stalled.push(await open(`${headOf(bulkPath, `${json}content-length: 99999\r\n`)}${" ".repeat(40_000)}`));
    }
    expect(await stalled[0]?.closed).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 1\r\n/);
    expect((await post(bulkPath, `{"a":"${"b".repeat(50_000)}"}`)).code).toBe(200);
    expect(made).toHaveLength(1);
  });
});

it("refuses a body of many small chunks", async () => {
  const { made, post, open } = await setUp();
  const head = headOf(bulkPath, `${json}transfer-encoding: chunked\r\n`);
  const { closed } = await open(head + "1\r\n \r\n".repeat(5_000));
  expect(await closed).toMatch(/^HTTP\/1.1 400 [^]*small chunks[^]*MalformedBody/);
  const { socket } = await open(`${head}${"1\r\n \r\n".repeat(50)}2\r\n{}\r\n0\r\n\r\n`);
  await once(socket, "data");
  expect((await post(bulkPath, "{}")).code).toBe(200);
  expect(made).toHaveLength(2);
});

describe("a repeated header", () => {
  const length = "content-length: 2\r\n";
  it.each([
    ["Host", `host: y\r\n${json}${length}`],
    ["the same Host", `host: x\r\n${json}${length}`],
    ["Content-Type", `${json}${json}${length}`],
    ["Content-Length", `${json}${length}content-length: 3\r\n`],
    ["the same Content-Length", `${json}${length}${length}`],
    ["Content-Length and Transfer-Encoding", `${json}${length}transfer-encoding: chunked\r\n`],
    ["X-Service-Token", `${json}${length}x-service-token: a\r\nX-Service-Token: b\r\n`],
    ["Idempotency-Key", `${json}${length}idempotency-key: a\r\nidempotency-key: a\r\n`],
  ])("is refused: %s", async (_, headers) => {
    const { made, open } = await setUp();
    const { closed } = await open(`${headOf(bulkPath, `connection: close\r\n${headers}`)}{}`);
    expect(await closed).toMatch(/^HTTP\/1.1 400 [^]*"code":400/);
    expect(made).toEqual([]);
  });

  it("is accepted if it is a list", async () => {
    const { made, open } = await setUp();
    const { closed } = await open(
      `${headOf(bulkPath, `connection: close\r\naccept: a/b\r\naccept: c/d\r\n${json}${length}`)}{}`,
    );
    expect(await closed).toMatch(/^HTTP\/1.1 200 /);
    expect(made).toHaveLength(1);
  });
});

describe("connections beyond the limit", () => {
  const get = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

  it("replace the one that has waited the longest for a complete request", async () => {
    const { open } = await setUp({ receiving: { connections: 3 } });
    const keptAlive = await open(get);
    await keptAlive.waitForAnswers(1);
    const halfOpen = await open("GET / HTTP/1.1\r\n");
    const withoutBody = await open(headOf(bulkPath, `${json}content-length: 10\r\n`));
    await sleep(100);
    keptAlive.socket.write(get);
    await keptAlive.waitForAnswers(2);
    for (const closed of [halfOpen, withoutBody, keptAlive]) {
      const added = await open(get);
      expect(await closed.closed).not.toContain("408");
      await added.waitForAnswers(1);
    }
  });

  it("are closed if all others wait for responses", async () => {
    const { url } = await startServing(() => new Promise(() => {}), { receiving: { connections: 2 } }, opened);
    const { hostname, port } = new URL(url);
    const openOne = async () => {
      const socket = connect(Number(port), hostname).on("error", () => {});
      sockets.push(socket);
      await once(socket, "connect");
      socket.write("GET /users/1 HTTP/1.1\r\nhost: x\r\n\r\n");
      return socket;
    };
    const [one, other] = [await openOne(), await openOne()];
    await sleep(100);
    await once(await openOne(), "close");
    expect([one.destroyed, other.destroyed]).toEqual([false, false]);
    one.destroy();
    other.destroy();
  });

  it("of one client are closed, but not those of a trusted proxy", async () => {
    const receiving = { connectionsPerClient: 2 };
    const { open } = await setUp({ receiving });
    const [first] = [await open(""), await open("")];
    expect(await (await open("")).closed).toBe("");
    first.socket.destroy();
    await sleep(50);
    await (await open(get)).waitForAnswers(1);
    for (const trustedProxies of [["127.0.0.1"], ["10.0.0.0/8", "127.0.0.0/8"]]) {
      const proxied = await setUp({ receiving, trustedProxies });
      for (let nth = 0; nth < 5; nth += 1) await (await proxied.open(get)).waitForAnswers(1);
    }
  });
});
