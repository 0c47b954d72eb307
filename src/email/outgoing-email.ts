import type { Brand, SentEmailCategory } from "../contract/index.ts";

/** The parts of an email, as Liquid templates or rendered. */
export interface EmailTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** An email to be sent, with all data that its message is composed of. */
export interface OutgoingEmail {
  readonly id: number;
  readonly accountId: number;
  /** For the log. */
  readonly appKey: string;
  readonly category: SentEmailCategory;
  readonly to: { readonly address: string; readonly name: string };
  readonly store: { readonly name: string; readonly url: string | null };
  /** Absent for the built-in design. */
  readonly brand?: Brand | undefined;
  /** Template data of the category: user content and links. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Unsubscribes on POST (RFC 8058) and shows a page on GET. */
  readonly unsubscribeUrl: string;
  /** URL of the tracking image, if opens are tracked. */
  readonly openUrl?: string | undefined;
  /** The message key: unique per email, the same for all attempts, and the left part of the Message-ID. */
  readonly key: string;
  /** The account's template, if it replaces the built-in one. */
  readonly template?: EmailTemplate | undefined;
  /** Identifies the saved template, and counts the consecutive emails for which it failed. */
  readonly templateState?: { readonly savedAtMs: number; readonly failures: number } | undefined;
}
