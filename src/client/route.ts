import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** The steps to a connection, in their order. */
export type RouteStep = "lookup" | "connect" | "secure";

/** How far it came, and how long each step took. */
export interface Route {
  /** The addresses that the name stands for. */
  readonly addresses: readonly string[];
  /** Milliseconds by step, as far as they were taken. */
  readonly tookMs: Readonly<Partial<Record<RouteStep, number>>>;
  /** When the certificate runs out, milliseconds since the epoch; nothing without TLS. */
  readonly certificateEndsMs?: number | undefined;
  /** The step that failed, and of what. */
  readonly failure?: { readonly step: RouteStep; readonly error: unknown } | undefined;
}

/**
 * Goes the way to a host step by step: its address, a connection, and TLS where it is wanted.
 * @param url the service's address, or its proxy's
 * @param signal ends a step that takes too long
 */
export async function tryRoute(
  url: URL,
  { clock, signal }: { readonly clock: () => number; readonly signal: AbortSignal },
): Promise<Route> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const tookMs: Partial<Record<RouteStep, number>> = {};
  let addresses: string[] = [];
  let certificateEndsMs: number | undefined;
  let step: RouteStep = "lookup";
  let socket: Socket | undefined;
  const take = async <T>(name: RouteStep, work: () => Promise<T>): Promise<T> => {
    step = name;
    const beganMs = clock();
    const result = await endedBy(signal, work());
    tookMs[name] = clock() - beganMs;
    return result;
  };
  try {
    addresses = isIP(host)
      ? [host]
      : (await take("lookup", () => lookup(host, { all: true }))).map(({ address }) => address);
    socket = await take("connect", () => openSocket(host, port, signal));
    const plain = socket;
    if (isSecure) certificateEndsMs = await take("secure", () => secure(plain, host));
    return { addresses, tookMs, certificateEndsMs };
  } catch (error) {
    return { addresses, tookMs, failure: { step, error } };
  } finally {
    socket?.destroy();
  }
}

/** A step that cannot be broken off is left alone. */
function endedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () =>
      reject(Object.assign(new Error("no answer in the time allowed"), { code: "ETIMEDOUT" }));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

function openSocket(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once("connect", () => resolve(socket)).once("error", reject);
  });
}

/** @returns when the certificate runs out */
function secure(socket: Socket, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const secured = connectTls({ socket, ...(isIP(host) === 0 && { servername: host }), host });
    secured
      .once("secureConnect", () => resolve(Date.parse(secured.getPeerCertificate().valid_to)))
      .once("error", reject);
  });
}
