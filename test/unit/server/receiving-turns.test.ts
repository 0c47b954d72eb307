import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { receiveInTurns } from "../../../src/server/receiving-turns.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server whose clock advances by a millisecond whenever it is read. */
async function listen(server: Server): Promise<number> {
  let nowMs = 0;
  receiveInTurns(server, () => nowMs++);
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Sends everything, and returns what the server answers until it closes the connection. */
async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let answered = "";
  socket.on("data", (data: Buffer) => (answered += data.toString()));
  socket.write(text);
  await once(socket, "close");
  return answered;
}

it("parses chunks of many connections in several turns, and loses none", async () => {
  const chunks = 50_000;
  const connections = 2;
  const perTurn: number[] = [];
  let inTurn = 0;
  const server = createServer((request, response) => {
    let received = 0;
    request.on("data", ({ length }: Buffer) => {
      if (inTurn === 0) setImmediate(() => (perTurn.push(inTurn), (inTurn = 0)));
      inTurn += 1;
      received += length;
    });
    request.on("end", () => response.end(`received ${received}`));
  });
  const port = await listen(server);
  const head = "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
  const answers = await Promise.all(
    Array.from({ length: connections }, () => send(port, `${head}${"1\r\n \r\n".repeat(chunks)}0\r\n\r\n`)),
  );
  for (const answered of answers) expect(answered).toContain(`received ${chunks}`);
  // A turn has time for 9 slices of 8 KiB, with 6 bytes per chunk. The next one starts before this test counts.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2 * ((9 * 8 * 1_024) / 6 + 9));
  expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(connections * chunks);
});

it("answers all requests of a connection in their order", async () => {
  const requests = 1_000;
  const port = await listen(createServer(({ url }, response) => void response.end(`${url};${"x".repeat(500)}`)));
  const texts = Array.from({ length: requests }, (_, n) => `GET /${n} HTTP/1.1\r\nhost: x\r\n`);
  const answered = await send(port, `${texts.join("\r\n")}connection: close\r\n\r\n`);
  const paths = [...answered.matchAll(/\/(\d+);/g)].map(([, n]) => Number(n));
  expect(paths).toEqual(Array.from({ length: requests }, (_, n) => n));
});

it("parses no further requests of a connection while many of them have not been answered", async () => {
  const held: (() => void)[] = [];
  const port = await listen(createServer((_request, response) => void held.push(() => response.end("x"))));
  const text = `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(400)}\r\n`;
  const answered = send(port, `${Array.from({ length: 500 }, () => text).join("\r\n")}connection: close\r\n\r\n`);
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(32);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  // A slice of 8 KiB has 18 requests.
  expect(held.length).toBeLessThanOrEqual(32 + 19);
  const answering = setInterval(() => {
    for (const answer of held.splice(0)) answer();
  });
  const received = await answered;
  clearInterval(answering);
  expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(500);
});
