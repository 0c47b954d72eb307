import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest, type InjectOptions } from "fastify";
import { createHash } from "node:crypto";
import { Server as SecureServer } from "node:tls";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Logger } from "pino";
import pLimit from "p-limit";
import {
  coreRateLimit,
  imageReadLimits,
  type ReceivingLimits,
  receivingLimits,
  type SendingLimits,
  sendingLimits,
  ServiceError,
  callerNames,
  endpointOf,
  hasTooManyFields,
  isUnsigned,
  idempotencyKeys,
  maxFormFields,
} from "../contract/index.ts";
import type { About } from "./openapi/document.ts";
import type { RawRequest, RawResponse } from "../service/raw-call.ts";
import type { Transport } from "../service/transport.ts";
import { acceptBodies, type BodyGate, BodyReader } from "./body-parsers.ts";
import { addCallLog, logCall } from "./call-log.ts";
import { allowCompression, compress } from "./compression.ts";
import type { Chaos } from "./chaos.ts";
import { refuseConnection } from "./client-error.ts";
import { addElements } from "./elements.ts";
import { addHealthPaths, type Readiness } from "./health.ts";
import { limitConnections } from "./connections.ts";
import { listenOn } from "./listen.ts";
import { refuse, sendRefusal } from "./error-response.ts";
import { PendingResponses } from "./pending-responses.ts";
import { receiveInTurns } from "./receiving-turns.ts";
import type { AnsweredCall } from "./metrics.ts";
import { addressOf, RequestTurns } from "./request-turns.ts";
import { addRoutes } from "./routes.ts";

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateSource {
  readonly certificate: Certificate;
  /** Calls back with each new certificate. @returns a function that stops it */
  readonly watch: (onChange: (certificate: Certificate) => void) => () => void;
}

export interface ServerOptions {
  /** For HTTPS (default: HTTP). */
  readonly tls?: CertificateSource | undefined;
  readonly logger: Logger;
  /** Maximum body size, in bytes, if smaller than that of the call. */
  readonly bodyLimitBytes?: number;
  /** Limits of receiving requests, if they differ from the usual ones. */
  readonly receiving?: Partial<ReceivingLimits>;
  /** Limits of sending responses, if they differ from the usual ones. */
  readonly sending?: Partial<SendingLimits>;
  /** How long `close` waits for calls in flight before it closes their connections (default: 10 s). */
  readonly closeWithinMs?: number;
  /** For the rate-limit headers of core calls that did not count; without a clock, these are omitted. */
  readonly clock?: () => number;
  /** Addresses and networks (CIDR) of reverse proxies whose `X-Forwarded-For` is used (default: none). */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Details for `/openapi.json` and ETags, which must not change. */
  readonly about?: () => About;
  /** Injects faults, for testing clients. */
  readonly chaos?: Chaos | undefined;
  /** Makes request IDs unique among processes (default: they are numbers). */
  readonly random?: ((bytes: number) => Buffer) | undefined;
  /** Whether the database answers, for `/readyz` (default: always). */
  readonly readReadiness?: (() => Promise<Readiness>) | undefined;
  /** Called after each response. */
  readonly onAnswer?: ((call: AnsweredCall) => void) | undefined;
}

