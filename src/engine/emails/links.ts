import { type contract, type LinkKind, linkKinds, type LinkState } from "../../contract/index.ts";
import type { HandlerContext, Handlers } from "../kernel/handler.ts";
import { findQuestionToConfirm } from "../questions/question-confirmation.ts";
import { findReviewToVerify } from "../reviews/review-verification.ts";
import { type Claim, isCurrent, openClaim, type LinkAction } from "../kernel/signed-link.ts";
import { findUnsubscription } from "../unsubscribers/unsubscription.ts";

type Find = (claim: Claim, context: HandlerContext) => Promise<LinkAction | undefined>;

const finders: Readonly<Record<LinkKind, Find>> = {
  verify_review: findReviewToVerify,
  confirm_question: findQuestionToConfirm,
  unsubscribe: findUnsubscription,
};

/**
 * The links of mails. They keep working where the store has switched a feature off: whoever holds the mail may still
 * answer it.
 */
export const linkHandlers: Handlers<typeof contract.links> = {
  /** Assumed: a link that is too old, or that this service did not make, is told to be gone; it is no error. */
  show: async ({ token }, context) => {
    const { link } = await readLink(token, context);
    return { link };
  },

  /** Assumed: followed again, a link does nothing more, and says that it is done. */
  follow: async ({ token }, context) => {
    const { link, follow } = await readLink(token, context);
    if (link.state !== "ready" || !follow) return { link };
    await follow();
    return { link: { ...link, state: "done" } };
  },
};

interface ReadLink {
  readonly link: LinkState;
  readonly follow?: () => Promise<void>;
}

/** The kind of a link that cannot be read is any: what it was to do is not known, and will not be done. */
async function readLink(token: string, context: HandlerContext): Promise<ReadLink> {
  const claim = openClaim(token, linkKinds, context.sealer);
  const kind = claim?.kind ?? linkKinds[0];
  const target = claim && isCurrent(claim, context.nowMs) ? await finders[kind](claim, context) : undefined;
  if (!target) return { link: { kind, state: "gone", about: "", detail: "" } };
  const { state, about, detail, follow } = target;
  return { link: { kind, state, about, detail }, follow };
}
