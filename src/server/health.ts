import type { FastifyInstance } from "fastify";

/** Whether calls can be answered, and what impairs them, as a code for programs. */
export interface Readiness {
  readonly isReady: boolean;
  readonly problem?: string | undefined;
  /** Servers of a cluster that cannot be reached: calls for the accounts there fail. */
  readonly nodes?: readonly string[] | undefined;
}

/** Adds `/healthz`, which answers while the process runs, and `/readyz`, which answers 503 while calls would fail. */
export function addHealthPaths(app: FastifyInstance, readReadiness: () => Promise<Readiness>): void {
  const options = { exposeHeadRoute: true };
  app.get("/healthz", options, () => ({ status: "ok" }));
  app.get("/readyz", options, async (_request, reply) => {
    const { isReady, ...impairment } = await readReadiness();
    void reply.code(isReady ? 200 : 503).header("cache-control", "no-store");
    return { status: isReady ? "ok" : "unavailable", ...impairment };
  });
}
