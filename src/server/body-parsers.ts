import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { bodyLimits, findJsonProblem, ServiceError, type ReceivingLimits } from "../contract/index.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Logger } from "pino";
import { refuseConnection } from "./client-error.ts";

type Done = (error: Error | null, body?: unknown) => void;
type Parse = (request: FastifyRequest, bytes: Buffer, done: Done) => void;

/** The request bodies that a path accepts: JSON, JSON as text, JSON or forms, the form of a page, or anything (ignored). */
export type Bodies = "json" | "signed" | "forms" | "pageForm" | "anything";

const formType = "application/x-www-form-urlencoded";

/** How bodies are parsed. `limit` is their maximum size in bytes, if not that of the route. */
const formats: Readonly<Record<Bodies, { readonly type: string; readonly parse: Parse; readonly limit?: number }>> = {
  json: { type: "application/json", parse: parseJson },
  // As text, because the signature covers every byte.
  signed: { type: "application/json", parse: (_request, bytes, done) => done(findFault(bytes) ?? null, String(bytes)) },
  forms: { type: formType, parse: parseForm, limit: bodyLimits.form },
  pageForm: { type: formType, parse: parseForm, limit: bodyLimits.pageForm },
  anything: { type: "*", parse: (_request, _bytes, done) => done(null), limit: bodyLimits.ignored },
};

/** Accepts only these bodies; forms are accepted in addition to JSON. */
export function acceptBodies(app: FastifyInstance, reader: BodyReader, bodies: Bodies): void {
  const { type, parse, limit = Infinity } = formats[bodies];
  if (bodies !== "forms") app.removeAllContentTypeParsers();
  app.addContentTypeParser(type, (request, payload, done) => {
    reader.read(request, payload, Math.min(limit, request.routeOptions.bodyLimit), (error, bytes) => {
      if (error) done(error);
      else parse(request, bytes, done);
    });
  });
}

/** An empty body counts as none. A body that would change the prototype of an object, or that is not UTF-8, is malformed. */
function parseJson(request: FastifyRequest, bytes: Buffer, done: Done): void {
  const refusal = findFault(bytes);
  const text = bytes.toString("utf8");
  if (refusal) done(refusal);
  else if (text.trim() === "") done(null);
  else {
    const parse = request.server.getDefaultJsonParser("error", "error");
    void parse(request, text, (error, parsed) => done(error && toMalformedBody(text), parsed));
  }
}

/** Checks what takes long to parse, or would be rounded, before parsing. */
function findFault(bytes: Buffer): ServiceError | undefined {
  if (!isUtf8(bytes)) return new ServiceError("malformedBody", "the body is not UTF-8 text");
  const found = findJsonProblem(bytes);
  if (!found) return undefined;
  const { problem, character, field } = found;
  return new ServiceError("malformedBody", `the body ${problem} (at character ${character})`, { field });
}

/** Locates the error without repeating any content. */
function toMalformedBody(text: string): ServiceError {
  try {
    JSON.parse(text);
    return new ServiceError(
      "malformedBody",
      "the body is JSON with a field that no object may have: __proto__, constructor.prototype",
    );
  } catch (error) {
    const position = /at position (\d+)/.exec((error as Error).message)?.[1];
    const where = position === undefined ? "its end" : `character ${Number(position) + 1}`;
    return new ServiceError("malformedBody", `the body is not JSON (at ${where})`);
  }
}

/**
 * Parses the fields of a form, which must be UTF-8.
 * Source: WHATWG "URL Standard". Assumed: if a field is repeated, the last value counts.
 */
function parseForm(request: FastifyRequest, body: Buffer, done: Done): void {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers["content-type"] ?? "")?.[1] ?? "utf-8";
  if (!/^utf-?8$/i.test(charset)) {
    done(new ServiceError("unsupportedMediaType", "send the form in UTF-8"));
    return;
  }
  const text = body.toString("latin1");
  const bytes = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  if (isUtf8(Buffer.from(bytes, "latin1"))) done(null, Object.fromEntries(new URLSearchParams(body.toString())));
  else done(new ServiceError("malformedBody", "the body is not UTF-8 text"));
}

/** What a body is read into at first, in bytes. It doubles when it is full. */
const firstSize = 4 * 1_024;

/** In a body of more chunks than `from`, the chunks must have at least `minBytes` on average. */
const smallChunks = { from: 200, minBytes: 64 } as const;

