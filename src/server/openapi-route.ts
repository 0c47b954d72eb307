import type { FastifyInstance } from "fastify";
import type { About } from "./openapi/document.ts";

/** Answers `/openapi.json`. The document is made when it is first asked for. */
export function addDocument(app: FastifyInstance, about: () => About): void {
  let made: Promise<string> | undefined;
  app.get("/openapi.json", { exposeHeadRoute: true }, async (_request, reply) => {
    made ??= makeDocument(about());
    return reply.type("application/json; charset=utf-8").send(await made);
  });
}

async function makeDocument(about: About): Promise<string> {
  const { createDocument } = await import("./openapi/document.ts");
  return JSON.stringify(createDocument(about));
}