export interface Server {
  /** Handles a request as over HTTP. */
  answer(request: Pick<RawRequest, "method" | "target" | "headers" | "body">): Promise<RawResponse>;
  /**
   * Starts listening. Port 0 selects a free port.
   * @throws ListenError
   */
  listen(where: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>;
  /** Stops accepting calls and finishes those in flight. Does not close the transport. */
  close(): Promise<void>;
}

/** The interval of checks for requests that take too long, in milliseconds. */
const checkEachMs = 5_000;

/** How many calls for long lists run at the same time. */
const maxLongLists = 2;

/** Maximum length of a path parameter: that of a request line. */
const maxParamLength = 16 * 1_024;

/** Serves the contract over HTTP, with any transport. */
export function createServer(transport: Transport, options: ServerOptions): Server {
  const { chaos, closeWithinMs = 10_000, about = () => ({ version: "unknown" }) } = options;
  const app = createApp(transport, { ...options, about });
  if (options.onAnswer) reportAnswers(app, options.onAnswer);
  addHealthPaths(app, options.readReadiness ?? (async () => ({ isReady: true })));
  addDocument(app, about);
  addElements(app);
  if (options.clock) addCoreLimitHeaders(app, options.clock);
  const stopWatching = options.tls?.watch((certificate) => {
    if (app.server instanceof SecureServer) app.server.setSecureContext(certificate);
  });
  let isStopping = false;
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (isStopping) void reply.header("connection", "close");
    done();
  });
  return {
    answer: async ({ method, target, headers, body }) => {
      const request = { method: method as InjectOptions["method"], url: target, headers };
      const {
        statusCode,
        headers: answered,
        rawPayload,
      } = await app.inject({ ...request, ...(body && { payload: body }) });
      return { status: statusCode, headers: answered as IncomingHttpHeaders, bytes: rawPayload };
    },
    listen: (where) => listenOn(app, where),
    close: async () => {
      isStopping = true;
      stopWatching?.();
      chaos?.close();
      const cutOff = setTimeout(() => app.server.closeAllConnections(), closeWithinMs);
      try {
        await app.close();
      } finally {
        clearTimeout(cutOff);
      }
    },
  };
}

function createApp(
  transport: Transport,
  options: ServerOptions & Required<Pick<ServerOptions, "about">>,
): FastifyInstance {
  const {
    logger: log,
    bodyLimitBytes: bodyLimit = Number.MAX_SAFE_INTEGER,
    chaos,
    trustedProxies = [],
    about,
    random,
    tls,
  } = options;
  const limits = { ...receivingLimits, ...options.receiving };
  const turns = new RequestTurns(transport.gate);
  const idPrefix = random?.(4).toString("hex") ?? "req";
  let requests = 0;
  const http = {
    // Checked below, with an error body.
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(checkEachMs, limits.requestWithinMs),
  };
  const https = tls && { ...http, ...tls.certificate, handshakeTimeout: limits.headersWithinMs };
  const app = fastify({
    genReqId: () => `${idPrefix}-${(requests += 1).toString(36)}`,
    // Its log lines contain the complete URL, which may contain a utoken.
    logger: false,
    ...(trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    bodyLimit,
    requestTimeout: limits.requestWithinMs,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    ...(https ? ({ https } as object) : { http }),
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, log),
    frameworkErrors: (error, request, reply) => {
      // Hooks do not run for these errors.
      addCommonHeaders(request, reply);
      reply.raw.once("finish", () => logCall(log, request, reply));
      sendRefusal(error, { request, reply, form: formOf(request.url), log, turns });
    },
  });
  // Node.js applies the longer of the two to the body.
  app.server.headersTimeout = Math.min(limits.headersWithinMs, limits.requestWithinMs);
  receiveInTurns(app.server);
  limitConnections(app.server, limits, trustedProxies);
  // Ignores unknown expectations, as the standard allows. By default, Node.js rejects them without our error body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  const gate = createBodyGate(transport);
  const reader = new BodyReader(app, log, limits, gate);
  acceptBodies(app, reader, "json");
  new PendingResponses({ ...sendingLimits, ...options.sending }).watch(app);
  app.addHook("onRequest", (request, reply, done) => {
    addCommonHeaders(request, reply);
    const fault = findRequestFault(request.raw);
    if (fault?.kind === "invalidParams") void gate.countRefusal(request, fault).then(done);
    else done(fault);
  });
  addCallLog(app, log);
  answerUnknownPaths(app, log, turns);
  // ETags identify the version of the program and its public URL, because they determine responses, too.
  let made: string | undefined;
  const program = () => (made ??= createHash("sha256").update(JSON.stringify(about())).digest("base64url").slice(0, 6));
  addRoutes(app, {
    transport,
    turns,
    longLists: pLimit(maxLongLists),
    imageReads: pLimit(imageReadLimits.atOnce),
    program,
    log,
    reader,
    chaos,
    bodyLimit,
  });
  return app;
}

