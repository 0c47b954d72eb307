import { STATUS_CODES } from "node:http";
import type { Logger } from "pino";
import type { Socket } from "node:net";

type Refusal = readonly [status: number, type: string, message: string];

const malformed: Refusal = [400, "MalformedRequest", "the request is not well-formed HTTP"];
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [431, "HeadersTooLarge", "the request's line and headers are larger than this server takes"],
  TINY_CHUNKS: [
    400,
    "MalformedBody",
    "the body has too many small chunks; send chunks of 64 bytes or more, or Content-Length",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "RequestTimeout", "the request did not arrive in the time allowed"],
};

/**
 * Responds to malformed HTTP with a regular error body, and closes the connection.
 * Logs only the kind of error, because the bytes may contain a token.
 */
export function refuseConnection({ code = "" }: { readonly code?: string }, socket: Socket, log: Logger): void {
  if (code === "ECONNRESET" || socket.destroyed) return;
  // The handshake failed, so nothing can be sent.
  if (/^ERR_(?:SSL|TLS)_/.test(code)) {
    log.debug({ code }, "refused");
    socket.destroy();
    return;
  }
  const [status, type, message] = refusals[code] ?? malformed;
  log.debug({ code, status }, "refused");
  const body = JSON.stringify({ status: { message, code: status, error_type: `Exceptions::${type}` } });
  // If part of a response has been sent, an error would corrupt it. Node.js uses the same check.
  const { _httpMessage: answering } = socket as { _httpMessage?: { headersSent?: boolean } | null };
  if (!socket.writable || answering?.headersSent === true) {
    socket.destroy();
    return;
  }
  const headers = [
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    "x-content-type-options: nosniff",
  ];
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...headers, "", body].join("\r\n"));
}
