import { ServiceError } from "../contract/index.ts";
import { toProxyFailure, type Proxy } from "./proxy.ts";

/** The relevant fields of an error of the HTTP client. */
interface ClientFailure {
  readonly code?: string;
  /** For timeouts: the phase that took too long. */
  readonly event?: string;
  readonly cause?: unknown;
}

/** Failures to connect: nothing was sent. */
const neverConnected: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "the host name could not be resolved",
  EHOSTUNREACH: "the host cannot be reached",
  EHOSTDOWN: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ENETDOWN: "the network is down",
  EADDRNOTAVAIL: "no free local port",
};

/** Describes why a connection could not be opened. */
export function describeConnectError(error: unknown): string {
  const { code = "" } = error as ClientFailure;
  if (code === "ETIMEDOUT") return "connection timed out";
  if (isCertificateError(code)) return `the certificate is not trusted (${code})`;
  return neverConnected[code] ?? `the connection was closed${code === "" ? "" : ` (${code})`}`;
}

function isCertificateError(code: string): boolean {
  return /CERT|SIGNATURE|ALTNAME/.test(code);
}

const connectPhases: ReadonlySet<string> = new Set(["lookup", "connect", "secureConnect"]);

/**
 * Converts an error of a request that got no complete response.
 * `outcomeUnknown` is false only if the request was certainly not sent.
 * @param forwarder the proxy, if the connection is to a proxy that forwards requests
 */
export function toServiceError(error: unknown, service: string, forwarder?: Proxy): unknown {
  const { code = "", event = "", cause } = error as ClientFailure;
  // Thrown by the tunnel through a proxy.
  if (cause instanceof ServiceError) return cause;
  const reason = neverConnected[code];
  const unknown = { outcomeUnknown: true, cause: error };
  const isLate = code === "ETIMEDOUT" && connectPhases.has(event);
  // Nothing was sent.
  const isBeforeRequest = reason !== undefined || isCertificateError(code) || isLate;
  if (forwarder && isBeforeRequest) return toProxyFailure(forwarder, describeConnectError(error), error);
  if (reason) {
    const hint = "check the address and that the service is running (`starpost doctor`), or try again later";
    return new ServiceError("unavailable", `${service}: ${reason}`, { hint, cause: error });
  }
  if (code === "ETIMEDOUT" && (event === "" || connectPhases.has(event))) {
    return new ServiceError("unavailable", `${service}: connection timed out`, { cause: error });
  }
  if (code === "ETIMEDOUT") return new ServiceError("timeout", `${service}: response timed out`, unknown);
  if (isCertificateError(code)) return toCertificateError(error, code, service);
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) {
    const hint = "the address may need http:// instead of https://";
    return new ServiceError("unexpectedAnswer", `${service}: TLS is not supported`, { hint, cause: error });
  }
  if (code.startsWith("HPE_")) {
    return new ServiceError("unexpectedAnswer", `${service}: the response is not HTTP`, unknown);
  }
  if (code === "") return error;
  return new ServiceError("unavailable", `${service}: the connection was closed (${code})`, unknown);
}

function toCertificateError(error: unknown, code: string, service: string): ServiceError {
  const hints: Readonly<Record<string, string>> = {
    CERT_HAS_EXPIRED: "it has expired: the service must renew it, or this machine's clock is wrong",
    CERT_NOT_YET_VALID: "it is not valid yet: check this machine's clock",
    ERR_TLS_CERT_ALTNAME_INVALID: "it is for another host: check the address",
  };
  const hint =
    hints[code] ??
    "to trust a private certificate authority, set NODE_EXTRA_CA_CERTS to its PEM file; otherwise, check the address";
  return new ServiceError("unexpectedAnswer", `${service}: ${describeConnectError(error)}`, { hint, cause: error });
}
