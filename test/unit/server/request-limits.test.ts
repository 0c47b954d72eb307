import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { bodyLimits } from "../../../src/contract/index.ts";
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
    return { socket, closed };
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
    expect(await codes("/users", bodyLimits.regular + 1)).toBe(413);
    expect(await codes("/users", bodyLimits.regular)).toBe(400);
    expect(await codes(bulkPath, bodyLimits.bulk + 1)).toBe(413);
    expect(await codes(bulkPath, bodyLimits.bulk)).toBe(400);
    expect(await codes("/starpost/v1/images", 7 * 1_024 * 1_024)).toBe(413);
    expect(await codes("/starpost/v1/images", 6.7 * 1_024 * 1_024)).toBe(400);
    expect(made).toEqual([]);
  });

  it.each([
    ["an integer that would be rounded", '{"order_id":12345678901234567890}', "order_id"],
    ["deep nesting", "[".repeat(100), "character 33"],
    ["too many values", `[${"1,".repeat(300_000)}1]`, "values"],
  ])("is malformed with %s", async (_, body, named) => {
    const { made, post } = await setUp();
    for (const path of [bulkPath, "/starpost/v1/apps/key/mail_events", "/oauth/token"]) {
      const { code, type, message } = await post(path, body);
      expect([path, code, type]).toEqual([path, 400, "Exceptions::MalformedBody"]);
      expect(message).toContain(named);
    }
    expect(made).toEqual([]);
  });
});

it("limits forms", async () => {
  const { post } = await setUp();
  const { code } = await post("/oauth/token", `a=${"%41".repeat(30_000)}`, "application/x-www-form-urlencoded");
  expect(code).toBe(413);
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

it("refuses more connections than the limit", async () => {
  const { open } = await setUp({ receiving: { connections: 2 } });
  await open("");
  await open("");
  expect(await (await open("")).closed).toBe("");
});
