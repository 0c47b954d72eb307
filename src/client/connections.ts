import {
  Agent as HttpAgent,
  type AgentOptions,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from "node:https";
import type { Effect } from "../contract/index.ts";
import type { Proxy } from "./proxy.ts";
import type { TunnelOptions } from "./proxy-agents.ts";

/** Connections at once; calls beyond wait for one. */
const maxSockets = 32;

/** One is there, for the scheme of what is connected to; the other is never asked for. */
export interface Agents {
  readonly http?: HttpAgent;
  readonly https?: HttpsAgent;
}

interface Pools {
  readonly kept: Agents;
  readonly fresh: Agents;
}

export interface Route {
  /** Whether the service speaks TLS. */
  readonly isSecure: boolean;
  /** Where the service is reached through a proxy. */
  readonly tunnel?: TunnelOptions | undefined;
}

/** The connections to one service, straight, through a tunnel, or to the proxy that forwards requests to it. */
export class Connections {
  readonly #route: Route;
  #pools: Promise<Pools> | undefined;

  constructor(route: Route) {
    this.#route = route;
  }

  /**
   * A kept connection may be closed by the service just as a request goes out, and then nobody knows whether it was
   * carried out. A call that must not be done twice has a connection of its own.
   */
  async agentsFor(effect: Effect): Promise<Agents> {
    this.#pools ??= this.#open();
    const { kept, fresh } = await this.#pools;
    return effect === "once" ? fresh : kept;
  }

  async close(): Promise<void> {
    const pools = await this.#pools?.catch(() => undefined);
    for (const { http, https } of pools ? [pools.kept, pools.fresh] : []) {
      http?.destroy();
      https?.destroy();
    }
  }

  async #open(): Promise<Pools> {
    const open = await this.#chooseAgents();
    return { kept: open({ keepAlive: true, maxSockets }), fresh: open({ maxSockets }) };
  }

  async #chooseAgents(): Promise<(options: AgentOptions) => Agents> {
    const { isSecure, tunnel } = this.#route;
    if (!tunnel) {
      return (options) => (isSecure ? { https: new HttpsAgent(options) } : { http: new HttpAgent(options) });
    }
    // What makes tunnels is loaded where one is needed.
    const { TunnelAgent } = await import("./proxy-agents.ts");
    return (options) => ({ https: new TunnelAgent(tunnel, options) });
  }
}

/**
 * Sends requests to a proxy that forwards them: with the service's whole address in place of a path. What must not be
 * encrypted on the way to the service is not tunnelled, since many proxies tunnel to nothing but TLS.
 */
export function forwardBy({ address, authorization }: Proxy) {
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
