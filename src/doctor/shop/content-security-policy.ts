/** A policy of a page: sources by directive. Only the first of repeated directives counts. */
export type Policy = ReadonlyMap<string, readonly string[]>;

/** A request that a policy may block. */
export interface PolicyRequest {
  readonly url: URL;
  /** The directives that decide, the most specific first. */
  readonly directives: readonly string[];
  /** Of the `<script>` element. */
  readonly nonce?: string | undefined;
  readonly integrity?: string | undefined;
  /** Another script imports it, which the policy is assumed to allow. */
  readonly isImported?: boolean;
}

/** The directives for scripts, requests, and images. */
export const policyDirectives = {
  script: ["script-src-elem", "script-src", "default-src"],
  connect: ["connect-src", "default-src"],
  image: ["img-src", "default-src"],
} as const;

/** Parses policies, as a header, which may contain several, or a `<meta>` element has them. */
export function parsePolicies(text: string): Policy[] {
  return text
    .split(",")
    .map(parsePolicy)
    .filter(({ size }) => size > 0);
}

function parsePolicy(text: string): Policy {
  const policy = new Map<string, readonly string[]>();
  for (const directive of text.split(";")) {
    const [name = "", ...sources] = directive.trim().split(/\s+/);
    if (name !== "" && !policy.has(name.toLowerCase())) policy.set(name.toLowerCase(), sources);
  }
  return policy;
}

/**
 * Finds the directive that blocks a request, if one does.
 * Source: Content Security Policy Level 3, "Does url match source list?".
 */
export function findBlocking(policy: Policy, request: PolicyRequest, page: URL): string | undefined {
  const name = request.directives.find((directive) => policy.has(directive));
  if (name === undefined) return undefined;
  const sources = policy.get(name) ?? [];
  if (isTrusted(sources, request)) return undefined;
  const isScript = request.directives === policyDirectives.script;
  const isDynamic = isScript && hasKeyword(sources, "'strict-dynamic'");
  // Scripts that a trusted script loads need no source.
  if (isDynamic && request.isImported === true) return undefined;
  return !isDynamic && sources.some((source) => matchesSource(source, request.url, page)) ? undefined : name;
}

/** Whether a nonce or a hash allows the script. */
function isTrusted(sources: readonly string[], { nonce, integrity }: PolicyRequest): boolean {
  if (nonce !== undefined && nonce !== "" && sources.includes(`'nonce-${nonce}'`)) return true;
  const hashes = integrity?.split(/\s+/).filter((hash) => hash !== "") ?? [];
  return hashes.length > 0 && hashes.every((hash) => sources.includes(`'${hash}'`));
}

export function hasKeyword(sources: readonly string[], keyword: string): boolean {
  return sources.some((source) => source.toLowerCase() === keyword);
}

const sourcePattern = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[a-z0-9_.-]+|\[[0-9a-f:]+\])(?::(\d+|\*))?(\/.*)?$/i;

function matchesSource(source: string, url: URL, page: URL): boolean {
  if (source === "*") return ["http:", "https:", page.protocol].includes(url.protocol);
  if (source.toLowerCase() === "'self'") {
    return url.host === page.host && matchesScheme(page.protocol, url.protocol);
  }
  if (/^[a-z][a-z0-9+.-]*:$/i.test(source)) return matchesScheme(source.toLowerCase(), url.protocol);
  const [, scheme, host = "", port, path] = sourcePattern.exec(source) ?? [];
  if (host === "") return false;
  return (
    matchesScheme(scheme === undefined ? page.protocol : `${scheme.toLowerCase()}:`, url.protocol) &&
    matchesHost(host.toLowerCase(), url.hostname) &&
    matchesPort(port, url) &&
    matchesPath(path, url.pathname)
  );
}

function matchesScheme(allowed: string, given: string): boolean {
  return allowed === given || (allowed === "http:" && given === "https:");
}

function matchesHost(allowed: string, given: string): boolean {
  if (allowed === "*") return true;
  return allowed.startsWith("*.") ? given.endsWith(allowed.slice(1)) : given === allowed;
}

function matchesPort(allowed: string | undefined, { port, protocol }: URL): boolean {
  if (allowed === "*") return true;
  if (allowed === undefined) return port === "";
  const given = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  return allowed === given || (allowed === "80" && given === "443");
}

function matchesPath(allowed: string | undefined, given: string): boolean {
  if (allowed === undefined || allowed === "/") return true;
  return allowed.endsWith("/") ? given.startsWith(allowed) : given === allowed;
}
