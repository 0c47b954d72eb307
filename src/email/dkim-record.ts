import type { Resolver } from "node:dns/promises";

/** A DKIM key, without its private part. */
export interface PublicDkimKey {
  readonly domain: string;
  readonly selector: string;
  /** SubjectPublicKeyInfo, base64-encoded. */
  readonly publicKey: string;
}

/** The TXT record of a key. */
export interface DkimRecord {
  readonly name: string;
  readonly value: string;
  /** A line for a zone file, in which a string has at most 255 characters. Source: RFC 1035 3.3, RFC 6376 3.6.2.2. */
  readonly zone_line: string;
}

export function createDkimRecord({ domain, selector, publicKey }: PublicDkimKey): DkimRecord {
  const name = `${selector}._domainkey.${domain}`;
  const value = `v=DKIM1; k=rsa; p=${publicKey}`;
  const strings = (value.match(/.{1,255}/g) ?? []).map((part) => `"${part}"`);
  return { name, value, zone_line: `${name}. IN TXT ( ${strings.join(" ")} )` };
}

/**
 * - `published`: DNS has the record of the key
 * - `missing`: DNS has no record of this name
 * - `different`: the record has another key, or there are several
 * - `unreachable`: DNS does not respond
 */
export type DkimPublication =
  | { readonly state: "published" | "missing" | "different" }
  | { readonly state: "unreachable"; readonly reason: string };

/** Compares the record of a key with DNS. */
export async function findPublication(
  key: PublicDkimKey,
  resolver: Pick<Resolver, "resolveTxt">,
): Promise<DkimPublication> {
  try {
    const found = await resolver.resolveTxt(createDkimRecord(key).name);
    const [first = [], ...others] = found;
    return { state: others.length === 0 && isRecordOf(key, first.join("")) ? "published" : "different" };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOTFOUND" || code === "ENODATA") return { state: "missing" };
    return { state: "unreachable", reason: message };
  }
}

/** Whether a record publishes the key: the same tags, with any spaces. Source: RFC 6376 3.6.1. */
function isRecordOf({ publicKey }: PublicDkimKey, text: string): boolean {
  const tags = new Map(
    text.split(";").map((tag) => {
      const [name = "", ...value] = tag.split("=");
      return [name.trim(), value.join("=").replaceAll(/\s/g, "")];
    }),
  );
  return (tags.get("v") ?? "DKIM1") === "DKIM1" && (tags.get("k") ?? "rsa") === "rsa" && tags.get("p") === publicKey;
}
