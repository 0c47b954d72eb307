import { BlockList, isIP, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { type Environment, readVariable } from "./environment.ts";
import { type UserError, usageError } from "./user-error.ts";

/** An HTTP proxy for calls to a service. */
export interface ProxySettings {
  /** Scheme, host, and port. Contains no credentials, so it can be shown. */
  readonly address: string;
  /** The value of `Proxy-Authorization`, if the variable contains credentials. Never shown. */
  readonly authorization: string | undefined;
  /** The variable that defines the proxy. */
  readonly variable: string;
}

/** In `NO_PROXY`, makes loopback addresses use the proxy, as in browsers. */
const loopbackToken = "<-loopback>";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/**
 * Finds the proxy for an address: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, or else `ALL_PROXY`, unless `NO_PROXY`
 * matches. Lowercase names take precedence.
 * Not implemented with `proxy-from-env`, which reads `process.env` and does not support address ranges (`10.0.0.0/8`),
 * international names, loopback addresses, or subdomains of a name without a leading dot.
 * Assumed: loopback addresses are called directly unless `NO_PROXY` contains `<-loopback>`, because for a proxy they
 * would mean its own machine; a name in `NO_PROXY` includes its subdomains, with or without a leading dot.
 * @throws UserError `usage` if the value of the variable is not a valid proxy address
 */
export function findProxy(env: Environment, address: string): ProxySettings | undefined {
  const target = new URL(address);
  const own = target.protocol === "https:" ? "https_proxy" : "http_proxy";
  const variable = [own, own.toUpperCase(), "all_proxy", "ALL_PROXY"].find((name) => readVariable(env, name)?.trim());
  if (variable === undefined) return undefined;
  const exceptions = readVariable(env, "no_proxy") ?? readVariable(env, "NO_PROXY") ?? "";
  if (isDirect(target, exceptions.split(/[\s,]+/).filter(Boolean))) return undefined;
  return parseProxy(readVariable(env, variable)?.trim() ?? "", variable);
}

/** The messages do not repeat the value, which may contain a password. */
function parseProxy(text: string, variable: string): ProxySettings {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url?.hostname) throw invalidProxy(variable, "must be the address of a proxy");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw invalidProxy(variable, `unsupported proxy protocol ${url.protocol.slice(0, -1)}`);
  }
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw invalidProxy(variable, "must not contain anything after host and port");
  }
  const hasCredentials = url.username !== "" || url.password !== "";
  const credentials = `${decode(url.username)}:${decode(url.password)}`;
  return {
    address: `${url.protocol}//${url.host}`,
    authorization: hasCredentials ? `Basic ${Buffer.from(credentials).toString("base64")}` : undefined,
    variable,
  };
}

function invalidProxy(variable: string, reason: string): UserError {
  return usageError(
    `invalid value for ${variable}: ${reason}`,
    "Use http://host:port or http://user:password@host:port, with special characters in the password escaped (# as %23, / as %2F). To bypass the proxy, add the service's host to NO_PROXY.",
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isDirect({ hostname, port, protocol }: URL, exceptions: readonly string[]): boolean {
  const host = normalizeHost(hostname);
  if (isLoopback(host) && !exceptions.includes(loopbackToken)) return true;
  const target = { host, port: port === "" ? (protocol === "https:" ? "443" : "80") : port };
  return exceptions.some((exception) => matches(exception.toLowerCase(), target));
}

/** Whether a host name or address without brackets refers to this machine. */
export function isLoopback(host: string): boolean {
  if (isIP(host)) return loopback.check(host, isIPv6(host) ? "ipv6" : "ipv4");
  return host === "localhost" || host.endsWith(".localhost");
}

/** `exception` is `host`, `.host`, `*.host`, or an IP address, each optionally with `:port`, or a range (`10.0.0.0/8`). */
function matches(exception: string, { host, port }: { readonly host: string; readonly port: string }): boolean {
  if (exception === "*") return true;
  const range = /^\[?([0-9a-f.:]+)\]?\/(\d{1,3})$/.exec(exception);
  if (range) return isInRange(host, range[1] ?? "", Number(range[2]));
  // In an IPv6 address without brackets, colons do not separate a port.
  const [, named = exception, onlyPort] = isIPv6(exception) ? [] : (/^(.*?)(?::(\d+))?$/.exec(exception) ?? []);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const bare = normalizeHost(named.replace(/^\*?\./, ""));
  if (isIP(bare) || isIP(host)) return isIP(bare) !== 0 && isInRange(host, bare, isIPv6(bare) ? 128 : 32);
  const name = domainToASCII(bare);
  return name !== "" && (host === name || host.endsWith(`.${name}`));
}

function isInRange(host: string, network: string, bits: number): boolean {
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  if (!isIP(network) || !isIP(host) || bits > (family === "ipv6" ? 128 : 32)) return false;
  const range = new BlockList();
  range.addSubnet(network, bits, family);
  return range.check(host, isIPv6(host) ? "ipv6" : "ipv4");
}

/** Removes the brackets of an IPv6 address and the trailing dot of a fully qualified name. */
function normalizeHost(host: string): string {
  return host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
