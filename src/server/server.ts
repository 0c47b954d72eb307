import { fastify, type FastifyInstance, type FastifyReply, type InjectOptions } from "fastify";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { coreRateLimit, ServiceError } from "../contract/index.ts";
import type { About } from "./openapi/document.ts";
import type { Transport } from "../service/transport.ts";
import { acceptJson } from "./body-parsers.ts";
import type { Chaos } from "./chaos.ts";
import { refuseConnection } from "./client-error.ts";
import { addDocument } from "./openapi-route.ts";
import { asListenError } from "./listen-error.ts";
import { sendRefusal } from "./error-response.ts";
import { addRoutes } from "./routes.ts";

export interface ServerOptions {
  readonly logger: Logger;
  /** Largest body, in bytes; 10 MiB where absent. */
  readonly bodyLimitBytes?: number;
  /** How long a request may take to arrive whole; 5 minutes where absent. */
  readonly requestWithinMs?: number;
  /** How long `close` waits for calls in flight before it cuts them off; 10 s where absent. */
  readonly closeWithinMs?: number;
  /** Milliseconds since the epoch, for the limit of core calls that took nothing from it; they say nothing of it where absent. */
  readonly clock?: () => number;
  /** What `/openapi.json` says beside the contract; asked for once, when the document is. */
  readonly about?: () => About;
  /** Faults that calls meet on purpose. */
  readonly chaos?: Chaos | undefined;
}

/** A request that is answered without a connection. */
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
  /** Answers as it would over HTTP. */
  answer(request: InnerRequest): Promise<InnerAnswer>;
  /**
   * Starts to answer. Port 0 takes a free one.
   * @throws ListenError
   */
  listen(where: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>;
  /** Takes no more calls, finishes those in flight, and ends. The transport stays open: it is not the server's. */
  close(): Promise<void>;
}

const defaults = {
  bodyLimitBytes: 10 * 1_024 * 1_024,
  requestWithinMs: 300_000,
  closeWithinMs: 10_000,
} as const;

/** How long the headers of a request may take, and how often requests are looked for that take too long. */
const slow = { headersWithinMs: 60_000, lookEachMs: 30_000 } as const;

/** Longest path parameter: all that a request line can hold. */
const maxParamLength = 16 * 1_024;

/** Answers the contract's calls over HTTP from any Transport. */
export function createServer(transport: Transport, options: ServerOptions): Server {
  const {
    logger: log,
    bodyLimitBytes = defaults.bodyLimitBytes,
    requestWithinMs = defaults.requestWithinMs,
    closeWithinMs = defaults.closeWithinMs,
    about = () => ({ version: "unknown" }),
    chaos,
  } = options;
  const limits = { bodyLimit: bodyLimitBytes, requestTimeout: requestWithinMs };
  const app = createApp(transport, { log, limits, chaos });
  addDocument(app, about);
  if (options.clock) tellCoreLimit(app, options.clock);
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
        throw asListenError(error, host, port);
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

function createApp(
  transport: Transport,
  {
    log,
    limits,
    chaos,
  }: {
    readonly log: Logger;
    readonly limits: { readonly bodyLimit: number; readonly requestTimeout: number };
    readonly chaos: Chaos | undefined;
  },
): FastifyInstance {
  const app = fastify({
    // Its own log lines hold the whole URL, in which a utoken may stand.
    logger: false,
    ...limits,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    exposeHeadRoutes: false,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    http: {
      // Refused below, with a body.
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(slow.lookEachMs, limits.requestTimeout),
    },
    clientErrorHandler: (error, socket) => refuseConnection(error, socket, log),
    frameworkErrors: (error, request, reply) => {
      // No hook runs for these.
      beTakenAtItsWord(reply);
      void sendRefusal(error, { request, reply, form: formOf(request.url), log });
    },
  });
  // Node takes the longer of both for a body.
  app.server.headersTimeout = Math.min(slow.headersWithinMs, limits.requestTimeout);
  answerAllExpectations(app);
  acceptJson(app);
  app.addHook("onRequest", ({ headers, raw }, reply, done) => {
    beTakenAtItsWord(reply);
    done(findFault(headers, raw.httpVersion));
  });
  addLog(app, log);
  answerUnknownPaths(app, log);
  app.get("/healthz", { exposeHeadRoute: true }, () => ({ status: "ok" }));
  addRoutes(app, transport, log, chaos);
  return app;
}

/** What is wrong with a request before its body is read. */
function findFault(headers: IncomingHttpHeaders, httpVersion: string): ServiceError | undefined {
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    return new ServiceError("unsupportedMediaType", "send the body as it is, without Content-Encoding");
  }
  if (headers.host !== undefined || httpVersion !== "1.1") return undefined;
  return new ServiceError("malformedBody", "the request has no Host header");
}

/** What is answered is what it says it is, also where people wrote it. */
function beTakenAtItsWord(reply: FastifyReply): void {
  void reply.header("x-content-type-options", "nosniff");
}

/** An expectation beside `100-continue` is passed over, as the standard allows: by itself, Node refuses it in no form of ours. */
function answerAllExpectations({ server }: FastifyInstance): void {
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** Source: spec "Limits": every core API response says what is left. One that was refused before it was counted left all. */
function tellCoreLimit(app: FastifyInstance, clock: () => number): void {
  const { requests, windowMs } = coreRateLimit;
  app.addHook("onSend", (request, reply, _payload, done) => {
    if (formOf(request.url) === "core" && !reply.hasHeader("ratelimit-remaining")) {
      const resetAtMs = (Math.floor(clock() / windowMs) + 1) * windowMs;
      void reply
        .header("ratelimit-remaining", requests)
        .header("ratelimit-reset", Math.ceil(resetAtMs / 1_000));
    }
    done();
  });
}

/** A call in flight is answered, and its connection is not kept for another. */
function closeConnectionsWhenStopping(app: FastifyInstance): { stopping: boolean } {
  const state = { stopping: false };
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (state.stopping) void reply.header("connection", "close");
    done();
  });
  return state;
}

/** One line a call, of its route's pattern and nothing that was sent: paths, queries and bodies hold who and what. */
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
  // Before the body is read, which may well not be one of ours.
  app.addHook("onRequest", (request, _reply, done) => {
    const path = request.url.split("?", 1)[0];
    done(
      request.is404 ? new ServiceError("unknownPath", `nothing is at ${request.method} ${path}`) : undefined,
    );
  });
}

function formOf(url: string): "core" | "status" {
  return url.startsWith("/core/") ? "core" : "status";
}
