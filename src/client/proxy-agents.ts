import { HttpsProxyAgent } from "https-proxy-agent";
import type { AgentOptions, ClientRequest } from "node:http";
import type { Duplex } from "node:stream";
import { describeUnconnected } from "./connection-failure.ts";
import { asProxyFailure, asProxyRefusal, type Proxy } from "./proxy.ts";

/** What tunnels lead through, and to. */
export interface TunnelOptions {
  readonly proxy: Proxy;
  /** The service as it is shown. */
  readonly service: string;
  /** For a connection to the proxy, and for its leave to go on. */
  readonly withinMs: number;
}

/** What a proxy answered to CONNECT. */
interface ConnectAnswer {
  readonly statusCode?: number;
}

/** Makes tunnels through a proxy to what speaks TLS, in the time allowed. What fails on the way is said to be the proxy's. */
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
      // Read at once by what follows; a silent proxy's connection is closed by it.
      this.connectOpts = { ...this.connectOpts, signal: patience.signal };
      const socket: Duplex = await super.connect(...asked);
      if (answer.status === 200) return socket as Awaited<ReturnType<HttpsProxyAgent<string>["connect"]>>;
      socket.destroy();
    } catch (error) {
      const late = { code: "ETIMEDOUT" };
      throw asProxyFailure(proxy, describeUnconnected(patience.signal.aborted ? late : error), error);
    } finally {
      clearTimeout(timer);
    }
    throw asProxyRefusal(proxy, answer.status, service);
  }
}

function listenForAnswer(request: ClientRequest): { status: number } {
  const answer = { status: 200 };
  request.once("proxyConnect", ({ statusCode = 200 }: ConnectAnswer) => {
    answer.status = statusCode;
  });
  return answer;
}
