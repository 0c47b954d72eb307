import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";

/** A request received by a loopback server. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Loopback {
  readonly url: string;
  readonly received: readonly ReceivedRequest[];
  close(): Promise<void>;
}

/** Answers a request; `at` counts the earlier requests. */
export type Responder = (response: ServerResponse, at: number, request: IncomingMessage) => void;

/** Starts a server that answers with `respond` and records its requests. */
export async function startLoopback(respond: Responder): Promise<Loopback> {
  const received: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const { method = "", url = "", headers } = request;
      received.push({ method, url, headers, body });
      respond(response, received.length - 1, request);
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Sends a JSON response. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

export async function findFreePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
