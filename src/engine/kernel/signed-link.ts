import { type EmailLinkKind, linkLifetimeMs, linkPaths } from "../../contract/index.ts";
import type { HandlerContext } from "./handler.ts";
import type { Sealer } from "./sealer.ts";

/** The content of an opaque token. */
export interface Claim {
  readonly kind: string;
  /** The row that the claim concerns. */
  readonly id: number;
  /** The email that contains the link. */
  readonly mailId?: number | undefined;
  /** The product that the claim concerns, if `id` does not determine it. */
  readonly productRow?: number | undefined;
  /** The target of a link that tracks clicks. */
  readonly url?: string | undefined;
  /** The key of the address of the person whose reviews and questions a link shows. */
  readonly person?: string | undefined;
  readonly accountId: number;
  readonly expiresAtMs: number;
}

/** What a link in an email does. */
export interface LinkAction {
  readonly state: "ready" | "done";
  /** The product, store, or address that the link concerns, as shown to its reader. */
  readonly about: string;
  /** The review's title, the question, or the description of the email type. */
  readonly detail: string;
  /** Performs the action. Must be called only in the state `ready`. */
  readonly follow: () => Promise<void>;
}

type ClaimOf<K extends string> = Claim & { readonly kind: K };

/** Encodes `claim` as a token that only this service can read. */
export function signClaim(claim: Claim, sealer: Sealer): string {
  return sealer.seal(JSON.stringify({ ...claim, use: "claim" }));
}

/** Decodes a token of one of the kinds. Returns undefined if it is invalid, expired, or of another kind. */
export function readClaim<K extends string>(
  token: string,
  kinds: readonly K[],
  { sealer, nowMs }: { readonly sealer: Sealer; readonly nowMs: number },
): ClaimOf<K> | undefined {
  const claim = openClaim(token, kinds, sealer);
  return claim && isCurrent(claim, nowMs) ? claim : undefined;
}

/** Like `readClaim`, but accepts expired tokens. */
export function openClaim<K extends string>(
  token: string,
  kinds: readonly K[],
  sealer: Sealer,
): ClaimOf<K> | undefined {
  const claim = openAnyClaim(token, sealer);
  const kind = kinds.find((name) => name === claim?.kind);
  return claim && kind && { ...claim, kind };
}

export function isCurrent({ expiresAtMs }: Claim, nowMs: number): boolean {
  return expiresAtMs > nowMs;
}

/** Like `openClaim`, for every kind. Other texts are sealed with the same key, so a claim is marked with its use. */
export function openAnyClaim(token: string, sealer: Sealer): Claim | undefined {
  try {
    const read = JSON.parse(sealer.open(token)) as Claim & { readonly use?: unknown };
    return read.use === "claim" ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Tokens in links of emails. */
const linkTokens = /v1\.[\da-f]{8}\.[\w-]+/g;

/**
 * Removes the tokens of links from a response to a caller whose token has a role, because a link acts on behalf of its
 * recipient.
 */
export function hideLinks<T>(response: T, { account }: Pick<HandlerContext, "account">): T {
  if (account?.role === undefined) return response;
  return JSON.parse(JSON.stringify(response).replaceAll(linkTokens, "…")) as T;
}

type LinkContext = Pick<HandlerContext, "sealer" | "publicUrl" | "nowMs">;

/** Target of a link in an email: a review, a question, or the email itself (depending on the kind), and the email. */
interface LinkTarget extends Pick<Claim, "id" | "accountId" | "productRow" | "url" | "person"> {
  readonly kind: EmailLinkKind;
  readonly mailId: number;
}

/** The email that contains a link. */
type LinkSource = Pick<LinkTarget, "accountId" | "mailId">;

/** Creates a link, which expires after the lifetime of its kind. */
export function linkUrl(
  target: LinkTarget,
  { sealer, publicUrl, nowMs }: LinkContext,
  path = linkPaths[target.kind],
): string {
  const { kind } = target;
  const token = signClaim({ ...target, expiresAtMs: nowMs + linkLifetimeMs[kind] }, sealer);
  return `${publicUrl}${path}/${token}`;
}

/** Creates a link to a review form. A tracked one records the click and redirects to the form, which has the same token. */
export function reviewUrl(
  source: LinkSource & { readonly productRow: number },
  context: LinkContext,
  isTracked = false,
): string {
  const path = isTracked ? linkPaths.click : linkPaths.write_review;
  return linkUrl({ ...source, kind: "write_review", id: source.mailId }, context, path);
}

/** Creates the URL of the image that tracks opens. Use only if the account tracks opens. */
export function openUrl({ accountId, mailId }: LinkSource, context: LinkContext): string {
  return linkUrl({ accountId, mailId, kind: "open", id: mailId }, context);
}

/** Creates a link that records the click and redirects to `url`. Use only if the account tracks clicks. */
export function clickUrl({ accountId, mailId }: LinkSource, url: string, context: LinkContext): string {
  return linkUrl({ accountId, mailId, kind: "click", id: mailId, url }, context);
}
