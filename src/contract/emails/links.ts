import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { bytes, bytesOutput } from "../reply.ts";
import { lazily } from "../lazily.ts";
import { lazyObject } from "../lazy-object.ts";
import { dayMs } from "../time.ts";
import { shape } from "../shapes.ts";

/** Links in emails that perform an action. */
export const linkKinds = ["verify_review", "confirm_question", "unsubscribe"] as const;
export type LinkKind = (typeof linkKinds)[number];

/** All signed links in emails: actions, forms for reviews and answers, what a person has written, and open and click tracking. */
export const emailLinkKinds = [...linkKinds, "write_review", "answer_question", "my_reviews", "open", "click"] as const;
export type EmailLinkKind = (typeof emailLinkKinds)[number];

/**
 * How long each kind of link remains valid.
 * Assumed: unsubscribe and tracking links last longest, because people keep emails; a review or an answer can be written, and
 * changed, for 90 days.
 */
export const linkLifetimeMs: Readonly<Record<EmailLinkKind, number>> = {
  verify_review: 30 * dayMs,
  confirm_question: 30 * dayMs,
  unsubscribe: 365 * dayMs,
  write_review: 90 * dayMs,
  answer_question: 90 * dayMs,
  my_reviews: 90 * dayMs,
  open: 365 * dayMs,
  click: 365 * dayMs,
};

/** Path of each kind of link, followed by a token. The paths are short to keep links in plain-text emails short. */
export const linkPaths: Readonly<Record<EmailLinkKind, string>> = {
  verify_review: `${extensionPrefix}/l`,
  confirm_question: `${extensionPrefix}/l`,
  unsubscribe: `${extensionPrefix}/l`,
  write_review: `${extensionPrefix}/r`,
  answer_question: `${extensionPrefix}/q`,
  my_reviews: `${extensionPrefix}/m`,
  open: `${extensionPrefix}/o`,
  click: `${extensionPrefix}/c`,
};

/** A store without a name, in `about`. */
export const unnamedStore = "the store";

const link = lazyObject(() => ({
  kind: z.enum(linkKinds),
  /** `ready`: not followed yet; `done`: already followed; `gone`: expired, or its subject no longer exists. */
  state: z.enum(["ready", "done", "gone"]),
  /** Name of the product or store; for `unsubscribe`, the address. */
  about: z.string(),
  /** Title of the review, text of the question, or type of email. */
  detail: z.string(),
}));
export type LinkState = z.output<ReturnType<typeof link>>;

const path = {
  paths: [`${extensionPrefix}/links/{token}`],
  htmlPaths: [`${linkPaths.verify_review}/{token}`],
} as const;
export const linkToken = lazily(() => z.string().max(2_048));

/** The ratings that the star links of a review request offer. */
export const starScores = [1, 2, 3, 4, 5] as const;

/** The rating in the address of a star link. Assumed: an invalid one counts as missing, so that the link still opens the form. */
export const linkScore = lazily(() => z.enum(starScores.map(String)).optional().catch(undefined));

/**
 * Links in emails. Opening a link shows a page with a button that performs the action, because email scanners open
 * every link. `List-Unsubscribe-Post` (RFC 8058) posts to the same address.
 */
export const links = {
  show: endpoint({
    summary: "Show what an email link does",
    ...route("GET", ...path.paths),
    htmlPaths: path.htmlPaths,
    auth: "open",
    effect: "read",
    input: () => ({ token: linkToken() }),
    output: () => ({ link: link() }),
  }),
  follow: endpoint({
    summary: "Follow an email link: verify a review, confirm a question, or unsubscribe",
    ...route("POST", ...path.paths),
    htmlPaths: path.htmlPaths,
    auth: "open",
    effect: "repeatable",
    input: () => ({ token: linkToken() }),
    output: () => ({ link: link() }),
  }),
};

/** The token contains the target URL, so it may be as long as a request line. */
const token = lazily(() => z.string().max(16 * 1_024));

const input = lazyObject(() => ({
  token: token(),
  /** Do not record the event. Implied by a HEAD request. */
  only_look: shape.boolean.optional(),
}));

export const tracking = {
  open: endpoint({
    summary: "Record that an email was opened and return a one-pixel image",
    ...route("GET", `${linkPaths.open}/{token}`),
    auth: "open",
    effect: "repeatable",
    headField: "only_look",
    input: () => input(),
    output: bytesOutput,
    reply: bytes,
  }),
  click: endpoint({
    summary: "Record that an email link was clicked and return its target",
    ...route("GET", `${extensionPrefix}/clicks/{token}`),
    htmlPaths: [`${linkPaths.click}/{token}`],
    auth: "open",
    effect: "repeatable",
    headField: "only_look",
    redirects: true,
    input: () => input().extend({ score: linkScore() }),
    output: () => ({
      /** Null if the link has expired or was not issued by this service. */
      url: z.string().nullable(),
    }),
  }),
};
