/** An error of the HTTP client, as far as it is read. */
interface ClientFailure {
  readonly code?: string;
  readonly message?: string;
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing answers there (connection refused)",
  ECONNRESET: "the connection was closed before an answer came",
  EPIPE: "the connection was closed before an answer came",
  ENOTFOUND: "its host is not known",
  EAI_AGAIN: "its host could not be looked up",
  EHOSTUNREACH: "its host cannot be reached",
  ENETUNREACH: "its network cannot be reached",
  EPROTO: "it does not speak TLS",
  HPE_HEADER_OVERFLOW: "the headers of the answer are too long",
};

/** Says in words why an attempt came to no answer. */
export function describeFailure(error: unknown, timeLimitMs: number): string {
  const { code = "", message = "" } = error as ClientFailure;
  const known = words[code];
  if (known !== undefined) return known;
  if (code === "ERR_ADDRESS_REFUSED") return message;
  if (code === "ETIMEDOUT") return `no answer within ${timeLimitMs / 1_000} s`;
  if (code.startsWith("HPE_")) return "what answers there does not speak HTTP";
  if (code.startsWith("ERR_SSL_")) return "it does not speak TLS";
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `its certificate is not trusted (${code})`;
  return code === "" ? message : `the connection broke off (${code})`;
}
