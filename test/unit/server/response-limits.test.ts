import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Server, ServerOptions } from "../../../src/server/server.ts";
import { type Answerer, startServing } from "./start-test-server.ts";

const opened: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of opened.splice(0)) await server.close();
});

const bytesPerMiB = 1_024 * 1_024;
/** More than the network buffers of a connection hold. */
const large = { reviews: [{ content: "a".repeat(20 * bytesPerMiB) }] };
const listPath = "/v1/apps/key/reviews?utoken=t";

async function setUp(answer: Answerer, options: Partial<ServerOptions> = {}) {
  const { url } = await startServing(answer, options, opened);
  /** Requests a list and does not read the response. Resolves when the server has closed the connection. */
  const requestOnly = async () => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.pause();
    socket.write(`GET ${listPath} HTTP/1.1\r\nhost: x\r\n\r\n`);
    return socket;
  };
  return { url, requestOnly };
}

/** Waits until the server has closed a connection, which a paused socket notices only when it writes. */
async function waitUntilClosed(socket: Socket): Promise<void> {
  const timer = setInterval(() => socket.write("\r\n"), 300);
  await new Promise<void>((closed) => socket.once("close", () => closed()));
  clearInterval(timer);
}

describe("a response that its client does not read", () => {
  it("is dropped when the others need the memory", async () => {
    const { requestOnly } = await setUp(() => large, { sending: { bufferedBytes: 30 * bytesPerMiB } });
    const first = await requestOnly();
    const closed = waitUntilClosed(first);
    await sleep(300);
    expect(first.closed).toBe(false);
    await requestOnly();
    await closed;
  });

  it.each([{ idleMs: 50 }, { responseWithinMs: 200 }])("is dropped in time (%j)", async (sending) => {
    const { requestOnly } = await setUp(() => large, { sending });
    await waitUntilClosed(await requestOnly());
  });
});

describe("a response that is too large", () => {
  const reviews = Array.from({ length: 500 }, () => ({ content: "a".repeat(1_000) }));
  it.each(["", "&count=1000"])("is refused, and says what to do (query %j)", async (query) => {
    const { url } = await setUp(() => ({ reviews }), { sending: { responseBytes: 100_000 } });
    const response = await fetch(url + listPath + query);
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { status: { error_type: "Exceptions::InvalidParams", message: expect.stringContaining("fewer") } },
    ]);
  });
});

describe("a long list", () => {
  it("has the same JSON as a short one", async () => {
    const value = {
      reviews: [{ a: 1, b: undefined, c: [{}, [], null], d: { e: "\u2028é😀" } }, {}],
      empty: [],
      none: undefined,
    };
    const { url } = await setUp(() => value);
    const [short, long] = await Promise.all(["", "&count=1000"].map((query) => fetch(url + listPath + query)));
    expect(long?.headers.get("content-type")).toBe(short?.headers.get("content-type"));
    expect(await long?.text()).toBe(await short?.text());
  });

  it("is read by few calls at the same time", async () => {
    let [running, most] = [0, 0];
    const { url } = await setUp(async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(10);
      running -= 1;
      return { reviews: [] };
    });
    await Promise.all(Array.from({ length: 10 }, () => fetch(`${url}${listPath}&count=1000`)));
    expect(most).toBe(2);
  });
});
