import { createHash } from "node:crypto";
import type { contract, EmailCategory, EmailEventName } from "../../../contract/index.ts";
import { readEmailSettings } from "../../accounts/account-settings.ts";
import type { HandlerContext, Handlers } from "../../kernel/handler.ts";
import { recordEmailEvent } from "../../kernel/email-log.ts";
import { type Claim, readClaim } from "../../kernel/signed-link.ts";

/** A transparent image of one point. Source: GIF89a. */
const point = {
  content_type: "image/gif",
  base64: "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
};

/** Events of one kind that come closer are one. */
const apartMs = 60 * 1_000;

/**
 * Opens and clicks of mails.
 * Assumed: nothing is noted for an account that does not track, also of a mail that it sent while it did; what comes
 * again within a minute is noted once, as mail programs and scanners ask more than once.
 */
export const trackingHandlers: Handlers<typeof contract.tracking> = {
  /** Assumed: the image is answered to anybody; a token that is none tells nothing, and is told nothing. */
  open: async ({ token, only_look: onlyLooks = false }, context) => {
    const claim = readClaim(token, ["open"], context);
    if (claim && !onlyLooks) await note(claim, { event: "opened", setting: "track_opens" }, context);
    return point;
  },

  click: async ({ token, only_look: onlyLooks = false }, context) => {
    const claim = readClaim(token, ["click"], context);
    const url = readTarget(claim?.url);
    if (!claim || url === null) return { url: null };
    if (!onlyLooks) await note(claim, { event: "clicked", setting: "track_clicks", of: url }, context);
    return { url };
  },
};

interface Noted {
  readonly event: Extract<EmailEventName, "opened" | "clicked">;
  readonly setting: "track_opens" | "track_clicks";
  /** What was followed, where a mail holds several. */
  readonly of?: string;
}

async function note(
  { id: mailId, accountId }: Claim,
  { event, setting, of = "" }: Noted,
  context: HandlerContext,
): Promise<void> {
  const settings = await readEmailSettings(context, accountId);
  if (!settings[setting]) return;
  const mail = await context.transaction
    .selectFrom("mails")
    .select("category")
    .where("id", "=", mailId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (!mail) return;
  // An address can be the key to a review, so that only its mark is kept.
  const mark = createHash("sha256").update(of).digest("base64url").slice(0, 12);
  const key = `${Math.floor(context.nowMs / apartMs)}:${mark}`;
  await recordEmailEvent(
    { accountId, mailId, category: mail.category as EmailCategory, event, key },
    context,
  );
}

/** An address as a header can hold it; nothing where it does not lead to the web. */
function readTarget(url: string | undefined): string | null {
  if (url === undefined || !URL.canParse(url)) return null;
  const { protocol, href } = new URL(url);
  return protocol === "http:" || protocol === "https:" ? href : null;
}
