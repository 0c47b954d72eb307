import { got, type Got, type Method } from "got";
import { type Effect, ServiceError } from "../contract/index.ts";
import { toServiceError } from "./connection-failure.ts";
import { Connections, forwardThrough } from "./connections.ts";
import { nameProxy, type Proxy, toProxyRefusal } from "./proxy.ts";
import type { HttpResponse } from "./response-parser.ts";

export interface WireOptions {
  readonly baseUrl: string;
  /** The proxy for all calls, if any. */
  readonly proxy?: Proxy | undefined;
  readonly userAgent?: string;
  /** Time limit for a complete response (default: 60 s). */
  readonly requestTimeoutMs?: number;
  /** Time limit for connecting (default: 10 s). */
  readonly connectTimeoutMs?: number;
}

/** A request. `target` is the path and query, relative to the base URL. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

const defaults = { requestTimeoutMs: 60_000, connectTimeoutMs: 10_000 } as const;

/** Sends requests to one service and reads complete responses. Does not follow redirects. */
export class Wire {
  /** The address of the service, as shown to users. */
  readonly shown: string;
  /** Who sent a response, for messages: possibly a proxy that forwards requests. */
  readonly responder: string;
  readonly #base: BaseUrl;
  readonly #client: Got;
  readonly #connections: Connections;
  /** A proxy that receives the requests instead of tunneling them. */
  readonly #forwarder: Proxy | undefined;

  /** @throws ServiceError `invalidParams` if the address is not valid */
  constructor(options: WireOptions) {
    const { baseUrl, proxy, userAgent = "starpost" } = options;
    const { requestTimeoutMs, connectTimeoutMs } = { ...defaults, ...options };
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
    effect: Effect,
    signal?: AbortSignal,
  ): Promise<HttpResponse> {
    try {
      const response = await this.#client(this.#base.href + target, {
        method: method as Method,
        headers: { ...headers },
        responseType: "buffer" as const,
        agent: await this.#connections.agentsFor(effect),
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      const { statusCode: status } = response;
      if (status === 407 && this.#forwarder) throw toProxyRefusal(this.#forwarder, status, this.shown);
      return { status, headers: response.headers, bytes: response.body };
    } catch (error) {
      signal?.throwIfAborted();
      throw toServiceError(error, this.shown, this.#forwarder);
    }
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
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
