import ipaddr from "ipaddr.js";
import { siteShare } from "../contract/http-limits.ts";

/** Networks of IPv6: that of a client, and that of a site, which can give its clients any of 65,536 of the others. */
const [clientGroups, siteGroups] = [4, 3];

/** A network that is limited as a whole. */
interface ClientNetwork {
  readonly name: string;
  /** Its limit, as a multiple of that of a client. */
  readonly share: number;
}

/**
 * Lists the networks that a client can choose its address from, the smallest first. Proxies may add a port. Texts that are
 * not addresses count as one client.
 */
export function listNetworks(address: string): readonly ClientNetwork[] {
  const [, v4, v6] = /^(?:([\d.]+):\d+|\[([^\]]*)\](?::\d+)?)$/.exec(address) ?? [];
  const bare = v4 ?? v6 ?? address;
  if (!ipaddr.isValid(bare)) return [{ name: "invalid", share: 1 }];
  const parsed = ipaddr.process(bare);
  if (!("parts" in parsed)) return [{ name: parsed.toString(), share: 1 }];
  const { parts } = parsed;
  return [
    { name: parts.slice(0, clientGroups).join(":"), share: 1 },
    { name: parts.slice(0, siteGroups).join(":"), share: siteShare },
  ];
}
