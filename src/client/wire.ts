import { got, type Got, type Method, type Request } from "got";
import { type Effect, ServiceError } from "../contract/index.ts";
import { toServiceError } from "./connection-failure.ts";
import { nameProxy, type Proxy, toProxyRefusal } from "./proxy.ts";
import type { HttpResponse } from "./response-parser.ts";
import {
  Agent as HttpAgent,
  type AgentOptions,
  type ClientRequest,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from "node:https";
import { TLSSocket } from "node:tls";
import type { TunnelOptions } from "./proxy-agents.ts";

export interface WireOptions {
  readonly baseUrl: string;
  /** The proxy for all calls, if any. */
  readonly proxy?: Proxy | undefined;
  readonly userAgent?: string;
  /** Time limit for a complete response (default: 60 s). */
  readonly requestTimeoutMs?: number;
  /** Time limit for connecting (default: 10 s). */
  readonly connectTimeoutMs?: number;
  /** Maximum size of a decompressed response body, in bytes (default: 64 MiB). */
  readonly maxResponseBytes?: number;
}

/** A request. `target` is the path and query, relative to the base URL. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface SendOptions {
  readonly effect: Effect;
  readonly signal?: AbortSignal | undefined;
  /** Called when there is a connection, on which the request is then sent. */
  readonly onSent?: (() => void) | undefined;
}

const defaults = { requestTimeoutMs: 60_000, connectTimeoutMs: 10_000, maxResponseBytes: 64 * 1_024 * 1_024 } as const;

/** Sends requests to one service and reads complete responses. Does not follow redirects. */
export class Wire {
  /** The address of the service, as shown to users. */
  readonly shown: string;
  /** Who sent a response, for messages: possibly a proxy that forwards requests. */
  readonly responder: string;
  readonly #base: BaseUrl;
  readonly #client: Got;
  readonly #maxResponseBytes: number;
  readonly #connections: Connections;
  /** A proxy that receives the requests instead of tunneling them. */
  readonly #forwarder: Proxy | undefined;

  /** @throws ServiceError `invalidParams` if the address is not valid */
  constructor(options: WireOptions) {
    const { baseUrl, proxy, userAgent = "starpost" } = options;
    const { requestTimeoutMs, connectTimeoutMs, maxResponseBytes } = { ...defaults, ...options };
    this.#maxResponseBytes = maxResponseBytes;
    this.#base = parseBaseUrl(baseUrl);
    this.shown = this.#base.shown;
    const isSecure = this.shown.startsWith("https:");
    const withinMs = Math.min(connectTimeoutMs, requestTimeoutMs);
    this.#forwarder = isSecure ? undefined : proxy;
    const forwarder = this.#forwarder;
    this.responder = forwarder ? `${this.shown}, or ${nameProxy(forwarder)},` : this.shown;
    this.#connections = new Connections({
      isSecure: forwarder ? forwarder.address.startsWith("https:") : isSecure,
      tunnel: proxy && isSecure ? { proxy, service: this.shown, withinMs } : undefined,
    });
    this.#client = got.extend({
      retry: { limit: 0 },
      throwHttpErrors: false,
      followRedirect: false,
      timeout: { request: requestTimeoutMs, connect: withinMs },
      headers: { "user-agent": userAgent },
      ...(forwarder && { request: forwardThrough(forwarder) }),
    });
  }

  /** @throws ServiceError `unavailable`, `timeout`, `unexpectedAnswer`; the signal's reason if it is aborted */
  async send(
    { method, target, headers, body }: WireRequest,
    { effect, signal, onSent }: SendOptions,
  ): Promise<HttpResponse> {
    try {
      const request = this.#client.stream(this.#base.href + target, {
        method: method as Method,
        headers: { ...headers },
        agent: await this.#connections.agentsFor(effect),
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      if (onSent) request.once("request", (sent: ClientRequest) => whenConnected(sent, onSent));
      // A stream expects the body to be written, unless the method has none.
      if (body === undefined && !/^(?:get|head)$/i.test(method)) request.end();
      const bytes = await this.#readBody(request);
      const { statusCode: status = 0, headers: received = {} } = request.response ?? {};
      if (status === 407 && this.#forwarder) throw toProxyRefusal(this.#forwarder, status, this.shown);
      return { status, headers: received, bytes };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ServiceError) throw error;
      throw toServiceError(error, this.shown, this.#forwarder);
    }
  }

  /** Reads the decompressed body. Stops at the limit: a small compressed body can expand to any size. */
  async #readBody(request: Request): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    // The loop rejects with errors; later ones, such as an abort after the response, have no effect.
    request.on("error", () => {});
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > this.#maxResponseBytes) throw this.#describeTooLarge();
        chunks.push(chunk);
      }
    } finally {
      request.destroy();
    }
    return Buffer.concat(chunks);
  }

  #describeTooLarge(): ServiceError {
    const limit = `${this.#maxResponseBytes / 1_024 ** 2} MiB`;
    return new ServiceError("unexpectedAnswer", `${this.shown} sent a response of more than ${limit}`, {
      outcomeUnknown: true,
      hint: "request fewer records at once, and check the address of the service",
    });
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

