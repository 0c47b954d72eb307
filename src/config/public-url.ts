import { type Environment, readVariable } from "./environment.ts";
import { invalidValue, type UserError, usageError } from "./user-error.ts";
import { isLoopback } from "./proxy-settings.ts";

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
  throw invalidValue(text, source, "a URL such as https://reviews.example, without a query");
}

/** Reads `STARPOST_PUBLIC_URL`. */
export function findPublicUrl(env: Environment): string | undefined {
  const value = readVariable(env, "STARPOST_PUBLIC_URL");
  return value === undefined ? undefined : parsePublicUrl(value, "STARPOST_PUBLIC_URL");
}

/** Addresses on which a server listens on every interface. */
const wildcards: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Whether an address works on this machine only. */
export function isLocalHost(host: string): boolean {
  const bare = host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
  return wildcards.has(bare) || isLoopback(bare);
}

/**
 * Returns an error if emails would leave this machine with links that only work on it.
 * Assumed: a mail server on this machine is for tests, or trusted to know what it relays.
 * @param smtpHost the mail server; undefined for the outbox folder
 */
export function findLinkProblem(publicUrl: string | undefined, smtpHost: string | undefined): UserError | undefined {
  const url = publicUrl ?? defaultPublicUrl;
  if (smtpHost === undefined || isLocalHost(smtpHost) || !isLocalHost(new URL(url).hostname)) return undefined;
  return usageError(
    `cannot send emails through ${smtpHost}: their links would point to ${url}, which works on this machine only`,
    "Set STARPOST_PUBLIC_URL, or pass --public-url, to the address at which recipients reach the service. The emails stay queued.",
  );
}
