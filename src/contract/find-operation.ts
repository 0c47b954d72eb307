import type { Endpoint } from "./endpoint.ts";
import { type OperationName, operations } from "./index.ts";

/** The operation for a method and a path. */
export interface FoundOperation {
  readonly operation: OperationName;
  readonly endpoint: Endpoint;
  /** The values of the path's placeholders. */
  readonly pathInput: Readonly<Record<string, string>>;
  /** Whether the path returns an HTML page. */
  readonly isPage: boolean;
}

/** Assumed: a path that ends in a fixed segment also exists with or without `.json`, whichever the specification shows. */
export function listPathVariants(path: string): readonly string[] {
  const bare = path.replace(/\.json$/, "");
  const hasVariant = !path.endsWith("}") && !bare.endsWith("}") && !path.endsWith(".html");
  return hasVariant ? [bare, `${bare}.json`] : [path];
}

/**
 * Finds the operation for a method and a path without query. HEAD is treated as GET. If several paths match, the one
 * with the longest fixed prefix wins, as in the server's router.
 */
export function findOperation(method: string, path: string): FoundOperation | undefined {
  const requested = method === "HEAD" ? "GET" : method;
  const normalized = decodeUnreserved(path.replace(/\/$/, ""));
  let found: (FoundOperation & { readonly rank: string }) | undefined;
  for (const [operation, endpoint] of operations) {
    const { method: declared, alsoGet = false, paths, htmlPaths = [] } = endpoint;
    if (declared !== requested && !(alsoGet && requested === "GET")) continue;
    for (const pattern of [...paths.flatMap(listPathVariants), ...htmlPaths]) {
      const pathInput = matchPath(pattern, normalized);
      const rank = rankOf(pattern);
      if (!pathInput || (found && found.rank <= rank)) continue;
      found = { operation, endpoint, pathInput, isPage: htmlPaths.includes(pattern), rank };
    }
  }
  return found;
}

/** A sort key with one digit per path segment: `0` fixed, `1` placeholder with a fixed suffix, `2` placeholder. */
function rankOf(pattern: string): string {
  return pattern
    .split("/")
    .map((part) => (part.includes("{") ? (part.endsWith("}") ? "2" : "1") : "0"))
    .join("");
}

function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const source = pattern
    .split(/(\{\w+\})/)
    .map((part) =>
      part.startsWith("{") ? `(?<${part.slice(1, -1)}>[^/]+)` : part.replaceAll(/[.+*?()|[\]\\^$]/g, String.raw`\$&`),
    )
    .join("");
  const groups = new RegExp(`^${source}$`).exec(path);
  return groups ? Object.fromEntries(Object.entries(groups.groups ?? {}).map(decodePart)) : undefined;
}

/** Decodes percent-encoded unreserved characters (RFC 3986), which are equivalent to the characters themselves. */
function decodeUnreserved(path: string): string {
  return path.replaceAll(/%[\da-f]{2}/gi, (escaped) => {
    const character = String.fromCodePoint(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escaped;
  });
}

function decodePart([name, value]: readonly [string, string]): readonly [string, string] {
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    return [name, value];
  }
}
