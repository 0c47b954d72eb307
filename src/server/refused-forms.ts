import type { FastifyReply, FastifyRequest } from "fastify";
import { endpointOf, type ErrorKind, httpStatusOf, isJsonObject, ServiceError } from "../contract/index.ts";
import { pages } from "../pages/pages.ts";
import { addRetryAfter, leaveUnread } from "./error-response.ts";
import { answer, type Answering } from "./response.ts";

/** Errors after which a form can be submitted again. */
const repeatable: ReadonlySet<ErrorKind> = new Set(["tooManyRequests", "unavailable", "bodyTooLarge"]);

interface RefusedForm extends Answering {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Shows the form of a page again if a call of it was refused, with what was typed.
 * @returns undefined if the page has none, or cannot be shown
 */
export async function showFormAgain(error: unknown, { request, reply, ...answering }: RefusedForm): Promise<unknown> {
  const { operation: refused, isPage = false } = request.routeOptions.config;
  const operation = isPage && refused ? pages.get(refused)?.form : undefined;
  const page = operation && pages.get(operation);
  if (!refused || !page || !(error instanceof ServiceError) || !repeatable.has(error.kind)) return undefined;
  const { kind, retryAfterMs } = error;
  // Without a body, what was typed would be lost.
  if (!isJsonObject(request.body) && !endpointOf(refused).hasFile) return undefined;
  const typed = readTexts(request.body);
  const shown = {
    ...page,
    render: (value: unknown, context: Parameters<typeof page.render>[1]) =>
      page.render(value, { ...context, refusal: { kind, retryAfterMs, typed } }),
  };
  try {
    const format = { operation, endpoint: endpointOf(operation), page: shown };
    const body = await answer(request, reply, { ...format, ...answering });
    leaveUnread(request, reply);
    addRetryAfter(error, reply.code(httpStatusOf(kind, "status")));
    return body;
  } catch {
    return undefined;
  }
}

function readTexts(body: unknown): Readonly<Record<string, string>> {
  const fields = isJsonObject(body) ? Object.entries(body) : [];
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === "string"));
}
