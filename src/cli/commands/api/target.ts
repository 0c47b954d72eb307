import type { Profile } from "../../../config/profile.ts";
import { usageError } from "../../../config/user-error.ts";

export const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Methods that HTTP defines as safe; they have no body. */
export const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Headers that carry credentials or follow from the request. */
const reservedHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-service-token",
]);

export function isMethod(text: string): boolean {
  return (methods as readonly string[]).includes(text.toUpperCase());
}

export interface Target {
  /** Starts with `/`. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
}

/**
 * Reads the path of a call. A full URL is accepted if it is within the profile's service.
 * @throws UserError `usage`
 */
export function readTarget(text: string, profile: Profile): Target {
  const relative = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? removeBaseUrl(text, profile) : text;
  const [rawPath, query] = splitOnce(relative.split("#", 1)[0] ?? "", "?");
  const path = rawPath.startsWith("/") ? rawPath : `/${rawPath}`;
  const isValid =
    !path.startsWith("//") && !/[\s\\\p{C}]/u.test(path) && !/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
  if (!isValid) {
    throw usageError(
      `invalid path ${JSON.stringify(text)}`,
      "A path has no spaces and no `.` or `..` segments. For example: /apps/{app_key}/purchases",
    );
  }
  return { path, query: [...new URLSearchParams(query)] };
}

/** Rejects URLs of other hosts, to which the token must not be sent. */
function removeBaseUrl(text: string, profile: Profile): string {
  const base = profile.mode === "remote" ? new URL(profile.baseUrl) : undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const root = base?.pathname.replace(/\/$/, "") ?? "";
  const isOwn = base !== undefined && url?.origin === base.origin && url.username === "";
  if (isOwn && (url.pathname === root || url.pathname.startsWith(`${root}/`))) {
    // The typed text, because a URL object would percent-encode `{app_key}`.
    const typed = text.slice(text.indexOf("://") + 3);
    return (/[/?].*/s.exec(typed)?.[0] ?? "/").slice(root.length);
  }
  const scope = base ? `only calls ${base.origin}${root}` : "does not call other hosts";
  throw usageError(
    `profile ${profile.name} ${scope}`,
    "Pass only the path. To call another service, use another profile (--profile).",
  );
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

/**
 * Reads `name:value` headers; names are returned in lowercase.
 * @throws UserError `usage`
 */
export function readHeaders(texts: readonly string[]): Readonly<Record<string, string>> {
  const headers = texts.map((text): [string, string] => {
    const [rawName, value] = splitOnce(text, ":");
    const name = rawName.trim().toLowerCase();
    if (value === undefined || !/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || /[\0\r\n]/.test(value)) {
      // Without the value, which may be a secret.
      throw usageError(`invalid value ${JSON.stringify(rawName)} for --header: must have the form name:value`);
    }
    if (reservedHeaders.has(name)) {
      throw usageError(
        `--header cannot set ${name}`,
        "Credentials are added automatically. To send none, use --no-auth.",
      );
    }
    return [name, value.trim()];
  });
  return Object.fromEntries(headers);
}
