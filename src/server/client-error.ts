import { STATUS_CODES } from "node:http";
import type { Logger } from "pino";
import type { Socket } from "node:net";

interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly type: string;
}

const malformed: Refusal = {
  code: 400,
  message: "the request is not well-formed HTTP",
  type: "Exceptions::MalformedRequest",
};

const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    code: 431,
    message: "the request's line and headers are larger than this server takes",
    type: "Exceptions::HeadersTooLarge",
  },
  TINY_CHUNKS: {
    ...malformed,
    message: "the body has too many small chunks; send chunks of 64 bytes or more, or Content-Length",
    type: "Exceptions::MalformedBody",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 408,
    message: "the request did not arrive in the time allowed",
    type: "Exceptions::RequestTimeout",
  },
};

/**
 * Responds to malformed HTTP with a regular error body, and closes the connection.
 * Logs only the kind of error, because the bytes may contain a token.
 */
export function refuseConnection({ code = "" }: { readonly code?: string }, socket: Socket, log: Logger): void {
  if (code === "ECONNRESET" || socket.destroyed) return;
  const { code: status, message, type } = refusals[code] ?? malformed;
  log.debug({ code, status }, "refused");
  const body = JSON.stringify({ status: { message, code: status, error_type: type } });
  if (!socket.writable || isAnswering(socket)) {
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

/** Whether part of a response has been sent, so that an error would corrupt it. Node.js uses the same check. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: answering } = socket as { _httpMessage?: { headersSent?: boolean } | null };
  return answering?.headersSent === true;
}
