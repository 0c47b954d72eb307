import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** A TCP proxy on loopback that delays each direction, as a network between two machines does. */
export interface DelayProxy {
  /** The URL of the server, through the proxy. */
  readonly url: string;
  close(): Promise<unknown>;
}

interface Target {
  readonly host: string;
  readonly port: number;
  readonly delayMs: number;
}

/**
 * Starts a proxy in its own thread. It delays each chunk by itself, so it adds latency without limiting the bandwidth.
 * @param url of a TCP server
 */
export async function startDelayProxy(url: string, delayMs: number): Promise<DelayProxy> {
  const { hostname: host, port } = new URL(url);
  const target: Target = { host, port: Number(port || 5432), delayMs };
  const thread = new Worker(new URL(import.meta.url), { workerData: target });
  const ownPort = await new Promise<number>((listening, failed) =>
    thread.once("message", listening).once("error", failed),
  );
  return {
    url: Object.assign(new URL(url), { host: `127.0.0.1:${ownPort}` }).href,
    close: () => thread.terminate(),
  };
}

function forward(from: Socket, to: Socket, delayMs: number): void {
  from.on("data", (data) => setTimeout(() => to.writable && to.write(data), delayMs));
  from.on("end", () => setTimeout(() => to.end(), delayMs));
  from.on("error", () => to.destroy());
}

function listen({ host, port, delayMs }: Target): void {
  const proxy = createServer({ noDelay: true }, (near) => {
    const far = connect({ host, port, noDelay: true });
    forward(near, far, delayMs);
    forward(far, near, delayMs);
  });
  proxy.listen(0, "127.0.0.1", () => parentPort?.postMessage((proxy.address() as AddressInfo).port));
}

if (!isMainThread) listen(workerData as Target);
