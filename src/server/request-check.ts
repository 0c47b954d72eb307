import type { IncomingMessage } from "node:http";
import { callerNames, idempotencyKeys, ServiceError } from "../contract/index.ts";

/** Headers that may occur only once: proxies and servers may choose different values. Node.js checks Content-Length. */
const singleHeaders: ReadonlySet<string> = new Set([
  "host",
  "content-type",
  "content-encoding",
  "authorization",
  callerNames.tokenHeader,
  idempotencyKeys.header,
]);

/** Checks a request before its body is read. */
export function findRequestFault({ headers, rawHeaders, httpVersion }: IncomingMessage): ServiceError | undefined {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    return new ServiceError("unsupportedMediaType", "send the body as it is, without Content-Encoding");
  }
  if (headers.host === undefined && httpVersion === "1.1") {
    return new ServiceError("malformedBody", "the request has no Host header");
  }
  const repeated = findRepeated(rawHeaders);
  if (repeated === undefined) return undefined;
  return new ServiceError("malformedBody", `the request has more than one ${repeated} header`);
}

/** The name of a header that occurs twice, as sent. Parsed headers contain only the first value, or both joined. */
function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!singleHeaders.has(name)) continue;
    if (seen.has(name)) return rawHeaders[at];
    seen.add(name);
  }
  return undefined;
}
