import { ServiceError } from "../contract/index.ts";
import { asProxyFailure, type Proxy } from "./proxy.ts";

/** An error of the HTTP client, as far as it is read. */
interface ClientFailure {
  readonly code?: string;
  readonly message?: string;
  /** Of a timeout: the phase that took too long. */
  readonly event?: string;
  /** What it was made from. */
  readonly cause?: unknown;
}

/** Nothing was sent: there was no connection to send it over. */
const neverConnected: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing answers there (connection refused)",
  ENOTFOUND: "its host is not known",
  EAI_AGAIN: "its host could not be looked up",
  EHOSTUNREACH: "its host cannot be reached",
  EHOSTDOWN: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  ENETDOWN: "the network is down",
  EADDRNOTAVAIL: "there is no free local port to connect from",
};

/** Whether what failed was the connection: to a proxy that forwards, nothing was sent. */
function isBeforeRequest(code: string, event: string): boolean {
  return (
    neverConnected[code] !== undefined ||
    isDistrust(code) ||
    (code === "ETIMEDOUT" && connectPhases.has(event))
  );
}

/** Why there was no connection, in words. */
export function describeUnconnected(error: unknown): string {
  const { code = "" } = error as ClientFailure;
  if (code === "ETIMEDOUT") return "no connection in the time allowed";
  if (isDistrust(code)) return `its certificate is not trusted (${code})`;
  return neverConnected[code] ?? `the connection broke off${code === "" ? "" : ` (${code})`}`;
}

function isDistrust(code: string): boolean {
  return /CERT|SIGNATURE|ALTNAME/.test(code);
}

const connectPhases: ReadonlySet<string> = new Set(["lookup", "connect", "secureConnect"]);

/**
 * Tells what a request that got no whole answer means.
 * `outcomeUnknown` is false only where the request is known not to have left.
 * @param forwarder what the connection was made to in the service's place
 */
export function asServiceError(error: unknown, service: string, forwarder?: Proxy): unknown {
  const { code = "", event = "", message = "", cause } = error as ClientFailure;
  // A connection that could not be made through a proxy has said so itself.
  if (cause instanceof ServiceError) return cause;
  const unconnected = neverConnected[code];
  if (forwarder && isBeforeRequest(code, event))
    return asProxyFailure(forwarder, describeUnconnected(error), error);
  if (unconnected) {
    const hint =
      "See that the service runs and that its address is right (starpost doctor), or try again in a while.";
    return new ServiceError("unavailable", `${service}: ${unconnected}`, { hint, cause: error });
  }
  if (code === "ETIMEDOUT") return asTimeout(error, event, service);
  if (isDistrust(code)) return asDistrust(error, code, service);
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) {
    return new ServiceError("unexpectedAnswer", `${service}: does not speak TLS`, {
      hint: "see whether the address starts with http:// rather than https://",
      cause: error,
    });
  }
  if (code.startsWith("HPE_")) {
    return new ServiceError("unexpectedAnswer", `${service}: what answers there does not speak HTTP`, {
      outcomeUnknown: true,
      cause: error,
    });
  }
  if (code === "") return error;
  return new ServiceError("unavailable", `${service}: the connection broke off (${code}${wordOf(message)})`, {
    outcomeUnknown: true,
    cause: error,
  });
}

function asDistrust(error: unknown, code: string, service: string): ServiceError {
  const hints: Readonly<Record<string, string>> = {
    CERT_HAS_EXPIRED: "it has run out: the service needs a new one, or this machine's clock is wrong",
    CERT_NOT_YET_VALID: "it is not valid yet: see that this machine's clock is right",
    ERR_TLS_CERT_ALTNAME_INVALID: "it is for another host: see that the address is right",
  };
  const hint =
    hints[code] ??
    "name the file of the authority that issued it (PEM) in NODE_EXTRA_CA_CERTS, before the start; without one of your own, see that the address is right";
  return new ServiceError("unexpectedAnswer", `${service}: its certificate is not trusted (${code})`, {
    hint,
    cause: error,
  });
}

function asTimeout(error: unknown, event: string, service: string): ServiceError {
  if (event === "" || connectPhases.has(event)) {
    return new ServiceError("unavailable", `${service}: no connection in the time allowed`, { cause: error });
  }
  return new ServiceError("timeout", `${service}: no answer in the time allowed`, {
    outcomeUnknown: true,
    cause: error,
  });
}

function wordOf(message: string): string {
  return message.includes("hang up") ? ", the service hung up" : "";
}
