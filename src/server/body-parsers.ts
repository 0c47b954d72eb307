import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  bodyLimits,
  endpointOf,
  findJsonProblem,
  hasTooManyFields,
  isUnsigned,
  jsonLimits,
  jsonLimitsOf,
  maxFormFields,
  ServiceError,
  type ReceivingLimits,
} from "../contract/index.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { Logger } from "pino";
import { refuseConnection } from "./client-error.ts";
import { type Upload, Uploads } from "./uploads.ts";

type Done = (error: Error | null, body?: unknown) => void;
type Parse = (request: FastifyRequest, text: string, done: Done) => void;
type ParseBytes = (request: FastifyRequest, bytes: Buffer, done: Done) => void;
/** Finds what takes long to parse, or would be rounded, before parsing. */
type FindFault = (request: FastifyRequest, bytes: Buffer) => ServiceError | undefined;

type Format = {
  readonly type: string;
  readonly findFault?: FindFault;
  /** The maximum size in bytes, if not that of the route. */
  readonly limit?: number;
} & ({ readonly parse: Parse } | { readonly parseBytes: ParseBytes });

/**
 * The request bodies that a path accepts: JSON, JSON as text, JSON or forms, the form of a page, without or with files, or
 * anything (ignored).
 */
export type Bodies = "json" | "signed" | "forms" | "pageForm" | "fileForm" | "anything";

const formType = "application/x-www-form-urlencoded";

/** How bodies are parsed. */
const formats: Readonly<Record<Bodies, Format>> = {
  json: { type: "application/json", findFault: findJsonFault, parse: parseJson },
  // As text, because the signature covers every byte.
  signed: {
    type: "application/json",
    findFault: findJsonFault,
    parse: (_request, text, done) => done(null, text),
  },
  forms: { type: formType, findFault: findFormFault, parse: parseForm, limit: bodyLimits.form },
  pageForm: { type: formType, findFault: findFormFault, parse: parseForm, limit: bodyLimits.pageForm },
  fileForm: { type: "multipart/form-data", findFault: findPartsFault, parseBytes: parseParts },
  anything: { type: "*", parse: (_request, _text, done) => done(null), limit: bodyLimits.ignored },
};

/** Accepts only these bodies; forms are accepted in addition to JSON. */
export function acceptBodies(app: FastifyInstance, reader: BodyReader, bodies: Bodies): void {
  const { type, limit = Infinity } = formats[bodies];
  if (bodies !== "forms") app.removeAllContentTypeParsers();
  app.addContentTypeParser(type, (request, payload, done) => {
    void reader.read(request, payload, Math.min(limit, request.routeOptions.bodyLimit), (error, bytes) => {
      if (error) done(error);
      else void reader.parse(request, bytes, formats[bodies], done);
    });
  });
}

/** An empty body counts as none. A body that would change the prototype of an object is malformed. */
function parseJson(request: FastifyRequest, text: string, done: Done): void {
  if (text.trim() === "") {
    done(null);
    return;
  }
  const parse = request.server.getDefaultJsonParser("error", "error");
  void parse(request, text, (error, parsed) => done(error && toMalformedBody(text), parsed));
}

function findJsonFault({ routeOptions: { config } }: FastifyRequest, bytes: Buffer): ServiceError | undefined {
  if (!isUtf8(bytes)) return notUtf8();
  const limits = config.operation === undefined ? jsonLimits.open : jsonLimitsOf(endpointOf(config.operation));
  const found = findJsonProblem(bytes, limits);
  if (!found) return undefined;
  const { isTooComplex, problem, character, field } = found;
  const kind = isTooComplex ? "invalidParams" : "malformedBody";
  return new ServiceError(kind, `the body ${problem} (at character ${character})`, { field });
}

