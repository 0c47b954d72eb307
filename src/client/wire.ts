import { got, type Got, type Method } from "got";
import type { Effect } from "../contract/index.ts";
import { type BaseUrl, parseBaseUrl } from "./base-url.ts";
import { asServiceError } from "./connection-failure.ts";
import { Connections, forwardBy } from "./connections.ts";
import { asProxyRefusal, nameProxy, type Proxy } from "./proxy.ts";
import type { Answer } from "./read-answer.ts";

export interface WireOptions {
  readonly baseUrl: string;
  /** What the service is reached through; straight where absent. */
  readonly proxy?: Proxy | undefined;
  readonly userAgent?: string;
  /** From sending a request to its whole answer; 60 s where absent. */
  readonly requestTimeoutMs?: number;
  /** For a connection; 10 s where absent. */
  readonly connectTimeoutMs?: number;
}

/** A request, its path and query to be put behind the base URL. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

const defaults = { requestTimeoutMs: 60_000, connectTimeoutMs: 10_000 } as const;

/** The way to one service: requests go out, whole answers come back, and none is asked for elsewhere. */
export class Wire {
  /** The service as a person is shown it. */
  readonly shown: string;
  /** As an answer is told of: a proxy that does not tunnel may have given it. */
  readonly answerer: string;
  readonly #base: BaseUrl;
  readonly #client: Got;
  readonly #connections: Connections;
  /** A proxy that gets the requests themselves. */
  readonly #forwarder: Proxy | undefined;

  /** @throws ServiceError `invalidParams` when the address is none */
  constructor(options: WireOptions) {
    const { baseUrl, proxy, userAgent = "starpost" } = options;
    const { requestTimeoutMs, connectTimeoutMs } = { ...defaults, ...options };
    this.#base = parseBaseUrl(baseUrl);
    this.shown = this.#base.shown;
    const isSecure = this.shown.startsWith("https:");
    const withinMs = Math.min(connectTimeoutMs, requestTimeoutMs);
    this.#forwarder = isSecure ? undefined : proxy;
    const forwarder = this.#forwarder;
    this.answerer = forwarder ? `${this.shown}, or ${nameProxy(forwarder)} before it,` : this.shown;
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
      ...(forwarder && { request: forwardBy(forwarder) }),
    });
  }

  /** @throws ServiceError `unavailable`, `timeout`, `unexpectedAnswer`; the signal's reason when it is aborted */
  async send(
    { method, target, headers, body }: WireRequest,
    effect: Effect,
    signal?: AbortSignal,
  ): Promise<Answer> {
    try {
      const answer = await this.#client(this.#base.href + target, {
        method: method as Method,
        headers: { ...headers },
        responseType: "buffer" as const,
        agent: await this.#connections.agentsFor(effect),
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      const { statusCode: status } = answer;
      if (status === 407 && this.#forwarder) throw asProxyRefusal(this.#forwarder, status, this.shown);
      return { status, headers: answer.headers, bytes: answer.body };
    } catch (error) {
      signal?.throwIfAborted();
      throw asServiceError(error, this.shown, this.#forwarder);
    }
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}
