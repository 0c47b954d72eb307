import type { Endpoint } from "./endpoint.ts";
import { type OperationName, operations } from "./index.ts";

/** A call of the contract that a method and a path mean. */
export interface FoundOperation {
  readonly operation: OperationName;
  readonly endpoint: Endpoint;
  /** What the path holds for each of its names. */
  readonly named: Readonly<Record<string, string>>;
  /** Whether the path is one at which the answer is a page of HTML. */
  readonly isPage: boolean;
}

/** Assumed: a path whose last part is fixed is there with `.json` and without, whichever the specification shows. */
export function withTwin(path: string): readonly string[] {
  const bare = path.replace(/\.json$/, "");
  const hasTwin = !path.endsWith("}") && !bare.endsWith("}") && !path.endsWith(".html");
  return hasTwin ? [bare, `${bare}.json`] : [path];
}

/**
 * Finds the call that is meant by a method and a path without its query; HEAD means what GET does. Where several paths
 * fit, the one counts that is fixed for longest, as a server has it.
 */
export function findOperation(method: string, path: string): FoundOperation | undefined {
  const asked = method === "HEAD" ? "GET" : method;
  const given = decodeNeedless(path.replace(/\/$/, ""));
  let found: (FoundOperation & { readonly rank: string }) | undefined;
  for (const [operation, endpoint] of operations) {
    const { method: own, alsoGet = false, paths, htmlPaths = [] } = endpoint;
    if (own !== asked && !(alsoGet && asked === "GET")) continue;
    for (const pattern of [...paths.flatMap(withTwin), ...htmlPaths]) {
      const named = matchPath(pattern, given);
      const rank = rankOf(pattern);
      if (!named || (found && found.rank <= rank)) continue;
      found = { operation, endpoint, named, isPage: htmlPaths.includes(pattern), rank };
    }
  }
  return found;
}

/** Parts of a path in order: `0` fixed, `1` with a fixed end, `2` open. */
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
      part.startsWith("{")
        ? `(?<${part.slice(1, -1)}>[^/]+)`
        : part.replaceAll(/[.+*?()|[\]\\^$]/g, String.raw`\$&`),
    )
    .join("");
  const groups = new RegExp(`^${source}$`).exec(path);
  return groups ? Object.fromEntries(Object.entries(groups.groups ?? {}).map(decodePart)) : undefined;
}

/** Letters, digits, `-`, `.`, `_` and `~` mean the same escaped and bare, also to a server. */
function decodeNeedless(path: string): string {
  return path.replaceAll(/%[\da-f]{2}/gi, (escaped) => {
    const sign = String.fromCodePoint(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~-]/.test(sign) ? sign : escaped;
  });
}

function decodePart([name, value]: readonly [string, string]): readonly [string, string] {
  try {
    return [name, decodeURIComponent(value)];
  } catch {
    return [name, value];
  }
}
