import type { Profile } from "../../../config/profile.ts";
import { UserError } from "../../../config/user-error.ts";

export const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Methods that only ask, as HTTP has it, and take no body. */
export const asking: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Headers that carry credentials, or that follow from the request itself. */
const ownHeaders: ReadonlySet<string> = new Set([
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

/** @throws UserError `usage` */
export function readMethod(text: string): string {
  const method = text.toUpperCase();
  if ((methods as readonly string[]).includes(method)) return method;
  const hint = `It is one of: ${methods.join(", ")}.`;
  const misnamed = { given: method, known: methods };
  throw new UserError("usage", `${JSON.stringify(text)} is no method`, hint, undefined, misnamed);
}

export interface Target {
  /** Begins with `/`. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
}

/**
 * Reads the path of a call; of a whole address only what is behind the profile's own is taken.
 * @throws UserError `usage`
 */
export function readTarget(text: string, profile: Profile): Target {
  const given = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? behindOwnAddress(text, profile) : text;
  const [before, query] = splitOnce(given.split("#", 1)[0] ?? "", "?");
  const path = before.startsWith("/") ? before : `/${before}`;
  const isStraight = !path.startsWith("//") && !/[\s\\\p{C}]/u.test(path) && !path.split("/").some(isStep);
  if (!isStraight) {
    throw new UserError(
      "usage",
      `${JSON.stringify(text)} is not a path of the service`,
      "Give it as /apps/{app_key}/purchases: no spaces, and no parts that are . or ..",
    );
  }
  return { path, query: [...new URLSearchParams(query)] };
}

/** The token must not leave for another host. */
function behindOwnAddress(text: string, profile: Profile): string {
  const base = profile.mode === "remote" ? new URL(profile.baseUrl) : undefined;
  const asked = URL.canParse(text) ? new URL(text) : undefined;
  const root = base?.pathname.replace(/\/$/, "") ?? "";
  const isOwn = base !== undefined && asked?.origin === base.origin && asked.username === "";
  if (isOwn && (asked.pathname === root || asked.pathname.startsWith(`${root}/`))) {
    // As it was typed: the URL would have `{app_key}` in other signs.
    const typed = text.slice(text.indexOf("://") + 3);
    return (/[/?].*$/s.exec(typed)?.[0] ?? "/").slice(root.length);
  }
  const own = base ? `only ${base.origin}${root} is called` : "it is no address elsewhere";
  throw new UserError(
    "usage",
    `${profile.name} has credentials of its own service, and ${own}`,
    "Give the path alone; another service is another profile (--profile).",
  );
}

function isStep(part: string): boolean {
  const bare = part.replaceAll(/%2e/gi, ".");
  return bare === "." || bare === "..";
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}

/**
 * Reads `name:value` headers, names in small letters.
 * @throws UserError `usage`
 */
export function readHeaders(given: readonly string[]): Readonly<Record<string, string>> {
  const headers = given.map((text): [string, string] => {
    const [name, value] = splitOnce(text, ":");
    const field = name.trim().toLowerCase();
    if (value === undefined || !/^[!#$%&'*+.^_`|~\w-]+$/.test(field) || /[\0\r\n]/.test(value)) {
      throw new UserError("usage", `--header: ${JSON.stringify(name)} is not of the form name:value`);
    }
    if (ownHeaders.has(field)) {
      throw new UserError(
        "usage",
        `--header: ${field} is not given by hand`,
        "Credentials are the profile's, and are put in by themselves; --no-auth leaves them out.",
      );
    }
    return [field, value.trim()];
  });
  return Object.fromEntries(headers);
}
