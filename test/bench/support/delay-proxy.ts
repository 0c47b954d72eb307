import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type DelayedServer, openDelayedPort } from "../../support/delayed-port.ts";

/** A TCP proxy on loopback that delays each direction, as a network between two machines does. */
export interface DelayProxy {
  /** The URL of the server, through the proxy. */
  readonly url: string;
  close(): Promise<unknown>;
}

/**
 * Starts a proxy in its own thread. It delays each chunk by itself, so it adds latency without limiting the bandwidth.
 * @param url of a TCP server
 */
export async function startDelayProxy(url: string, delayMs: number): Promise<DelayProxy> {
  const { hostname: host, port } = new URL(url);
  const target: DelayedServer = { host, port: Number(port || 5432), delayMs };
  const thread = new Worker(new URL(import.meta.url), { workerData: target });
  const ownPort = await new Promise<number>((listening, failed) =>
    thread.once("message", listening).once("error", failed),
  );
  return { url: Object.assign(new URL(url), { host: `127.0.0.1:${ownPort}` }).href, close: () => thread.terminate() };
}

if (!isMainThread) void openDelayedPort(workerData as DelayedServer).then(({ port }) => parentPort?.postMessage(port));
