import { linkLifetimeMs, linkPaths, type EmailLinkKind } from "../../contract/index.ts";
import type { HandlerContext } from "./handler.ts";
import { type Claim, signClaim } from "./signed-link.ts";

type Context = Pick<HandlerContext, "sealer" | "publicUrl" | "nowMs">;

/** Target of a link in an email: a review, a question, or the email itself (depending on the kind), and the email. */
interface LinkTarget extends Pick<Claim, "id" | "accountId" | "productRow" | "url"> {
  readonly kind: EmailLinkKind;
  readonly mailId: number;
}

/** The email that contains a link. */
type LinkSource = Pick<LinkTarget, "accountId" | "mailId">;

/** Creates a link, which expires after the lifetime of its kind. */
export function linkUrl(target: LinkTarget, { sealer, publicUrl, nowMs }: Context): string {
  const { kind } = target;
  const token = signClaim({ ...target, expiresAtMs: nowMs + linkLifetimeMs[kind] }, sealer);
  return `${publicUrl}${linkPaths[kind]}/${token}`;
}

export function reviewUrl(source: LinkSource & { readonly productRow: number }, context: Context): string {
  return linkUrl({ ...source, kind: "write_review", id: source.mailId }, context);
}

/** Creates the URL of the image that tracks opens. Use only if the account tracks opens. */
export function openUrl({ accountId, mailId }: LinkSource, context: Context): string {
  return linkUrl({ accountId, mailId, kind: "open", id: mailId }, context);
}

/** Creates a link that records the click and redirects to `url`. Use only if the account tracks clicks. */
export function clickUrl({ accountId, mailId }: LinkSource, url: string, context: Context): string {
  return linkUrl({ accountId, mailId, kind: "click", id: mailId, url }, context);
}
