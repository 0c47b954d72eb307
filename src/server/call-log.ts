import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { Role } from "../contract/index.ts";

/** Who made a call, as far as the service has verified it. */
interface LoggedCaller {
  readonly account: string;
  readonly caller: string;
  readonly role: Role | undefined;
}

const callers = new WeakMap<FastifyRequest, LoggedCaller>();

/**
 * Remembers who made a call, for its line in the log.
 * @param utoken the valid token of the call, if it has one; only the beginning of its hash is logged, to distinguish
 *   integrations
 */
export function noteCaller(
  request: FastifyRequest,
  { appKey, role }: { readonly appKey: string; readonly role?: Role | undefined },
  utoken: string | undefined,
): void {
  const mark = utoken === undefined ? undefined : createHash("sha256").update(utoken).digest("hex").slice(0, 8);
  callers.set(request, { account: appKey, caller: mark === undefined ? "public" : `token-${mark}`, role });
}

/** Logs one line per call, with the route pattern only: paths, queries, and bodies contain personal data. */
export function addCallLog(app: FastifyInstance, log: Logger): void {
  app.addHook("onRequest", (request, reply, done) => {
    // Without a complete response, no other hook runs.
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished) logCall(log, request, reply);
    });
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    logCall(log, request, reply);
    done();
  });
}

export function logCall(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { account = null, caller = "public", role } = callers.get(request) ?? {};
  const { url, config } = request.routeOptions;
  log.info(
    {
      id: request.id,
      account,
      caller,
      role,
      method: request.method,
      route: url ?? "(unknown)",
      operation: config?.operation ?? null,
      status: reply.raw.writableFinished ? reply.statusCode : null,
      duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    },
    "call",
  );
}
