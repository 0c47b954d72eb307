import type { Sealer } from "./sealer.ts";

/** What an opaque token stands for. */
export interface Claim {
  readonly kind: string;
  /** The row that it is about. */
  readonly id: number;
  /** The mail that holds it. */
  readonly mailId?: number | undefined;
  /** The product that it is about, where `id` does not tell. */
  readonly productRow?: number | undefined;
  /** Where it leads to, of a link that tells of clicks. */
  readonly url?: string | undefined;
  readonly accountId: number;
  readonly expiresAtMs: number;
}

type ClaimOf<K extends string> = Claim & { readonly kind: K };

/** Makes a token that says `claim` to this service, and nothing to anybody else. */
export function signClaim(claim: Claim, sealer: Sealer): string {
  return sealer.seal(JSON.stringify({ ...claim, use: "claim" }));
}

/** Reads a token of one of the kinds, or nothing where it is not ours, too old, or of another kind. */
export function readClaim<K extends string>(
  token: string,
  kinds: readonly K[],
  { sealer, nowMs }: { readonly sealer: Sealer; readonly nowMs: number },
): ClaimOf<K> | undefined {
  const claim = openClaim(token, kinds, sealer);
  return claim && isCurrent(claim, nowMs) ? claim : undefined;
}

/** Reads a token of one of the kinds, of any age. */
export function openClaim<K extends string>(
  token: string,
  kinds: readonly K[],
  sealer: Sealer,
): ClaimOf<K> | undefined {
  const claim = unseal(token, sealer);
  const kind = kinds.find((name) => name === claim?.kind);
  return claim && kind && { ...claim, kind };
}

export function isCurrent({ expiresAtMs }: Claim, nowMs: number): boolean {
  return expiresAtMs > nowMs;
}

/** Other texts are sealed with the same key; only those that were made here are claims. */
function unseal(token: string, sealer: Sealer): Claim | undefined {
  try {
    const read = JSON.parse(sealer.open(token)) as Claim & { readonly use?: unknown };
    return read.use === "claim" ? read : undefined;
  } catch {
    return undefined;
  }
}
