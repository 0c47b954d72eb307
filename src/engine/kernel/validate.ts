import type * as z from "zod";
import { type Endpoint, ServiceError, missingField, invalidField } from "../../contract/index.ts";

/**
 * Applies the call's shape and batch limit to what was sent.
 * @throws ServiceError `invalidParams`; the message is that of the first problem
 */
export function validateInput(endpoint: Endpoint, input: unknown): unknown {
  checkBatch(endpoint, input);
  const parsed = endpoint.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw issue ? toServiceError(issue, input) : new ServiceError("invalidParams", "invalid parameters");
}

/** Source: spec "Errors": `Missing email`. Assumed: any other problem is worded `<field> <what is wrong>`. */
function toServiceError({ path, message }: z.core.$ZodIssue, input: unknown): ServiceError {
  const { field, value } = findField(input, path);
  if (field === "") return new ServiceError("invalidParams", `the input ${message}`);
  return message === "is missing" || value === undefined ? missingField(field) : invalidField(field, message);
}

/** What was sent, as far down the path as it goes: a text that stands for a list has no parts of its own. */
function findField(
  input: unknown,
  path: readonly PropertyKey[],
): { readonly field: string; readonly value: unknown } {
  let value = input;
  for (const [depth, key] of path.entries()) {
    if (typeof value !== "object" || value === null) return { field: path.slice(0, depth).join("."), value };
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return { field: path.join("."), value };
}

/** Counted before the elements are looked at, so that a call far too large costs nothing. */
function checkBatch({ batch }: Endpoint, input: unknown): void {
  if (batch?.max === undefined) return;
  const { value: held } = findField(input, [batch.field]);
  if (typeof held !== "object" || held === null) return;
  const came = Array.isArray(held) ? held.length : Object.keys(held).length;
  if (came <= batch.max) return;
  throw invalidField(batch.field, `holds ${came} elements, and at most ${batch.max} are allowed in one call`);
}
