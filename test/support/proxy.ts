import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface ProxyOptions {
  /** The required `user:password`. */
  readonly credentials?: string;
  /** Rejects every request with this status. */
  readonly refuses?: number;
}

/** A proxy on loopback that resolves every name to this machine. */
export interface TestProxy {
  readonly url: string;
  /** Requests as received: `CONNECT host:port` or `GET http://host:port/…`. */
  readonly asked: readonly string[];
  /** The accepted ones among them. */
  readonly passed: () => number;
  close(): Promise<void>;
}

/** Starts a proxy that tunnels (`CONNECT`) and forwards requests with absolute URLs. */
export async function startProxy({ credentials, refuses }: ProxyOptions = {}): Promise<TestProxy> {
  const asked: string[] = [];
  let passed = 0;
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
  const checkRequest = ({ method = "", url = "", headers }: IncomingMessage): number => {
    asked.push(`${method} ${url}`);
    if (wanted && headers["proxy-authorization"] !== wanted) return 407;
    if (refuses === undefined) passed += 1;
    return refuses ?? 200;
  };
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const status = checkRequest(incoming);
    if (status !== 200) {
      response.writeHead(status, { "content-type": "text/html" }).end("<h1>the proxy's own page</h1>");
      return;
    }
    const { port, pathname, search } = new URL(incoming.url ?? "");
    const { method, headers } = incoming;
    const target = { host: "127.0.0.1", port, path: pathname + search, method, headers };
    incoming.pipe(
      request(target, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }).on("error", () => response.writeHead(502).end()),
    );
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    const status = checkRequest(incoming);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const onward = connect(Number(incoming.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  const url = await listen(server);
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, asked, passed: () => passed, close };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
