import type { FastifyInstance } from "fastify";

/** Adds `/healthz`, which answers while the process runs, and `/readyz`, which answers 503 while calls would fail. */
export function addHealthPaths(app: FastifyInstance, isReady: () => Promise<boolean>): void {
  const options = { exposeHeadRoute: true };
  app.get("/healthz", options, () => ({ status: "ok" }));
  app.get("/readyz", options, async (_request, reply) => {
    const isOk = await isReady();
    void reply.code(isOk ? 200 : 503).header("cache-control", "no-store");
    return { status: isOk ? "ok" : "unavailable" };
  });
}
