import { buyerIndex } from "../orders/buyer-lookup.ts";
import { type contract, type LinkKind, linkKinds, type LinkState } from "../../contract/index.ts";
import { type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
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

/** People can still unsubscribe from emails of a disabled account. */
const owner = { claim: "token", exceptKind: "unsubscribe" } as const;

/**
 * Links in emails. They keep working after the store turns a feature off, so that recipients can still respond.
 */
export const linkHandlers: Handlers<typeof contract.links> = {
  /** Assumed: a link that has expired or was not issued by this service is reported as `gone`, without an error. */
  show: operation("links.show", {
    owner,
    run: async ({ token }, context) => {
      const { link } = await readLink(token, context);
      return { link };
    },
  }),

  /** Assumed: following a link again has no effect and reports `done`. */
  follow: operation("links.follow", {
    owner,
    before: () => buyerIndex,
    run: async ({ token }, context) => {
      const { link, follow } = await readLink(token, context);
      if (link.state !== "ready" || !follow) return { link };
      await follow();
      return { link: { ...link, state: "done" } };
    },
  }),
};

interface ReadLink {
  readonly link: LinkState;
  readonly follow?: () => Promise<void>;
}

/** If the token is invalid, the kind is unknown; the result then contains an arbitrary kind with the state `gone`. */
async function readLink(token: string, context: HandlerContext): Promise<ReadLink> {
  const claim = openClaim(token, linkKinds, context.sealer);
  const kind = claim?.kind ?? linkKinds[0];
  const target = claim && isCurrent(claim, context.nowMs) ? await finders[kind](claim, context) : undefined;
  if (!target) return { link: { kind, state: "gone", about: "", detail: "" } };
  const { state, about, detail, follow } = target;
  return { link: { kind, state, about, detail }, follow };
}
