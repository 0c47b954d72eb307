import { Agent as HttpAgent, type AgentOptions, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from "node:https";
import type { Effect } from "../contract/index.ts";
import type { Proxy } from "./proxy.ts";
import type { TunnelOptions } from "./proxy-agents.ts";

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
    if (!tunnel) {
      return (options) => (isSecure ? { https: new HttpsAgent(options) } : { http: new HttpAgent(options) });
    }
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