/** If the transport is an engine, it counts refusals against the client, and refuses clients with too many. */
function createBodyGate({ gate }: Transport): BodyGate {
  return {
    checkFailures: async (request) => {
      const { operation } = request.routeOptions.config;
      // Calls with valid credentials are never refused for failures.
      if (operation && gate && isUnsigned(endpointOf(operation))) await gate.checkFailures(addressOf(request));
    },
    countRefusal: async (request, refusal) => {
      if (!request.routeOptions.config.operation || !gate) return refusal;
      return gate.countRefusal(addressOf(request)).then(
        () => refusal,
        (error: Error) => error,
      );
    },
  };
}

/** Names the request as the log does, and prevents browsers from guessing the type of responses with user content. */
function addCommonHeaders({ id }: FastifyRequest, reply: FastifyReply): void {
  void reply.header("x-content-type-options", "nosniff").header("x-request-id", id);
}

/** Source: spec "Limits": every core API response states the remaining calls. Rejected calls that did not count leave all. */
function addCoreLimitHeaders(app: FastifyInstance, clock: () => number): void {
  const { requests, windowMs } = coreRateLimit;
  app.addHook("onSend", (request, reply, _payload, done) => {
    if (formOf(request.url) === "core" && !reply.hasHeader("ratelimit-remaining")) {
      const resetAtMs = (Math.floor(clock() / windowMs) + 1) * windowMs;
      void reply.header("ratelimit-remaining", requests).header("ratelimit-reset", Math.ceil(resetAtMs / 1_000));
    }
    done();
  });
}

function reportAnswers(app: FastifyInstance, onAnswer: (call: AnsweredCall) => void): void {
  app.addHook("onResponse", ({ routeOptions }, reply, done) => {
    const { operation } = routeOptions.config;
    onAnswer({ operation, status: reply.statusCode, durationMs: reply.elapsedTime });
    done();
  });
}

function answerUnknownPaths(app: FastifyInstance, log: Logger, turns: RequestTurns): void {
  app.setErrorHandler((error, request, reply) =>
    refuse(error, { request, reply, form: formOf(request.url), log, turns }),
  );
  app.setNotFoundHandler(() => {});
  // Before the body is read, which may have any format.
  app.addHook("onRequest", (request, _reply, done) => {
    const path = request.url.split("?", 1)[0];
    done(request.is404 ? new ServiceError("unknownPath", `no endpoint at ${request.method} ${path}`) : undefined);
  });
}

function formOf(url: string): "core" | "status" {
  return url.startsWith("/core/") ? "core" : "status";
}

/** Serves `/openapi.json`. The document is generated on the first request. */
function addDocument(app: FastifyInstance, about: () => About): void {
  let made: Promise<string> | undefined;
  app.get("/openapi.json", { exposeHeadRoute: true, onSend: compress }, async (_request, reply) => {
    allowCompression(reply);
    made ??= import("./openapi/document.ts").then(({ createDocument }) => JSON.stringify(createDocument(about())));
    return reply.type("application/json; charset=utf-8").send(await made);
  });
}

/** Headers that may occur only once: proxies and servers may choose different values. Node.js checks Content-Length. */
const singleHeaders: ReadonlySet<string> = new Set([
  "host",
  "content-type",
  "content-encoding",
  "authorization",
  callerNames.tokenHeader,
  callerNames.byHeader,
  idempotencyKeys.header,
]);

/** Checks a request before its body is read. */
export function findRequestFault({
  url = "",
  headers,
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, "url" | "headers" | "rawHeaders" | "httpVersion">): ServiceError | undefined {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    return new ServiceError("unsupportedMediaType", "send the body as it is, without Content-Encoding");
  }
  if (headers.host === undefined && httpVersion === "1.1") {
    return new ServiceError("malformedBody", "the request has no Host header");
  }
  if (hasTooManyFields(url))
    return new ServiceError("invalidParams", `the query has more than ${maxFormFields} fields`);
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
