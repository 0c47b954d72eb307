import type { Endpoint } from "../../src/contract/index.ts";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** What no response may reveal: source locations, the runtime, and the database. */
const internals = /\n\s+at |node:internal|node_modules|\/src\/|\.[jt]s:\d|SQLITE|sqlite|postgres|relation "|ENOENT/;

/** Describes what is wrong with a response, or returns undefined if nothing is. */
export function findFault(
  { status, type, text }: Reply,
  { supportsJsonp, htmlPaths, reply }: Endpoint,
): string | undefined {
  if (internals.test(text)) return "reveals internals";
  if (text.includes("InternalError")) return "is an internal error";
  if (status === 204 && text === "") return undefined;
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && htmlPaths && type.startsWith("text/html")) return undefined;
  if (isSuccess && supportsJsonp === true && type.startsWith("application/javascript")) return undefined;
  if (isSuccess && reply.media === "bytes" && type.startsWith("image/")) return undefined;
  if (!type.startsWith("application/json")) return `is not JSON but ${type}`;
  return findJsonFault(status, text);
}

function findJsonFault(status: number, text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { status?: { error_type?: string } };
    const isSpecified = body.status?.error_type === "Exceptions::InvalidParams";
    return status >= 500 && !isSpecified ? "is a server error" : undefined;
  } catch {
    return "has a JSON content type but an invalid body";
  }
}
