import type { LookupAddress } from "node:dns";
import { lookup as dnsLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { explainRefusedAddress } from "../../engine/webhooks/receiver-address.ts";

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The host name resolves to an address that webhooks must not be sent to. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  readonly code = "ERR_ADDRESS_REFUSED";
}

const resolveWithDns: Resolve = (hostname) => dnsLookup(hostname, { all: true });

/**
 * Creates a lookup function for connections that returns only public addresses. It is called once per connection, which
 * then uses one of the returned addresses, so a name that resolves differently a moment later has no effect.
 * Assumed: a name is refused if any of its addresses is refused.
 */
export function createCheckedLookup(
  isPrivateAllowed: boolean,
  resolve: Resolve = resolveWithDns,
): LookupFunction {
  const findAddresses = async (hostname: string) => {
    const addresses = await resolve(hostname);
    const refusal = isPrivateAllowed
      ? undefined
      : addresses.map(({ address }) => explainRefusedAddress(address)).find(Boolean);
    if (refusal !== undefined) throw new RefusedAddress(`${hostname} is not allowed: ${refusal}`);
    if (addresses.length > 0) return addresses;
    throw Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" });
  };
  return (hostname, { all = false, family }, callback) => {
    void findAddresses(hostname).then(
      (addresses) => {
        const ofFamily = addresses.filter(
          (address) => typeof family !== "number" || family === 0 || address.family === family,
        );
        const result = ofFamily.length > 0 ? ofFamily : addresses;
        if (all) callback(null, [...result]);
        else callback(null, result[0]?.address ?? "", result[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, all ? [] : ""),
    );
  };
}
