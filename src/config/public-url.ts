import { type Environment, readVariable } from "./environment.ts";
import { UserError } from "./user-error.ts";

/**
 * The address at which everybody reaches the service: what its mails and pages link to. A slash at its end is left out.
 * @param source what the address was given by, for the message
 * @throws UserError `usage`
 */
export function readPublicUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (url && isWeb && !/[?#]/.test(text) && url.username === "" && url.password === "") {
    return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  }
  throw new UserError(
    "usage",
    `${source}: ${JSON.stringify(text)} is not an address such as https://reviews.example, without a query`,
  );
}

/** What `STARPOST_PUBLIC_URL` says, if anything. */
export function findPublicUrl(env: Environment): string | undefined {
  const given = readVariable(env, "STARPOST_PUBLIC_URL");
  return given === undefined ? undefined : readPublicUrl(given, "STARPOST_PUBLIC_URL");
}
