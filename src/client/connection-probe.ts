import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** The steps of opening a connection, in order. */
export type ConnectionStep = "lookup" | "connect" | "secure";

/** The result of opening a connection, and how long each step took. */
export interface ConnectionProbe {
  /** The IP addresses of the host. */
  readonly addresses: readonly string[];
  /** The duration of each completed step, in milliseconds. */
  readonly durationsMs: Readonly<Partial<Record<ConnectionStep, number>>>;
  /** When the certificate expires, in milliseconds since the epoch; undefined without TLS. */
  readonly certificateExpiresMs?: number | undefined;
  /** The step that failed, and why. */
  readonly failure?: { readonly step: ConnectionStep; readonly error: unknown } | undefined;
}

/**
 * Opens a connection to a host step by step: name lookup, TCP, and, for `https:`, TLS.
 * @param url the address of the service or its proxy
 * @param signal aborts a step that takes too long
 */
export async function probeConnection(
  url: URL,
  { clock, signal }: { readonly clock: () => number; readonly signal: AbortSignal },
): Promise<ConnectionProbe> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isSecure = url.protocol === "https:";
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const durationsMs: Partial<Record<ConnectionStep, number>> = {};
  let addresses: string[] = [];
  let certificateExpiresMs: number | undefined;
  let step: ConnectionStep = "lookup";
  let socket: Socket | undefined;
  const runStep = async <T>(name: ConnectionStep, work: () => Promise<T>): Promise<T> => {
    step = name;
    const startedMs = clock();
    const result = await abortedBy(signal, work());
    durationsMs[name] = clock() - startedMs;
    return result;
  };
  try {
    addresses = isIP(host)
      ? [host]
      : (await runStep("lookup", () => lookup(host, { all: true }))).map(({ address }) => address);
    socket = await runStep("connect", () => openSocket(host, port, signal));
    const plain = socket;
    if (isSecure) certificateExpiresMs = await runStep("secure", () => startTls(plain, host));
    return { addresses, durationsMs, certificateExpiresMs };
  } catch (error) {
    return { addresses, durationsMs, failure: { step, error } };
  } finally {
    socket?.destroy();
  }
}

/** Rejects if `signal` is aborted. The step itself may continue. */
function abortedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(Object.assign(new Error("timed out"), { code: "ETIMEDOUT" }));
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

/** @returns when the certificate expires, in milliseconds since the epoch */
function startTls(socket: Socket, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const secured = connectTls({ socket, ...(isIP(host) === 0 && { servername: host }), host });
    secured
      .once("secureConnect", () => resolve(Date.parse(secured.getPeerCertificate().valid_to)))
      .once("error", reject);
  });
}
