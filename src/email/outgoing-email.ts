import type { EmailCategory } from "../contract/index.ts";

/** The texts of a mail, as templates in Liquid. */
export interface EmailTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail that is to be sent now: all that its message is made of. */
export interface OutgoingEmail {
  readonly id: number;
  readonly accountId: number;
  readonly category: EmailCategory;
  readonly to: { readonly address: string; readonly name: string };
  readonly store: { readonly name: string; readonly url: string | null };
  /** What the template speaks of, by the category: texts that people wrote, and links. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Unsubscribes by a POST (RFC 8058), and shows a page to whoever opens it. */
  readonly unsubscribeUrl: string;
  /** Shown as an image of one point where opens are tracked. */
  readonly openUrl?: string | undefined;
  /** The same for every attempt, and of no other mail: the left part of the Message-ID. */
  readonly key: string;
  /** The account's own, in place of the one that comes with starpost. */
  readonly template?: EmailTemplate | undefined;
}
