import { ServiceError } from "../contract/index.ts";

/** An error of the HTTP client, as far as it is read. */
interface ClientFailure {
  readonly code?: string;
  readonly message?: string;
  /** Of a timeout: the phase that took too long. */
  readonly event?: string;
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

const connectPhases: ReadonlySet<string> = new Set(["lookup", "connect", "secureConnect"]);

/**
 * Tells what a request that got no whole answer means.
 * `outcomeUnknown` is false only where the request is known not to have left.
 */
export function asServiceError(error: unknown, service: string): unknown {
  const { code = "", event = "", message = "" } = error as ClientFailure;
  const unconnected = neverConnected[code];
  if (unconnected) return new ServiceError("unavailable", `${service}: ${unconnected}`, { cause: error });
  if (code === "ETIMEDOUT") return asTimeout(error, event, service);
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) {
    return new ServiceError("unexpectedAnswer", `${service}: its certificate is not trusted (${code})`, {
      hint: "see that the address is right; a certificate authority of your own goes into NODE_EXTRA_CA_CERTS",
      cause: error,
    });
  }
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
