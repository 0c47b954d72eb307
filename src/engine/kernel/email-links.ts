import { linkLifetimeMs, linkPaths, type EmailLinkKind } from "../../contract/index.ts";
import type { HandlerContext } from "./handler.ts";
import { type Claim, signClaim } from "./signed-link.ts";

type Context = Pick<HandlerContext, "sealer" | "publicUrl" | "nowMs">;

/** What a mail's link is about: the row that its kind says (a review, a question, or the mail itself), and the mail. */
export interface Linked extends Pick<Claim, "id" | "accountId" | "productRow" | "url"> {
  readonly kind: EmailLinkKind;
  readonly mailId: number;
}

/** The mail that an address is put into. */
type Holder = Pick<Linked, "accountId" | "mailId">;

/** The address of a mail's link, which works for the lifetime of its kind from the call on. */
export function linkUrl(linked: Linked, { sealer, publicUrl, nowMs }: Context): string {
  const { kind } = linked;
  const token = signClaim({ ...linked, expiresAtMs: nowMs + linkLifetimeMs[kind] }, sealer);
  return `${publicUrl}${linkPaths[kind]}/${token}`;
}

/** The page on which the mail's reader writes a review of a product. */
export function reviewUrl(mail: Holder & { readonly productRow: number }, context: Context): string {
  return linkUrl({ ...mail, kind: "write_review", id: mail.mailId }, context);
}

/** The image that tells that a mail was opened; for mails of accounts that track, and no others. */
export function openUrl({ accountId, mailId }: Holder, context: Context): string {
  return linkUrl({ accountId, mailId, kind: "open", id: mailId }, context);
}

/** An address that tells of the click and leads on to `url`; for mails of accounts that track, and no others. */
export function clickUrl({ accountId, mailId }: Holder, url: string, context: Context): string {
  return linkUrl({ accountId, mailId, kind: "click", id: mailId, url }, context);
}
