import type { FastifyInstance, HTTPMethods } from "fastify";
import type { Logger } from "pino";
import { bodyLimitOf, type Endpoint, type OperationName, operations, ServiceError } from "../contract/index.ts";
import { listPathVariants } from "../contract/find-operation.ts";
import { pages } from "../pages/pages.ts";
import { compress } from "./compression.ts";
import { addCacheHeaders } from "./cache-headers.ts";
import { answer, type Answering, type ResponseFormat } from "./response.ts";
import { acceptBodies, type Bodies, type BodyReader } from "./body-parsers.ts";
import type { Chaos } from "./chaos.ts";
import { refuse, sendRefusal } from "./error-response.ts";
import { showFormAgain } from "./refused-forms.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    readonly operation?: OperationName;
    /** Whether the response is an HTML page. */
    readonly isPage?: boolean;
  }
}

interface Route extends ResponseFormat {
  readonly path: string;
  readonly bodies: Bodies;
}

/** What all routes share. */
export interface Serving extends Answering {
  readonly log: Logger;
  readonly reader: BodyReader;
  readonly chaos: Chaos | undefined;
  /** The maximum size of bodies, in bytes, if the limit of an operation is larger. */
  readonly bodyLimit: number;
}

const everyMethod: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Adds a route for every path of every call in the contract, and rejects all other methods of those paths.
 * Source: spec "Endpoints".
 */
export function addRoutes(app: FastifyInstance, serving: Serving): void {
  const { log, turns, reader } = serving;
  const routes = listRoutes();
  const formatOf = ({ endpoint, bodies }: Route) => `${endpoint.errorForm} ${bodies}`;
  for (const [format, { endpoint, bodies }] of new Map(routes.map((route) => [formatOf(route), route]))) {
    const form = endpoint.errorForm;
    // Each body format has its own Fastify scope, with its own body parsers and error handler.
    void app.register((scope, _options, done) => {
      acceptBodies(scope, reader, bodies);
      scope.setErrorHandler(async (error, request, reply) => {
        const again = await showFormAgain(error, { request, reply, ...serving });
        return again ?? refuse(error, { request, reply, form, log, turns });
      });
      for (const route of routes.filter((one) => formatOf(one) === format)) addRoute(scope, route, serving);
      done();
    });
  }
  const shapes = routes.map(({ path }) => path.replaceAll(/:\w+/g, ":"));
  for (const shape of new Set(shapes)) {
    const group = routes.filter((_, at) => shapes[at] === shape);
    refuseOtherMethods(app, group, serving);
  }
}

function listRoutes(): readonly Route[] {
  return [...operations].flatMap(([operation, endpoint]) => {
    const { paths, htmlPaths = [] } = endpoint;
    const page = pages.get(operation);
    if (htmlPaths.length > 0 && !page) throw new Error(`no page shows ${operation}`);
    // Assumed: calls whose errors have the OAuth form also take form-encoded bodies.
    const bodies = endpoint.signedBody ? "signed" : endpoint.errorForm === "oauth" ? "forms" : "json";
    const route = (path: string): Route => {
      return { operation, endpoint, path: path.replaceAll(/\{(\w+)\}/g, ":$1"), bodies };
    };
    // Without a form, a page is posted by its button or by an email program (RFC 8058), in any encoding.
    const pageBodies = !endpoint.hasForm ? "anything" : endpoint.hasFile ? "fileForm" : "pageForm";
    const pageRoute = (path: string): Route => ({ ...route(path), page, bodies: pageBodies });
    const own = [...new Set(paths.flatMap(listPathVariants))].map(route);
    return own.concat(htmlPaths.map(pageRoute));
  });
}

function addRoute(app: FastifyInstance, route: Route, { log, chaos, bodyLimit, ...answering }: Serving): void {
  const { operation, endpoint, path, page } = route;
  app.route({
    method: [...methodsOf(endpoint)],
    url: path,
    config: { operation, isPage: page !== undefined },
    bodyLimit: Math.min(bodyLimit, bodyLimitOf(endpoint)),
    // HEAD runs the call, so it is available only if the call changes nothing or has a field to prevent changes.
    exposeHeadRoute: hasHead(endpoint),
    ...(isForBrowsers(endpoint) && {
      onRequest: async (_request, reply) => void reply.header("access-control-allow-origin", "*"),
    }),
    onSend: [addCacheHeaders(endpoint), compress],
    handler: (request, reply) => {
      const work = () => answer(request, reply, { ...route, ...answering });
      return chaos ? chaos.answer({ operation, request, reply, log }, work) : work();
    },
  });
}

/**
 * Whether pages of other sites may make the call. Calls from shoppers' browsers, without token or cookie, may come from any
 * shop. Assumed (not in the specification): calls that need a token, return a secret, or are signed come from servers only.
 */
function isForBrowsers({ auth, returnsSecret = false, signedBody }: Endpoint): boolean {
  return (auth === "open" || auth === "account") && !returnsSecret && !signedBody;
}

const preflightHeaders = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "content-type",
  "access-control-max-age": "86400",
};

function methodsOf({ method, alsoGet = false }: Endpoint): readonly Endpoint["method"][] {
  return alsoGet ? ["GET", method] : [method];
}

function hasHead({ method, effect, headField }: Endpoint): boolean {
  return method === "GET" && (effect === "read" || headField !== undefined);
}

/** Responds to OPTIONS with the allowed methods, and rejects all other methods. */
function refuseOtherMethods(
  app: FastifyInstance,
  group: readonly Route[],
  { log, turns }: Pick<Serving, "log" | "turns">,
): void {
  const own = group.flatMap(({ endpoint }) => methodsOf(endpoint));
  const head = group.some(({ endpoint }) => hasHead(endpoint)) ? ["HEAD"] : [];
  const allowed: readonly string[] = [...own, ...head, "OPTIONS"];
  const allow = allowed.join(", ");
  const isShared = group.every(({ endpoint }) => isForBrowsers(endpoint));
  const [first] = group;
  if (!first) return;
  app.route({
    method: everyMethod.filter((method) => method === "OPTIONS" || !allowed.includes(method)),
    url: first.path,
    config: { isPage: group.some(({ page }) => page !== undefined) },
    errorHandler: (error, request, reply) =>
      sendRefusal(error, { request, reply, form: first.endpoint.errorForm, log, turns }),
    // Before the body is read, which may have any format.
    onRequest: async (request, reply) => {
      void reply.header("allow", allow);
      if (isShared) void reply.headers({ ...preflightHeaders, "access-control-allow-methods": allow });
      if (request.method === "OPTIONS") return reply.code(204).send();
      throw new ServiceError("methodNotAllowed", `${request.method} is not allowed here; allowed: ${allow}`);
    },
    handler: () => {},
  });
}
