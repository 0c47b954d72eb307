import type { LookupAddress } from "node:dns";
import { lookup as dnsLookup } from "node:dns/promises";
import { once } from "node:events";
import { get as getPlain, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { get as getSecure } from "node:https";
import type { LookupFunction } from "node:net";
import { explainRefusedAddress, explainRefusedUrl } from "./receiver-address.ts";

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const resolveWithDns: Resolve = (hostname) => dnsLookup(hostname, { all: true });

/**
 * Creates a lookup function for connections that returns only public addresses. It is called once per connection, which
 * then uses one of the returned addresses, so a name that resolves differently a moment later has no effect.
 * Assumed: a name is refused if any of its addresses is refused.
 */
export function createCheckedLookup(isPrivateAllowed: boolean, resolve: Resolve = resolveWithDns): LookupFunction {
  const findAddresses = async (hostname: string) => {
    const addresses = await resolve(hostname);
    const refusal = isPrivateAllowed
      ? undefined
      : addresses.map(({ address }) => explainRefusedAddress(address)).find(Boolean);
    const fail = (problem: string, code: string) => Object.assign(new Error(`${hostname} ${problem}`), { code });
    if (refusal !== undefined) throw fail(`is not allowed: ${refusal}`, "ERR_ADDRESS_REFUSED");
    if (addresses.length > 0) return addresses;
    throw fail("has no address", "ENOTFOUND");
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

/** A name with a private address is described like a name without an address, so that it does not reveal which names exist. */
const noPublicAddress = "the host has no public address";

const descriptions: Readonly<Record<string, string>> = {
  ERR_ADDRESS_REFUSED: noPublicAddress,
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed before a response was received",
  EPIPE: "connection closed before a response was received",
  ENOTFOUND: noPublicAddress,
  EAI_AGAIN: "DNS lookup failed",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  EPROTO: "the server does not support TLS on this port",
  HPE_HEADER_OVERFLOW: "the response headers are too long",
};

/** Describes to the account why a request got no response, without addresses and names of the operator's network. */
export function describeFailure(error: unknown, timeoutMs: number): string {
  const { code = "" } = error as { readonly code?: string };
  const description = descriptions[code];
  if (description !== undefined) return description;
  if (code === "ETIMEDOUT") return `no response within ${timeoutMs / 1_000} s`;
  if (code.startsWith("HPE_")) return "the response is not valid HTTP";
  if (code.startsWith("ERR_SSL_")) return "the server does not support TLS on this port";
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `the TLS certificate is not trusted (${code})`;
  return code === "" ? "connection failed" : `connection failed (${code})`;
}

/** Which addresses may be called. */
export interface AddressChecks {
  /** Explains why a URL is refused. */
  readonly refuse: (url: string) => string | undefined;
  /** Checks the addresses of host names, for each connection. */
  readonly lookup: LookupFunction;
}

export function createAddressChecks(isPrivateAllowed: boolean): AddressChecks {
  return {
    refuse: (url) => explainRefusedUrl(url, isPrivateAllowed),
    lookup: createCheckedLookup(isPrivateAllowed),
  };
}

interface CheckedRequest {
  readonly checks: AddressChecks;
  readonly headers: OutgoingHttpHeaders;
  /** For the complete request, including redirects. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** Source: Fetch standard, which follows 20; shops rarely need more than two. */
const maxRedirects = 5;

/**
 * Requests a URL. Redirects are followed, and each target is checked like the URL itself.
 * @returns the last response
 * @throws Error with a message for people, if there is no response
 */
export async function requestChecked(
  url: string,
  { checks, headers, timeoutMs, maxBytes }: CheckedRequest,
): Promise<{
  readonly url: string;
  readonly response: IncomingMessage;
  readonly body: Buffer;
  readonly redirects: number;
}> {
  const signal = AbortSignal.timeout(timeoutMs);
  let target = url;
  try {
    for (let redirects = 0; ; redirects += 1) {
      const refusal = checks.refuse(target);
      if (refusal !== undefined)
        throw new Error(`${redirects === 0 ? "the URL" : "the target of a redirect"} ${refusal}`);
      const get = target.startsWith("https:") ? getSecure : getPlain;
      // Connections are not reused, because a reused connection would bypass the address check.
      const request = get(target, {
        agent: false,
        headers: { "accept-encoding": "identity", ...headers },
        lookup: checks.lookup,
        signal,
      });
      try {
        const [response] = (await once(request, "response")) as [IncomingMessage];
        // The response reports these, too.
        request.on("error", () => {});
        const { statusCode: status = 0 } = response;
        const { location } = response.headers;
        if (status < 300 || status > 399 || location === undefined) {
          return { url: target, response, body: await readBody(response, maxBytes), redirects };
        }
        if (redirects === maxRedirects) throw new Error(`more than ${maxRedirects} redirects`);
        if (!URL.canParse(location, target)) throw new Error("redirects to an invalid address");
        target = new URL(location, target).href;
      } finally {
        request.destroy();
      }
    }
  } catch (error) {
    if (signal.aborted) throw new Error(`no complete response within ${timeoutMs / 1_000} s`, { cause: error });
    const { code } = error as { readonly code?: string };
    throw code === undefined ? error : new Error(describeFailure(error, timeoutMs), { cause: error });
  }
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new Error(`the response is larger than ${maxBytes} bytes`);
  if (Number(response.headers["content-length"]) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
