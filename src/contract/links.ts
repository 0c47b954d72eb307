import { z } from "zod";
import { endpoint, extensionPrefix } from "./endpoint.ts";
import { enveloped } from "./reply.ts";

/** What the link of a mail does. */
export const linkKinds = ["verify_review", "confirm_question", "unsubscribe"] as const;
export type LinkKind = (typeof linkKinds)[number];

/** How long the links of mails work. Assumed: an unsubscribe link outlives the others, as the mails that hold it do. */
export const linkLifetimeMs: Readonly<Record<LinkKind, number>> = {
  verify_review: 30 * 24 * 60 * 60 * 1_000,
  confirm_question: 30 * 24 * 60 * 60 * 1_000,
  unsubscribe: 365 * 24 * 60 * 60 * 1_000,
};

const link = z.object({
  kind: z.enum(linkKinds),
  /** `ready`: following it does something; `done`: that was done; `gone`: it is too old, or what it is about is not there. */
  state: z.enum(["ready", "done", "gone"]),
  /** What it is about: a product's or the store's name; an address for `unsubscribe`. */
  about: z.string(),
  /** The review's title, the question, or the kind of mails. */
  detail: z.string(),
});
export type LinkState = z.output<typeof link>;

const path = {
  paths: [`${extensionPrefix}/links/{token}`],
  htmlPaths: [`${extensionPrefix}/l/{token}`],
} as const;
const token = z.string().max(2_048);

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
    input: z.object({ token }),
    output: z.object({ link }),
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
    input: z.object({ token }),
    output: z.object({ link }),
    reply: enveloped,
  }),
};