function notUtf8(): ServiceError {
  return new ServiceError("malformedBody", "the body is not UTF-8 text");
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

/** A form must be UTF-8. */
function findFormFault({ headers }: FastifyRequest, body: Buffer): ServiceError | undefined {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers["content-type"] ?? "")?.[1] ?? "utf-8";
  if (!/^utf-?8$/i.test(charset)) return new ServiceError("unsupportedMediaType", "send the form in UTF-8");
  const text = body.toString();
  if (hasTooManyFields(text)) {
    return new ServiceError("invalidParams", `the body has more than ${maxFormFields} fields`);
  }
  try {
    // Throws if the encoded bytes are not UTF-8.
    decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, "%25"));
    return isUtf8(body) ? undefined : notUtf8();
  } catch {
    return notUtf8();
  }
}

/**
 * Parses the fields of a form.
 * Source: WHATWG "URL Standard". Assumed: if a field is repeated, the last value counts.
 */
function parseForm(_request: FastifyRequest, text: string, done: Done): void {
  done(null, Object.fromEntries(new URLSearchParams(text)));
}

/** Larger bodies are parsed one by one. */
const largeFrom = 64 * 1_024;

/** After a large body, the time for other events before the next one, as a multiple of the time that it took. */
const otherShare = 2;

/** The maximum number of parts of a form with files. Browsers send one for each field. */
const maxParts = 20;

/** The maximum size of the headers of a part, in bytes. Those of a browser are a name and a file name. */
const maxPartHeaders = 4_096;

/** Reads the boundary. Source: RFC 2046 5.1.1. Characters that have to be escaped are invalid. */
function readBoundary({ headers }: FastifyRequest): string | undefined {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+,./:=?-]{1,70})(?=\s*(?:;|$)))/i.exec(
      headers["content-type"] ?? "",
    ) ?? [];
  return quoted ?? plain;
}

/** Checks the parts before they are parsed. */
function findPartsFault(request: FastifyRequest, bytes: Buffer): ServiceError | undefined {
  const boundary = readBoundary(request);
  if (boundary === undefined) return new ServiceError("malformedBody", "the form has no valid boundary");
  let parts = 0;
  for (let at = bytes.indexOf(`--${boundary}`); at >= 0; at = bytes.indexOf(`--${boundary}`, at + 1)) {
    parts += 1;
    if (parts > maxParts + 1) return new ServiceError("invalidParams", `the form has more than ${maxParts} parts`);
    if (bytes.indexOf("\r\n\r\n", at) - at > maxPartHeaders) {
      return new ServiceError("invalidParams", `the headers of a part have more than ${maxPartHeaders} bytes`);
    }
  }
  return undefined;
}

/** Parses the fields of a form with files, which become base64. A field without a file is empty. Source: RFC 7578. */
async function readParts(request: FastifyRequest, bytes: Buffer): Promise<Readonly<Record<string, string>>> {
  // With the boundary that was checked: parsers read odd headers differently.
  const type = `multipart/form-data; boundary="${readBoundary(request)}"`;
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    fields.set(name, typeof value === "string" ? value : Buffer.from(await value.arrayBuffer()).toString("base64"));
  }
  return Object.fromEntries(fields);
}

function parseParts(request: FastifyRequest, bytes: Buffer, done: Done): void {
  readParts(request, bytes).then(
    (fields) => done(null, fields),
    () => done(new ServiceError("malformedBody", "the body is not a form in multipart/form-data")),
  );
}

/** What a body is read into at first, in bytes, unless it is an upload. It doubles when it is full. */
const usualSize = 4 * 1_024;

/** In a body of more chunks than `from`, the chunks must have at least `minBytes` on average. */
const smallChunks = { from: 200, minBytes: 64 } as const;

/** A body in memory: one that is being received, or one whose call has not been answered. */
interface HeldBody {
  bytes: Buffer;
  /** What it is read into at first, in bytes. */
  readonly firstSize: number;
  length: number;
  chunks: number;
  /** The memory that it takes: also an estimate of its values, once it has been parsed. */
  size: number;
  /** Refuses the body. Undefined once it has arrived. */
  refuse: ((error: ServiceError) => void) | undefined;
}

