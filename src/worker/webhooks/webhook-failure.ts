/** The fields of HTTP client errors that are used here. */
interface ClientError {
  readonly code?: string;
  readonly message?: string;
}

const descriptions: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed before a response was received",
  EPIPE: "connection closed before a response was received",
  ENOTFOUND: "host not found",
  EAI_AGAIN: "DNS lookup failed",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  EPROTO: "the receiver does not support TLS on this port",
  HPE_HEADER_OVERFLOW: "the response headers are too long",
};

/** Describes why a request got no response. */
export function describeFailure(error: unknown, timeoutMs: number): string {
  const { code = "", message = "" } = error as ClientError;
  const description = descriptions[code];
  if (description !== undefined) return description;
  if (code === "ERR_ADDRESS_REFUSED") return message;
  if (code === "ETIMEDOUT") return `no response within ${timeoutMs / 1_000} s`;
  if (code.startsWith("HPE_")) return "the response is not valid HTTP";
  if (code.startsWith("ERR_SSL_")) return "the receiver does not support TLS on this port";
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `the TLS certificate is not trusted (${code})`;
  return code === "" ? message : `connection failed (${code})`;
}
