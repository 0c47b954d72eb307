import { BlockList, isIP, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { type Environment, readVariable } from "./environment.ts";
import { UserError } from "./user-error.ts";

/** A proxy that stands before a service. */
export interface ProxySettings {
  /** Scheme, host and port, without credentials: it may be shown. */
  readonly address: string;
  /** For `Proxy-Authorization`, where the variable names a user; never shown. */
  readonly authorization: string | undefined;
  /** The variable that names the proxy. */
  readonly variable: string;
}

/** In `NO_PROXY`, takes loopback addresses out of those that no proxy is asked for; as browsers write it. */
const askedForLoopback = "<-loopback>";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/**
 * Finds the proxy through which an address is reached: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, else `ALL_PROXY`, and
 * none for the hosts of `NO_PROXY`. Small letters go before capitals.
 * Assumed: a loopback address is reached without a proxy, which would mean its own machine by it, unless `NO_PROXY` has
 * `<-loopback>`; a name in `NO_PROXY` means the names below it as well, with a point before it and without.
 * @throws UserError `usage` when the variable's value is no address of a proxy
 */
export function findProxy(env: Environment, address: string): ProxySettings | undefined {
  const target = new URL(address);
  const own = target.protocol === "https:" ? "https_proxy" : "http_proxy";
  const variable = [own, own.toUpperCase(), "all_proxy", "ALL_PROXY"].find((name) =>
    readVariable(env, name)?.trim(),
  );
  if (variable === undefined) return undefined;
  const exceptions = readVariable(env, "no_proxy") ?? readVariable(env, "NO_PROXY") ?? "";
  if (isReachedDirectly(target, exceptions.split(/[\s,]+/).filter(Boolean))) return undefined;
  return readProxy(readVariable(env, variable)?.trim() ?? "", variable);
}

/** What the value is wrong in is said without the value, in which a password may stand. */
function readProxy(text: string, variable: string): ProxySettings {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url?.hostname) throw refuse(variable, "is not the address of a proxy");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw refuse(variable, `names a proxy that speaks ${url.protocol.slice(0, -1)}, and not HTTP`);
  }
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw refuse(variable, "is not the address of a proxy: it goes on behind host and port");
  }
  const isNamed = url.username !== "" || url.password !== "";
  const credentials = `${decode(url.username)}:${decode(url.password)}`;
  return {
    address: `${url.protocol}//${url.host}`,
    authorization: isNamed ? `Basic ${Buffer.from(credentials).toString("base64")}` : undefined,
    variable,
  };
}

function refuse(variable: string, why: string): UserError {
  return new UserError(
    "usage",
    `${variable} ${why}`,
    "Give it as http://host:port or http://user:password@host:port, signs such as # or / in a password as %23 or %2F; or name the service's host in NO_PROXY.",
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isReachedDirectly({ hostname, port, protocol }: URL, exceptions: readonly string[]): boolean {
  const host = withoutEnds(hostname);
  if (isLoopback(host) && !exceptions.includes(askedForLoopback)) return true;
  const asked = { host, port: port === "" ? (protocol === "https:" ? "443" : "80") : port };
  return exceptions.some((exception) => covers(exception.toLowerCase(), asked));
}

function isLoopback(host: string): boolean {
  if (isIP(host)) return loopback.check(host, isIPv6(host) ? "ipv6" : "ipv4");
  return host === "localhost" || host.endsWith(".localhost");
}

/** `host`, `.host`, `*.host`, an address, or a range of addresses (`10.0.0.0/8`), all but the last with `:port` where given. */
function covers(
  exception: string,
  { host, port }: { readonly host: string; readonly port: string },
): boolean {
  if (exception === "*") return true;
  const range = /^\[?([0-9a-f.:]+)\]?\/(\d{1,3})$/.exec(exception);
  if (range) return isInRange(host, range[1] ?? "", Number(range[2]));
  // The points of an IPv6 address without brackets are no port.
  const [, named = exception, onlyPort] = isIPv6(exception)
    ? []
    : (/^(.*?)(?::(\d+))?$/.exec(exception) ?? []);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const bare = withoutEnds(named.replace(/^\*?\./, ""));
  if (isIP(bare) || isIP(host)) return isSameAddress(bare, host);
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

function isSameAddress(one: string, other: string): boolean {
  return isIP(one) !== 0 && isIP(other) !== 0 && isInRange(other, one, isIPv6(one) ? 128 : 32);
}

/** A host without the brackets of IPv6 and without the point of a whole name. */
function withoutEnds(host: string): string {
  return host.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
