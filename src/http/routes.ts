import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import type { Logger } from "pino";
import {
  type Endpoint,
  type ErrorForm,
  operations,
  type OperationName,
  ServiceError,
} from "../contract/index.ts";
import type { CallEvent, Transport } from "../service/transport.ts";
import { acceptForms } from "./body-parsers.ts";
import { decodeCall } from "./decode-call.ts";
import { sendRefusal } from "./refusal.ts";

interface Route {
  readonly operation: OperationName;
  readonly endpoint: Endpoint;
  readonly path: string;
}

const everyMethod: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Adds a route for every path of every call of the contract, and a refusal for every other method of those paths.
 * Source: spec "Endpoints". Assumed: calls whose errors have the OAuth form also take form-encoded bodies.
 */
export function addRoutes(app: FastifyInstance, transport: Transport, log: Logger): void {
  const routes = listRoutes();
  for (const group of groupBy(routes, ({ endpoint }) => endpoint.errorForm)) {
    const form = group[0].endpoint.errorForm;
    // Each form is a scope of its own, which has its own body parsers and error handler.
    void app.register((scope, _options, done) => {
      if (form === "oauth") acceptForms(scope);
      scope.setErrorHandler((error, request, reply) => sendRefusal(error, { request, reply, form, log }));
      for (const route of group) addRoute(scope, route, transport);
      done();
    });
  }
  for (const group of groupBy(routes, ({ path }) => path.replaceAll(/:\w+/g, ":"))) {
    refuseOtherMethods(app, group[0], allowedMethods(group), log);
  }
}

type Group = readonly [Route, ...Route[]];

function groupBy(routes: readonly Route[], keyOf: (route: Route) => string): readonly Group[] {
  const groups = new Map<string, [Route, ...Route[]]>();
  for (const route of routes) {
    const group = groups.get(keyOf(route));
    if (group) group.push(route);
    else groups.set(keyOf(route), [route]);
  }
  return [...groups.values()];
}

function listRoutes(): readonly Route[] {
  return [...operations].flatMap(([operation, endpoint]) =>
    endpoint.paths.map((path) => ({ operation, endpoint, path: path.replaceAll(/\{(\w+)\}/g, ":$1") })),
  );
}

function addRoute(app: FastifyInstance, { operation, endpoint, path }: Route, transport: Transport): void {
  app.route({
    method: endpoint.method,
    url: path,
    // HEAD runs the call, so it is there only where a call changes nothing.
    exposeHeadRoute: endpoint.method === "GET" && endpoint.effect === "read",
    handler: (request, reply) => answer(request, reply, { operation, endpoint, transport }),
  });
}

async function answer(
  { params, query, body, headers }: FastifyRequest,
  reply: FastifyReply,
  { operation, endpoint, transport }: Omit<Route, "path"> & { readonly transport: Transport },
): Promise<unknown> {
  const { input, caller } = decodeCall(endpoint, { path: params, query, body, headers });
  const onEvent = (event: CallEvent) => {
    if (event.type !== "limit") return;
    void reply.header("ratelimit-remaining", event.remaining).header("ratelimit-reset", event.resetAtSeconds);
  };
  // Not yet checked: that is the work of whatever answers.
  const value = await transport.call(operation, input, caller, { onEvent });
  return endpoint.reply.encode(value);
}

function allowedMethods(group: Group): readonly string[] {
  const own = group.map(({ endpoint }) => endpoint.method);
  const head = group.some(({ endpoint }) => endpoint.method === "GET" && endpoint.effect === "read");
  return head ? [...own, "HEAD"] : own;
}

function refuseOtherMethods(
  app: FastifyInstance,
  { path, endpoint }: Route,
  allowed: readonly string[],
  log: Logger,
): void {
  const form: ErrorForm = endpoint.errorForm;
  app.route({
    method: everyMethod.filter((method) => !allowed.includes(method)),
    url: path,
    errorHandler: (error, request, reply) => void sendRefusal(error, { request, reply, form, log }),
    // Before the body is read, which may well not be one of ours.
    onRequest: async (request, reply) => {
      void reply.header("allow", allowed.join(", "));
      throw new ServiceError(
        "methodNotAllowed",
        `${request.method} is not allowed here; allowed: ${allowed.join(", ")}`,
      );
    },
    handler: () => {},
  });
}
