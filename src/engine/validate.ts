import type { z } from "zod";
import { type Endpoint, ServiceError } from "../contract/index.ts";

/**
 * Applies the call's shape and batch limit to what was sent.
 * @throws ServiceError `invalidParams`; the message is that of the first problem
 */
export function validateInput(endpoint: Endpoint, input: unknown): unknown {
  checkBatch(endpoint, input);
  const parsed = endpoint.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ServiceError("invalidParams", issue ? wordIssue(issue, input) : "invalid parameters");
}

/** Source: spec "Errors": `Missing email`. Assumed: any other problem is worded `<field> <what is wrong>`. */
function wordIssue(issue: z.core.$ZodIssue, input: unknown): string {
  const field = issue.path.join(".");
  if (field === "") return `the input ${issue.message}`;
  const isMissing = issue.message === "is missing" || valueAt(input, issue.path) === undefined;
  return isMissing ? `Missing ${field}` : `${field} ${issue.message}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (held, key) =>
      typeof held === "object" && held !== null ? (held as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
}

/** Counted before the elements are looked at, so that a call far too large costs nothing. */
function checkBatch({ batch }: Endpoint, input: unknown): void {
  if (batch?.max === undefined) return;
  const held = valueAt(input, [batch.field]);
  if (typeof held !== "object" || held === null) return;
  const came = Array.isArray(held) ? held.length : Object.keys(held).length;
  if (came <= batch.max) return;
  throw new ServiceError(
    "invalidParams",
    `${batch.field} holds ${came} elements, and at most ${batch.max} are allowed in one call`,
  );
}
