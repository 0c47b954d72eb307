import { createHash } from "node:crypto";
import { type contract, type EmailCategory, type EmailEventName, linkPaths } from "../../../contract/index.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import { findRow } from "../../kernel/account-rows.ts";
import { type HandlerContext, type Handlers, operation } from "../../kernel/handler.ts";
import { recordEmailEvent } from "../../kernel/email-log.ts";
import { minuteMs } from "../../../contract/time.ts";
import { isStoreUrl, readStoreDomains } from "../../accounts/account-profile.ts";
import { type Claim, openClaim, readClaim } from "../../kernel/signed-link.ts";

/** A transparent one-pixel image. Source: GIF89a. */
const pixel = {
  content_type: "image/gif",
  bytes: Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64"),
};

/** Repeated opens or clicks within this interval count once. */
const repeatWindowMs = minuteMs;

/**
 * Open and click tracking.
 * Assumed: nothing is recorded while the account has tracking turned off, even for emails sent while it was on. Repeats
 * within a minute are recorded once, because email clients and scanners send several requests.
 */
export const trackingHandlers: Handlers<typeof contract.tracking> = {
  /** Assumed: the image is returned even if the token is invalid, so that the response reveals nothing. */
  open: operation("tracking.open", {
    owner: { claim: "token" },
    run: async ({ token, only_look: onlyLooks = false }, context) => {
      const claim = readClaim(token, ["open"], context);
      if (claim && !onlyLooks) await record(claim, { event: "opened", setting: "track_opens" }, context);
      return pixel;
    },
  }),

  click: operation("tracking.click", {
    owner: { claim: "token" },
    run: async ({ token, score, only_look: onlyLooks = false }, context) => {
      const claim = readClaim(token, ["click", "write_review"], context);
      // A review form has the token of its links. They differ in the rating, and are counted as one link.
      const link = claim?.url ?? `${linkPaths.write_review}/${token}`;
      const url = claim === undefined ? null : await findTarget({ link, score }, claim.accountId, context);
      if (!claim || url === null) return { url: null };
      if (!onlyLooks) await record(claim, { event: "clicked", setting: "track_clicks", url: link }, context);
      return { url };
    },
  }),
};

interface TrackedEvent {
  readonly event: Extract<EmailEventName, "opened" | "clicked">;
  readonly setting: "track_opens" | "track_clicks";
  readonly url?: string;
}

async function record(
  { id: mailId, accountId }: Claim,
  { event, setting, url = "" }: TrackedEvent,
  context: HandlerContext,
): Promise<void> {
  const settings = await readEmailSettings(context, accountId);
  if (!settings[setting]) return;
  const mail = await findRow("mails", ["category"], { account_id: accountId, id: mailId }, context);
  if (!mail) return;
  // Stores only a digest, because the URL may grant access to a review form.
  const digest = createHash("sha256").update(url).digest("base64url").slice(0, 12);
  const key = `${Math.floor(context.nowMs / repeatWindowMs)}:${digest}`;
  await recordEmailEvent({ accountId, mailId, category: mail.category as EmailCategory, event, key }, context);
}

/**
 * Finds the target of a click, in a form that is safe in a header: the service's own review form or a page of the store.
 * Any other URL is refused, so that the service's domain cannot be used to hide where a link leads.
 */
async function findTarget(
  { link, score }: { readonly link: string; readonly score: string | undefined },
  accountId: number,
  context: HandlerContext,
): Promise<string | null> {
  const path = `${linkPaths.write_review}/`;
  const token = link.slice(link.lastIndexOf(path) + path.length);
  if (openClaim(token, ["write_review"], context.sealer)?.accountId === accountId) {
    // Links of earlier versions contain the URL of the form. The public URL may have changed since the email was sent.
    return `${context.publicUrl}${path}${token}${score === undefined ? "" : `?score=${score}`}`;
  }
  if (!URL.canParse(link)) return null;
  return isStoreUrl(link, await readStoreDomains(context, accountId)) ? new URL(link).href : null;
}
