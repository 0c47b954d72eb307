import * as z from "zod";
import { endpoint, extensionPrefix } from "../endpoint.ts";
import { enveloped } from "../reply.ts";
import { lazily } from "../lazily.ts";
import { dayMs } from "../time.ts";

/** What the link of a mail does. */
export const linkKinds = ["verify_review", "confirm_question", "unsubscribe"] as const;
export type LinkKind = (typeof linkKinds)[number];

/** All addresses that mails hold: links that do something, the page to write a review, and what tells of opens and clicks. */
export const emailLinkKinds = [...linkKinds, "write_review", "open", "click"] as const;
export type EmailLinkKind = (typeof emailLinkKinds)[number];

/**
 * How long the addresses of mails work.
 * Assumed: an unsubscribe link outlives the others, as the mails that hold it do, and so do a mail's own links that tell
 * of clicks on their way; a review can be written for 90 days.
 */
export const linkLifetimeMs: Readonly<Record<EmailLinkKind, number>> = {
  verify_review: 30 * dayMs,
  confirm_question: 30 * dayMs,
  unsubscribe: 365 * dayMs,
  write_review: 90 * dayMs,
  open: 365 * dayMs,
  click: 365 * dayMs,
};

/** Where the pages behind the addresses of mails are, short: each is followed by a token. */
export const linkPaths: Readonly<Record<EmailLinkKind, string>> = {
  verify_review: `${extensionPrefix}/l`,
  confirm_question: `${extensionPrefix}/l`,
  unsubscribe: `${extensionPrefix}/l`,
  write_review: `${extensionPrefix}/r`,
  open: `${extensionPrefix}/o`,
  click: `${extensionPrefix}/c`,
};

const link = lazily(() =>
  z.object({
    kind: z.enum(linkKinds),
    /** `ready`: following it does something; `done`: that was done; `gone`: it is too old, or what it is about is not there. */
    state: z.enum(["ready", "done", "gone"]),
    /** What it is about: a product's or the store's name; an address for `unsubscribe`. */
    about: z.string(),
    /** The review's title, the question, or the kind of mails. */
    detail: z.string(),
  }),
);
export type LinkState = z.output<ReturnType<typeof link>>;

const path = {
  paths: [`${extensionPrefix}/links/{token}`],
  htmlPaths: [`${linkPaths.verify_review}/{token}`],
} as const;
/** What stands at the end of a link that is about a row. */
export const linkToken = lazily(() => z.string().max(2_048));

/**
 * The links of mails. A mail's reader gets the page, whose one button follows the link: mail scanners open every
 * link. `List-Unsubscribe-Post` (RFC 8058) posts to the same address.
 */
export const links = {
  show: endpoint({
    summary: "Tell what the link of a mail does",
    method: "GET",
    paths: [...path.paths],
    htmlPaths: path.htmlPaths,
    extension: "own",
    auth: "open",
    effect: "read",
    input: () => z.object({ token: linkToken() }),
    output: () => z.object({ link: link() }),
    reply: enveloped,
  }),
  follow: endpoint({
    summary: "Do what the link of a mail does: verify a review, confirm a question, unsubscribe",
    method: "POST",
    paths: [...path.paths],
    htmlPaths: path.htmlPaths,
    extension: "own",
    auth: "open",
    effect: "repeatable",
    input: () => z.object({ token: linkToken() }),
    output: () => z.object({ link: link() }),
    reply: enveloped,
  }),
};
