import ipaddr from "ipaddr.js";

/** Descriptions of address ranges that are not public, by their names in ipaddr.js. */
const rangeDescriptions: Readonly<Record<string, string>> = {
  broadcast: "a broadcast address",
  carrierGradeNat: "a carrier-grade NAT address",
  linkLocal: "a link-local address",
  loopback: "a loopback address",
  multicast: "a multicast address",
  private: "a private address",
  uniqueLocal: "a private address",
  unspecified: "an unspecified address",
};
const otherRange = "a reserved address";

/** Addresses in public ranges that belong to the host of a virtual machine (Azure). */
const hostAddresses: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Prefixes of IPv6 addresses whose last 32 bits are an IPv4 address. */
const ipv4Prefixes = { mapped: [0, 0, 0, 0, 0, 0xffff], nat64: [0x64, 0xff9b, 0, 0, 0, 0] } as const;

/**
 * Explains why webhooks must not be sent to an IP address. Returns undefined if the address is allowed.
 * Assumed: only public addresses are allowed. For IPv6 these are 2000::/3; IPv4-mapped and NAT64 addresses are treated like
 * the IPv4 address they contain; 6to4 and Teredo addresses are refused, because they are not used for servers.
 */
export function explainRefusedAddress(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an IP address`;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return explainRefusedIpv4(parsed);
  const { parts } = parsed;
  if (Object.values(ipv4Prefixes).some((prefix) => prefix.every((part, index) => parts[index] === part))) {
    const refusal = explainRefusedIpv4(new ipaddr.IPv4(parsed.toByteArray().slice(-4)));
    return refusal && `${address} contains an IPv4 address: ${refusal}`;
  }
  const range = parsed.range();
  const isPublic = range === "unicast" && (parts[0] ?? 0) >> 13 === 1;
  return isPublic ? undefined : `${address} is ${rangeDescriptions[range] ?? otherRange}`;
}

function explainRefusedIpv4(address: ipaddr.IPv4): string | undefined {
  const text = address.toString();
  const range = address.range();
  if (range === "unicast" && !hostAddresses.has(text)) return undefined;
  return `${text} is ${rangeDescriptions[range] ?? otherRange}`;
}

/** Suffixes of host names that exist only in private networks. */
const privateSuffixes = ["localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa"];

/**
 * Ports of other protocols, whose servers could misinterpret a request.
 * Source: Fetch standard, "bad ports".
 */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * Explains why a URL cannot be used for a webhook. Returns undefined if it can. Host names are not resolved here.
 * @param isPrivateAllowed whether private addresses are allowed
 */
export function explainRefusedUrl(text: string, isPrivateAllowed: boolean): string | undefined {
  if (!URL.canParse(text)) return "is not a valid URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must use http or https";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.port !== "" && badPorts.has(Number(url.port)))
    return `must not use port ${url.port}, which belongs to another protocol`;
  const refusal = isPrivateAllowed ? undefined : explainRefusedHost(url.hostname);
  return refusal && `is not allowed: ${refusal}`;
}

/** @param hostname as normalized by `URL`: lower case, numeric hosts as IPv4 addresses, IPv6 addresses in brackets */
function explainRefusedHost(hostname: string): string | undefined {
  const host = hostname.replace(/(?<!\.)\.+$/, "");
  const literal = host.startsWith("[") ? host.slice(1, -1) : host;
  if (ipaddr.isValid(literal)) return explainRefusedAddress(literal);
  const isPrivate =
    !host.includes(".") || privateSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isPrivate ? `${host} is a name in a private network` : undefined;
}
