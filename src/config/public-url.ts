import { type Environment, readVariable } from "./environment.ts";
import { usageError } from "./user-error.ts";

/** The address in links if none is set. */
export const defaultPublicUrl = "http://127.0.0.1:8080";

/**
 * Parses the public address of the service, which emails and pages link to. Removes a trailing slash.
 * @param source the flag or variable, for the error message
 * @throws UserError `usage`
 */
export function parsePublicUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (url && isWeb && !/[?#]/.test(text) && url.username === "" && url.password === "") {
    return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, "")}`;
  }
  throw usageError(
    `invalid value ${JSON.stringify(text)} for ${source}: must be a URL such as https://reviews.example, without a query`,
  );
}

/** Reads `STARPOST_PUBLIC_URL`. */
export function findPublicUrl(env: Environment): string | undefined {
  const value = readVariable(env, "STARPOST_PUBLIC_URL");
  return value === undefined ? undefined : parsePublicUrl(value, "STARPOST_PUBLIC_URL");
}
