import ipaddr from "ipaddr.js";

/** What a machine is that nobody elsewhere may have called, by the word that the table of address ranges has for it. */
const rangeWords: Readonly<Record<string, string>> = {
  broadcast: "a broadcast address",
  carrierGradeNat: "an address inside of a provider's network",
  linkLocal: "a link-local address",
  loopback: "an address of the machine itself",
  multicast: "a multicast address",
  private: "a private address",
  uniqueLocal: "a private address",
  unspecified: "an address of the machine itself",
};
const otherwise = "an address that is reserved";

/** What answers there is a part of the machine's own host, although the address is in a public range. */
const hostAddresses: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Addresses that stand for one of IPv4, whose 32 bits are their last. */
const embeddings = { mapped: [0, 0, 0, 0, 0, 0xffff], nat64: [0x64, 0xff9b, 0, 0, 0, 0] } as const;

/**
 * Says why nothing may be sent to an IP address; nothing where it may.
 * Assumed: public addresses alone are called: of IPv6 those of 2000::/3, and of those that stand for one of IPv4, mapped
 * ones and NAT64's are as the one that they stand for; 6to4 and Teredo are refused, as nothing is served there.
 */
export function explainRefusedAddress(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is no IP address`;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return explainRefusedIpv4(parsed);
  const { parts } = parsed;
  if (Object.values(embeddings).some((head) => head.every((part, at) => parts[at] === part))) {
    const refusal = explainRefusedIpv4(new ipaddr.IPv4(parsed.toByteArray().slice(-4)));
    return refusal && `${address} stands for another: ${refusal}`;
  }
  const range = parsed.range();
  const isPublic = range === "unicast" && (parts[0] ?? 0) >> 13 === 1;
  return isPublic ? undefined : `${address} is ${rangeWords[range] ?? otherwise}`;
}

function explainRefusedIpv4(address: ipaddr.IPv4): string | undefined {
  const text = address.toString();
  const range = address.range();
  if (range === "unicast" && !hostAddresses.has(text)) return undefined;
  return `${text} is ${rangeWords[range] ?? otherwise}`;
}

/** What names of a network's own end in. */
const ownEndings = ["localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa"];

/**
 * Ports where no receiver of webhooks is, and where a request could be taken for something else.
 * Source: Fetch standard, "bad ports".
 */
const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * Says why an address may not be a webhook's, as far as the address itself tells: a name may still lead anywhere.
 * @param isPrivateAllowed whether machines of the own network may be called
 */
export function explainRefusedUrl(text: string, isPrivateAllowed: boolean): string | undefined {
  if (!URL.canParse(text)) return "is not a URL that can be called";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "is neither http nor https";
  if (url.username !== "" || url.password !== "") return "holds a user name or a password";
  if (url.port !== "" && badPorts.has(Number(url.port)))
    return `has port ${url.port}, which is no web server's`;
  const refusal = isPrivateAllowed ? undefined : explainRefusedHost(url.hostname);
  return refusal && `leads where nothing is sent to: ${refusal}`;
}

/** A host as `URL` has it: small letters, numbers of every form as an IPv4 address, IPv6 in brackets. */
function explainRefusedHost(hostname: string): string | undefined {
  const host = hostname.replace(/\.+$/, "");
  const literal = host.startsWith("[") ? host.slice(1, -1) : host;
  if (ipaddr.isValid(literal)) return explainRefusedAddress(literal);
  const isOwn =
    !host.includes(".") || ownEndings.some((ending) => host === ending || host.endsWith(`.${ending}`));
  return isOwn ? `${host} is a name of a network's own` : undefined;
}
