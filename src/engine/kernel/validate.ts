import type * as z from "zod";
import { type Endpoint, ServiceError, missingField, invalidField } from "../../contract/index.ts";

/**
 * Validates the input of a call against its schema and batch limit.
 * @param isStore whether the caller has the store's token, so that its texts may be longer
 * @throws ServiceError `invalidParams`, with the first error's field and message
 */
export function validateInput(endpoint: Endpoint, given: unknown, isStore = true): unknown {
  const input = endpoint.inputAliases ? replaceAliases(endpoint.inputAliases, given) : given;
  checkBatch(endpoint, input);
  const parsed = endpoint.input.safeParse(input);
  if (parsed.success) {
    if (endpoint.publicLengths && !isStore) checkLengths(endpoint.publicLengths, parsed.data);
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  throw issue ? toServiceError(issue, input) : new ServiceError("invalidParams", "invalid parameters");
}

function checkLengths(lengths: Readonly<Record<string, number>>, input: unknown): void {
  for (const [field, max] of Object.entries(lengths)) {
    const { value } = findField(input, [field]);
    if (typeof value === "string" && value.length > max) throw invalidField(field, `is longer than ${max} characters`);
  }
}

/** Renames the fields that have an alias, unless the field is present as well. */
function replaceAliases(aliases: Readonly<Record<string, string>>, given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  const input: Record<string, unknown> = { ...given };
  for (const [alias, field] of Object.entries(aliases)) input[field] ??= input[alias];
  return input;
}

/** Source: spec "Errors": `Missing email`. Assumed: other messages have the form `<field> <problem>`. */
function toServiceError({ path, message }: z.core.$ZodIssue, input: unknown): ServiceError {
  const { field, value } = findField(input, path);
  if (field === "") return new ServiceError("invalidParams", `the input ${message}`);
  return message === "is missing" || value === undefined ? missingField(field) : invalidField(field, message);
}

/** The value at `path`, or at its deepest existing prefix: the path may lead into a list that was sent as a string. */
function findField(input: unknown, path: readonly PropertyKey[]): { readonly field: string; readonly value: unknown } {
  let value = input;
  for (const [depth, key] of path.entries()) {
    if (typeof value !== "object" || value === null) return { field: path.slice(0, depth).join("."), value };
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return { field: path.join("."), value };
}

/** Checks the number of elements before validating them, so that oversized calls are rejected cheaply. */
function checkBatch({ batch }: Endpoint, input: unknown): void {
  if (batch?.max === undefined) return;
  const { value: elements } = findField(input, [batch.field]);
  if (typeof elements !== "object" || elements === null) return;
  const count = Array.isArray(elements) ? elements.length : countListed(elements);
  if (count <= batch.max) return;
  throw invalidField(batch.field, `has ${count} elements; at most ${batch.max} are allowed per call`);
}

/** Counts the elements of lists by key. */
function countListed(lists: object): number {
  return Object.values(lists).reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 1), 0);
}
