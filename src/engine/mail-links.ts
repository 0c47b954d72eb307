import { extensionPrefix, type LinkKind, linkLifetimeMs } from "../contract/index.ts";
import type { HandlerContext } from "./handler.ts";
import { signClaim } from "./signed-link.ts";

/**
 * The address of a mail's link, which works for the lifetime of its kind from the call on.
 * @param id the row that the link is about: a review, a question, or for `unsubscribe` the mail itself
 */
export function linkUrl(
  kind: LinkKind,
  id: number,
  accountId: number,
  { sealer, publicUrl, nowMs }: Pick<HandlerContext, "sealer" | "publicUrl" | "nowMs">,
): string {
  const token = signClaim({ kind, id, accountId, expiresAtMs: nowMs + linkLifetimeMs[kind] }, sealer);
  return `${publicUrl}${extensionPrefix}/l/${token}`;
}
