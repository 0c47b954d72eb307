import type { LookupAddress } from "node:dns";
import { lookup as lookUpByDns } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { explainRefusedAddress } from "../../engine/webhooks/receiver-address.ts";

/** Finds all addresses of a host. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Nothing is sent to where a name leads. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";
  readonly code = "ERR_ADDRESS_REFUSED";
}

const resolveByDns: Resolve = (hostname) => lookUpByDns(hostname, { all: true });

/**
 * A look-up for connections that gives none but public addresses. It is asked once for each connection, which then goes
 * to one of the very addresses that it has given: a name that leads elsewhere a moment later leads nowhere.
 * Assumed: a name of which one address is refused is refused as a whole.
 */
export function createCheckedLookup(
  isPrivateAllowed: boolean,
  resolve: Resolve = resolveByDns,
): LookupFunction {
  const find = async (hostname: string) => {
    const found = await resolve(hostname);
    const refusal = isPrivateAllowed
      ? undefined
      : found.map(({ address }) => explainRefusedAddress(address)).find(Boolean);
    if (refusal !== undefined)
      throw new RefusedAddress(`${hostname} leads where nothing is sent to: ${refusal}`);
    if (found.length > 0) return found;
    throw Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" });
  };
  return (hostname, { all = false, family }, answer) => {
    void find(hostname).then(
      (found) => {
        const wanted = found.filter(
          (address) => typeof family !== "number" || family === 0 || address.family === family,
        );
        const given = wanted.length > 0 ? wanted : found;
        if (all) answer(null, [...given]);
        else answer(null, given[0]?.address ?? "", given[0]?.family);
      },
      (error: NodeJS.ErrnoException) => answer(error, all ? [] : ""),
    );
  };
}
