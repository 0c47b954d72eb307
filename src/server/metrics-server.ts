import { fastify } from "fastify";
import { addHealthPaths } from "./health.ts";
import { listenOn } from "./listen.ts";
import type { Metrics } from "./metrics.ts";

/** Serves `/metrics`, and the paths that state the health of the process, on a listener of its own. */
export interface MetricsServer {
  /**
   * Starts listening. Port 0 selects a free port.
   * @throws ListenError
   */
  listen(where: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>;
  close(): Promise<void>;
}

export function createMetricsServer(metrics: Metrics, isReady: () => Promise<boolean>): MetricsServer {
  const app = fastify({ logger: false, forceCloseConnections: true, requestTimeout: 10_000 });
  addHealthPaths(app, isReady);
  app.get("/metrics", { exposeHeadRoute: true }, async (_request, reply) => {
    const text = await metrics.read();
    return reply.type(metrics.contentType).header("cache-control", "no-store").send(text);
  });
  return {
    listen: (where) => listenOn(app, where),
    close: () => app.close(),
  };
}
