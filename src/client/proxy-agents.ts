import { HttpsProxyAgent } from "https-proxy-agent";
import type { AgentOptions, ClientRequest } from "node:http";
import type { Duplex } from "node:stream";
import { describeConnectError } from "./connection-failure.ts";
import { toProxyFailure, toProxyRefusal, type Proxy } from "./proxy.ts";

/** The proxy of a tunnel, and its destination. */
export interface TunnelOptions {
  readonly proxy: Proxy;
  /** The address of the service, as shown to users. */
  readonly service: string;
  /** Time limit for opening the tunnel. */
  readonly withinMs: number;
}

interface ConnectAnswer {
  readonly statusCode?: number;
}

/** Opens tunnels to TLS services through a proxy. Failures are attributed to the proxy. */
export class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #options: TunnelOptions;

  constructor(options: TunnelOptions, agentOptions: AgentOptions) {
    const { address, authorization } = options.proxy;
    const headers = authorization === undefined ? {} : { "Proxy-Authorization": authorization };
    super(address, { ...agentOptions, headers });
    this.#options = options;
  }

  /** @throws ServiceError */
  override async connect(...asked: Parameters<HttpsProxyAgent<string>["connect"]>) {
    const { proxy, service, withinMs } = this.#options;
    const [request] = asked;
    const answer = listenForAnswer(request);
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), withinMs);
    try {
      // `super.connect` reads it immediately. It closes the connection to a proxy that does not respond.
      this.connectOpts = { ...this.connectOpts, signal: patience.signal };
      const socket: Duplex = await super.connect(...asked);
      if (answer.status === 200) return socket as Awaited<ReturnType<HttpsProxyAgent<string>["connect"]>>;
      socket.destroy();
    } catch (error) {
      const late = { code: "ETIMEDOUT" };
      throw toProxyFailure(proxy, describeConnectError(patience.signal.aborted ? late : error), error);
    } finally {
      clearTimeout(timer);
    }
    throw toProxyRefusal(proxy, answer.status, service);
  }
}

function listenForAnswer(request: ClientRequest): { status: number } {
  const answer = { status: 200 };
  request.once("proxyConnect", ({ statusCode = 200 }: ConnectAnswer) => {
    answer.status = statusCode;
  });
  return answer;
}