/** A body in memory: one that is being received, or one whose call has not been answered. */
interface HeldBody {
  bytes: Buffer;
  length: number;
  chunks: number;
  /** The memory that it takes: also an estimate of its values, once it has been parsed. */
  size: number;
  /** Refuses the body. Undefined once it has arrived. */
  refuse: ((error: ServiceError) => void) | undefined;
}

const empty = Buffer.alloc(0);

export type OnBody = (error: Error | null, body: Buffer) => void;

/**
 * Reads request bodies within limits: bodies that take memory while nothing arrives make room for others.
 * Many small chunks take no more memory than a large one.
 */
export class BodyReader {
  readonly #log: Logger;
  readonly #limits: ReceivingLimits;
  /** The bodies that received something last come last. */
  readonly #held = new Set<HeldBody>();
  readonly #responses = new WeakMap<IncomingMessage, ServerResponse>();
  #heldBytes = 0;

  constructor(app: FastifyInstance, log: Logger, limits: ReceivingLimits) {
    this.#log = log;
    this.#limits = limits;
    app.addHook("preParsing", ({ raw }, reply, payload, done) => {
      this.#responses.set(raw, reply.raw);
      done(null, payload);
    });
  }

  /** Reads a body of at most `limit` bytes, which is held until the response has been sent. */
  read({ raw, headers }: FastifyRequest, payload: Readable, limit: number, onBody: OnBody): void {
    if (Number(headers["content-length"]) > limit) {
      onBody(tooLarge(limit), empty);
      return;
    }
    const body: HeldBody = { bytes: empty, length: 0, chunks: 0, size: 0, refuse: undefined };
    const release = () => this.#release(body);
    const settle = (error: Error | null) => {
      clearTimeout(timer);
      body.refuse = undefined;
      payload.removeListener("data", onData).removeListener("end", onEnd).removeListener("error", onError);
      if (error) release();
      const bytes = body.bytes.subarray(0, body.length);
      body.bytes = empty;
      onBody(error, bytes);
    };
    const onData = (chunk: Buffer) => {
      timer.refresh();
      if (body.chunks > smallChunks.from && body.length < body.chunks * smallChunks.minBytes) {
        settle(new ServiceError("malformedBody", "the body has too many small chunks"));
        // Reading the rest only to discard it would take long as well.
        refuseConnection({ code: "TINY_CHUNKS" }, raw.socket, this.#log);
        raw.socket.destroy();
        return;
      }
      if (body.length + chunk.length > limit) settle(tooLarge(limit));
      else this.#append(body, chunk, limit);
    };
    // Over a connection, Node.js checks this itself.
    const onEnd = () => settle(Number(headers["content-length"] ?? body.length) === body.length ? null : incomplete());
    const onError = () => settle(incomplete());
    const timer = setTimeout(() => {
      release();
      refuseConnection({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, raw.socket, this.#log);
    }, this.#limits.idleMs).unref();
    body.refuse = settle;
    this.#responses.get(raw)?.once("close", () => {
      clearTimeout(timer);
      release();
    });
    payload.on("data", onData).on("end", onEnd).on("error", onError);
  }

  #append(body: HeldBody, chunk: Buffer, limit: number): void {
    const length = body.length + chunk.length;
    if (length > body.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(firstSize, length, 2 * body.bytes.length)));
      body.bytes.copy(larger, 0, 0, body.length);
      this.#heldBytes += larger.length - body.size;
      body.bytes = larger;
      body.size = larger.length;
    }
    chunk.copy(body.bytes, body.length);
    body.length = length;
    body.chunks += 1;
    this.#held.delete(body);
    this.#held.add(body);
    if (this.#heldBytes > this.#limits.bufferedBytes) this.#makeRoom();
  }

  /** Refuses the bodies that have received nothing for the longest time. The others are being processed. */
  #makeRoom(): void {
    for (const { refuse } of this.#held) {
      if (this.#heldBytes <= this.#limits.bufferedBytes) return;
      refuse?.(new ServiceError("unavailable", "the server is receiving too much data", { retryAfterMs: 1_000 }));
    }
  }

  #release(body: HeldBody): void {
    if (this.#held.delete(body)) this.#heldBytes -= body.size;
    body.bytes = empty;
    body.length = 0;
  }
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError("bodyTooLarge", `the body is larger than ${limit} bytes, the limit of this call`);
}

function incomplete(): ServiceError {
  return new ServiceError("malformedBody", "the body is not as long as Content-Length says");
}