function whenConnected(request: ClientRequest, onConnected: () => void): void {
  request.once("socket", (socket) => {
    if (!socket.connecting) onConnected();
    else socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", onConnected);
  });
}

/** Where a service is. */
interface BaseUrl {
  /** Without a trailing slash. Paths of the contract are appended to it. */
  readonly href: string;
  /** As shown to users: without user name and password. */
  readonly shown: string;
}

/**
 * Parses the address of a service, which may contain a path.
 * @throws ServiceError `invalidParams`
 */
function parseBaseUrl(text: string): BaseUrl {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw invalidAddress(text, "is not a URL", error);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw invalidAddress(text, "does not start with http:// or https://");
  }
  url.search = "";
  url.hash = "";
  const href = url.href.replace(/(?<!\/)\/+$/, "");
  url.username = "";
  url.password = "";
  return { href, shown: url.href.replace(/(?<!\/)\/+$/, "") };
}

function invalidAddress(text: string, reason: string, cause?: unknown): ServiceError {
  return new ServiceError("invalidParams", `the address of the service ${reason}: ${text}`, {
    hint: "use an address such as https://host, https://host:port, or https://host/path",
    cause,
  });
}

/** Maximum number of connections. Further calls wait. */
const maxSockets = 32;

/** The agent for the scheme of the service. The other one is absent. */
export interface Agents {
  readonly http?: HttpAgent;
  readonly https?: HttpsAgent;
}

interface Pools {
  readonly reused: Agents;
  readonly unshared: Agents;
}

export interface Route {
  /** Whether the service uses TLS. */
  readonly isSecure: boolean;
  /** The tunnel, if the service is reached through a proxy. */
  readonly tunnel?: TunnelOptions | undefined;
}

/** The connections to a service: direct, through a tunnel, or to the proxy that forwards requests. */
export class Connections {
  readonly #route: Route;
  #pools: Promise<Pools> | undefined;

  constructor(route: Route) {
    this.#route = route;
  }

  /**
   * The service may close an idle connection just as a request is sent. The outcome of that request is then unknown, so
   * calls that must not be repeated get a new connection.
   */
  async agentsFor(effect: Effect): Promise<Agents> {
    this.#pools ??= this.#open();
    const { reused, unshared } = await this.#pools;
    return effect === "once" ? unshared : reused;
  }

  async close(): Promise<void> {
    const pools = await this.#pools?.catch(() => undefined);
    for (const { http, https } of pools ? [pools.reused, pools.unshared] : []) {
      http?.destroy();
      https?.destroy();
    }
  }

  async #open(): Promise<Pools> {
    const open = await this.#chooseAgents();
    return { reused: open({ keepAlive: true, maxSockets }), unshared: open({ maxSockets }) };
  }

  async #chooseAgents(): Promise<(options: AgentOptions) => Agents> {
    const { isSecure, tunnel } = this.#route;
    if (!tunnel) return (options) => (isSecure ? { https: new HttpsAgent(options) } : { http: new HttpAgent(options) });
    // Loaded on demand: most connections are direct.
    const { TunnelAgent } = await import("./proxy-agents.ts");
    return (options) => ({ https: new TunnelAgent(tunnel, options) });
  }
}

/**
 * Sends requests to a proxy that forwards them, with the complete address of the service instead of a path. Used for
 * services without TLS, because many proxies open tunnels only for TLS.
 */
export function forwardThrough({ address, authorization }: Proxy) {
  const proxy = new URL(address);
  const isSecure = proxy.protocol === "https:";
  const request = isSecure ? requestHttps : requestHttp;
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const port = proxy.port || (isSecure ? 443 : 80);
  const headers = authorization === undefined ? {} : { "proxy-authorization": authorization };
  return (url: URL, { headers: own, ...options }: RequestOptions) =>
    request({
      ...options,
      protocol: proxy.protocol,
      host,
      hostname: host,
      port,
      path: url.href,
      auth: null,
      headers: { ...(own as OutgoingHttpHeaders), ...headers, host: url.host },
    });
}