const empty = Buffer.alloc(0);

/** What decides about the requests with bodies. */
export interface BodyGate {
  /** Refuses a call without a token of a client with too many failures. @throws ServiceError `tooManyRequests` */
  readonly checkFailures: (request: FastifyRequest) => Promise<void>;
  /** Counts a refused request against its client. @returns the error to respond with */
  readonly countRefusal: (request: FastifyRequest, refusal: ServiceError) => Promise<Error>;
}

interface Receiving {
  /** The maximum size, in bytes. */
  readonly limit: number;
  readonly onBody: OnBody;
  readonly upload: Upload | undefined;
}

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
  readonly #gate: BodyGate;
  readonly #largeBodies = pLimit(1);
  readonly #uploads: Uploads;
  #heldBytes = 0;

  constructor(app: FastifyInstance, log: Logger, limits: ReceivingLimits, gate: BodyGate) {
    this.#log = log;
    this.#limits = limits;
    this.#gate = gate;
    this.#uploads = new Uploads(limits.uploads);
    app.addHook("preParsing", (request, reply, payload, done) => {
      this.#responses.set(request.raw, reply.raw);
      if (!(Number(request.headers["content-length"]) >= largeFrom)) done(null, payload);
      else void gate.checkFailures(request).then(() => done(null, payload), done);
    });
  }

  /** Reads a body of at most `limit` bytes, which is held until the response has been sent. */
  async read(request: FastifyRequest, payload: Readable, limit: number, onBody: OnBody): Promise<void> {
    const response = this.#responses.get(request.raw);
    const { operation } = request.routeOptions.config;
    const isUpload = limit > bodyLimits.open && operation !== undefined && isUnsigned(endpointOf(operation));
    try {
      if (Number(request.headers["content-length"]) > limit) throw tooLarge(limit);
      const upload = isUpload && response ? await this.#uploads.take(request, response) : undefined;
      this.#receive(request, payload, { limit, onBody, upload });
    } catch (error) {
      onBody(error as Error, empty);
    }
  }

  #receive({ raw, headers }: FastifyRequest, payload: Readable, { limit, onBody, upload }: Receiving): void {
    const firstSize = (upload && Number(headers["content-length"])) || usualSize;
    const body: HeldBody = { bytes: empty, firstSize, length: 0, chunks: 0, size: 0, refuse: undefined };
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
    if (upload) upload.refuse = (error) => body.refuse?.(error);
    this.#responses.get(raw)?.once("close", () => {
      clearTimeout(timer);
      release();
    });
    payload.on("data", onData).on("end", onEnd).on("error", onError);
  }

  /**
   * Parses a body. Large ones are parsed one after the other, with time for other events in between, so that small requests
   * wait for few of them.
   */
  async parse(request: FastifyRequest, bytes: Buffer, format: Format, done: Done): Promise<void> {
    const { findFault } = format;
    const isFaulty = () => {
      const fault = findFault?.(request, bytes);
      if (fault?.kind === "invalidParams") void this.#gate.countRefusal(request, fault).then(done);
      else if (fault) done(fault);
      return fault !== undefined;
    };
    if (bytes.length < largeFrom) {
      if (isFaulty()) return;
      if ("parseBytes" in format) format.parseBytes(request, bytes, done);
      else format.parse(request, bytes.toString(), done);
      return;
    }
    await this.#largeBodies(async () => {
      const startMs = performance.now();
      if (!isFaulty()) {
        await nextTurn();
        if ("parseBytes" in format) format.parseBytes(request, bytes, done);
        else {
          const text = bytes.toString();
          await nextTurn();
          format.parse(request, text, done);
        }
      }
      await sleep(otherShare * (performance.now() - startMs));
    });
  }

  #append(body: HeldBody, chunk: Buffer, limit: number): void {
    const length = body.length + chunk.length;
    if (length > body.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(body.firstSize, length, 2 * body.bytes.length)));
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
