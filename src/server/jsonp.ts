import { ServiceError } from "../contract/index.ts";

const functionName = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;
const maxNameLength = 128;

/** Nothing but JSON was asked for where it is absent. */
export type Callback = string | undefined;

/**
 * The function that a JSONP answer calls.
 * Assumed: `callback` is a name, or names joined by dots, of at most 128 characters; without it the answer is JSON.
 * @throws ServiceError `invalidParams`
 */
export function readCallback(given: unknown): Callback {
  if (given === undefined) return undefined;
  if (typeof given === "string" && given.length <= maxNameLength && functionName.test(given)) return given;
  throw new ServiceError("invalidParams", "callback is not the name of a function");
}

/** A script that calls the function. The two characters that end a line in older scripts, and not in JSON, are escaped. */
export function encodeJsonp(name: string, body: unknown): string {
  const json = JSON.stringify(body)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);
  return `${name}(${json});`;
}
