import { fastify, type FastifyInstance, type FastifyReply, type InjectOptions } from "fastify";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import pLimit from "p-limit";
import {
  bodyLimits,
  coreRateLimit,
  type ReceivingLimits,
  receivingLimits,
  type SendingLimits,
  sendingLimits,
  ServiceError,
} from "../contract/index.ts";
import type { About } from "./openapi/document.ts";
import type { Transport } from "../service/transport.ts";
import { acceptJson } from "./body-parsers.ts";
import { BodyReader } from "./body-reader.ts";
import type { Chaos } from "./chaos.ts";
import { refuseConnection } from "./client-error.ts";
import { toListenError } from "./listen-error.ts";
import { sendRefusal } from "./error-response.ts";
import { PendingResponses } from "./pending-responses.ts";
import { receiveInTurns } from "./receiving-turns.ts";
import { findRequestFault } from "./request-check.ts";
import { addRoutes } from "./routes.ts";

export interface ServerOptions {
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
  /** Details for `/openapi.json`. Called once, when the document is first requested. */
  readonly about?: () => About;
  /** Injects faults, for testing clients. */
  readonly chaos?: Chaos | undefined;
}

/** A request that is handled without a connection. */
export interface InnerRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

export interface InnerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

export interface Server {
  /** Handles a request as over HTTP. */
  answer(request: InnerRequest): Promise<InnerAnswer>;
  /**
   * Starts listening. Port 0 selects a free port.
   * @throws ListenError
   */
  listen(where: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>;
  /** Stops accepting calls and finishes those in flight. Does not close the transport. */
  close(): Promise<void>;
}

const defaults = {
  bodyLimitBytes: bodyLimits.bulk,
  closeWithinMs: 10_000,
} as const;

/** The interval of checks for requests that take too long, in milliseconds. */
const checkEachMs = 5_000;

/** How many calls for long lists run at the same time. */
const maxLongLists = 2;

/** Maximum length of a path parameter: that of a request line. */
const maxParamLength = 16 * 1_024;

/** Serves the contract over HTTP, with any transport. */
export function createServer(transport: Transport, options: ServerOptions): Server {
  const {
    logger: log,
    bodyLimitBytes = defaults.bodyLimitBytes,
    closeWithinMs = defaults.closeWithinMs,
    about = () => ({ version: "unknown" }),
    chaos,
    trustedProxies = [],
  } = options;
  const limits = { ...receivingLimits, ...options.receiving };
  const sending = { ...sendingLimits, ...options.sending };
  const app = createApp(transport, { log, limits, sending, bodyLimit: bodyLimitBytes, chaos, trustedProxies });
  addDocument(app, about);
  if (options.clock) addCoreLimitHeaders(app, options.clock);
  const connections = closeConnectionsWhenStopping(app);
  return {
    answer: async ({ method, target, headers, body }) => {
      const {
        statusCode,
        headers: answered,
        rawPayload,
      } = await app.inject({
        method: method as InjectOptions["method"],
        url: target,
        headers,
        ...(body && { payload: body }),
      });
      return { status: statusCode, headers: answered as IncomingHttpHeaders, bytes: rawPayload };
    },
    listen: async ({ host, port }) => {
      try {
        await app.listen({ host, port });
      } catch (error) {
        throw toListenError(error, host, port);
      }
      const { port: taken } = app.server.address() as AddressInfo;
      return { url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}` };
    },
    close: async () => {
      connections.stopping = true;
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

interface AppOptions {
  readonly log: Logger;
  readonly limits: ReceivingLimits;
  readonly sending: SendingLimits;
  readonly bodyLimit: number;
  readonly chaos: Chaos | undefined;
  readonly trustedProxies: readonly string[];
}

function createApp(
  transport: Transport,
  { log, limits, sending, bodyLimit, chaos, trustedProxies }: AppOptions,
): FastifyInstance {
  const app = fastify({
    // Its log lines contain the complete URL, which may contain a utoken.
    logger: false,
    ...(trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    bodyLimit,
    requestTimeout: limits.requestWithinMs,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    http: {
      // Checked below, with an error body.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(checkEachMs, limits.requestWithinMs),
    },
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, log),
    frameworkErrors: (error, request, reply) => {
      // Hooks do not run for these errors.
      disableSniffing(reply);
      void sendRefusal(error, { request, reply, form: formOf(request.url), log });
    },
  });
  // Node.js applies the longer of the two to the body.
  app.server.headersTimeout = Math.min(limits.headersWithinMs, limits.requestWithinMs);
  app.server.maxConnections = limits.connections;
  // Connections that are only kept open make room for new ones.
  app.server.on("drop", () => app.server.closeIdleConnections());
  receiveInTurns(app.server);
  answerAllExpectations(app);
  const reader = new BodyReader(app, log, limits);
  acceptJson(app, reader);
  new PendingResponses(sending).watch(app);
  app.addHook("onRequest", ({ raw }, reply, done) => {
    disableSniffing(reply);
    done(findRequestFault(raw));
  });
  addLog(app, log);
  answerUnknownPaths(app, log);
  app.get("/healthz", { exposeHeadRoute: true }, () => ({ status: "ok" }));
  addRoutes(app, { transport, longLists: pLimit(maxLongLists), log, reader, chaos, bodyLimit });
  return app;
}

/** Prevents browsers from guessing the content type, because responses contain user content. */
function disableSniffing(reply: FastifyReply): void {
  void reply.header("x-content-type-options", "nosniff");
}

/** Ignores unknown expectations, as the standard allows. By default, Node.js rejects them without our error body. */
function answerAllExpectations({ server }: FastifyInstance): void {
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
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

/** While stopping, closes connections after the response. */
function closeConnectionsWhenStopping(app: FastifyInstance): { stopping: boolean } {
  const state = { stopping: false };
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (state.stopping) void reply.header("connection", "close");
    done();
  });
  return state;
}

/** Logs one line per call, with the route pattern only: paths, queries, and bodies contain personal data. */
function addLog(app: FastifyInstance, log: Logger): void {
  app.addHook("onResponse", (request, reply, done) => {
    log.info(
      {
        id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? "(unknown)",
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      "call",
    );
    done();
  });
}

function answerUnknownPaths(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler((error, request, reply) =>
    sendRefusal(error, { request, reply, form: formOf(request.url), log }),
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
  app.get("/openapi.json", { exposeHeadRoute: true }, async (_request, reply) => {
    made ??= makeDocument(about());
    return reply.type("application/json; charset=utf-8").send(await made);
  });
}

async function makeDocument(about: About): Promise<string> {
  const { createDocument } = await import("./openapi/document.ts");
  return JSON.stringify(createDocument(about));
}
