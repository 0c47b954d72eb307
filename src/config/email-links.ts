import { isLoopback } from "./proxy-settings.ts";
import { defaultPublicUrl } from "./public-url.ts";
import { type UserError, usageError } from "./user-error.ts";

/** Addresses on which a server listens on every interface. */
const wildcards: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

function isLocalHost(host: string): boolean {
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
