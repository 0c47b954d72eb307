import { domainToASCII } from "node:url";
import type { OutgoingEmail } from "../outgoing-email.ts";
import { asOneLine, shorten, withoutTurns } from "../templates/rendered-email.ts";
import { renderOutgoing } from "../templates/render-email.ts";
import { markup, render } from "../../pages/markup.ts";
import type { ComposedMessage, EmailSender } from "./transport.ts";

interface ComposeOptions {
  /** Null where nothing is configured; then the message names an address that nobody can have. */
  readonly from: EmailSender | null;
  /** The `Date` of the message. */
  readonly nowMs: number;
}

/**
 * A mail that no message can be made of, now or later.
 * - `invalid_address`: the address's own fault
 * - `failed`: the template's
 */
export class ComposeError extends Error {
  override readonly name = "ComposeError";
  readonly state: "invalid_address" | "failed";

  constructor(state: ComposeError["state"], message: string, cause?: unknown) {
    super(message, { cause });
    this.state = state;
  }
}

/**
 * Assumed: where nothing is configured, messages come from an address of the domain that nobody can have
 * (RFC 2606, `.invalid`).
 */
const nobody = "reviews@starpost.invalid";

/** The header that names a mail to whoever tells what became of it. */
const keyHeader = "X-Starpost-Mail";

/**
 * Makes the message of a mail: text and HTML as alternatives (RFC 2046), with the headers of mail that a program sends.
 * Assumed: it comes under the configured name, and under the store's where none is configured; a store that has no name
 * of its own has the configured one in the texts as well.
 * @throws ComposeError
 */
export async function composeMessage(mail: OutgoingEmail, options: ComposeOptions): Promise<ComposedMessage> {
  if (!/^[\w.-]{1,200}$/.test(mail.key))
    throw new Error(`the mail's key ${mail.key} cannot stand in a Message-ID`);
  const to = asEnvelopeAddress(mail.to.address);
  const from = asEnvelopeAddress(options.from?.address ?? nobody);
  const sender = options.from?.name ?? mail.store.name;
  const { subject, text, html } = await makeTexts({
    ...mail,
    store: { ...mail.store, name: mail.store.name || sender },
  });
  const messageId = `<${mail.key}@${domainOf(from)}>`;
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const composer = new MailComposer({
    from: { name: asName(sender), address: from },
    to: { name: asName(mail.to.name), address: to },
    subject,
    text,
    html: mail.openUrl === undefined ? html : withOpenImage(html, mail.openUrl),
    date: new Date(options.nowMs),
    messageId,
    headers: {
      "List-Unsubscribe": { prepared: true, value: `<${asHeaderUrl(mail.unsubscribeUrl)}>` },
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Auto-Submitted": "auto-generated",
      [keyHeader]: mail.key,
    },
    textEncoding: "quoted-printable",
    baseBoundary: mail.key,
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: "\r\n",
  });
  return { key: mail.key, to, from, subject, messageId, raw: await composer.compile().build() };
}

async function makeTexts(mail: OutgoingEmail) {
  try {
    return await renderOutgoing(mail);
  } catch (error) {
    throw new ComposeError("failed", `the template of ${mail.category}: ${(error as Error).message}`, error);
  }
}

/** What a domain is made of, in any script; the marks that join letters are some scripts' own (RFC 5892). */
const domainForm = /^[\p{L}\p{M}\p{N}\p{Join_Control}._-]+$/u;

/**
 * An address as the envelope has it. What is more than a domain, such as a path behind it, is not cut off: what is left
 * would be the mailbox of somebody else.
 * Assumed: a domain goes out in ASCII (RFC 5891), as every server takes it; the part before `@` as it is.
 */
function asEnvelopeAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const given = address.slice(at + 1);
  const domain = domainForm.test(given) ? domainToASCII(given) : "";
  const local = address.slice(0, at);
  if (at < 1 || domain === "" || /[\s\p{Cc}<>"(),;:\\@[\]]/u.test(local) || local.length > 64) {
    throw new ComposeError("invalid_address", `${asOneLine(address)} is no address that can be mailed to`);
  }
  return `${local}@${domain}`;
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Longest name of a person or a store in a header, in characters. Source: lines of RFC 5322 hold 998. */
const nameLength = 100;

function asName(name: string): string {
  return shorten(withoutTurns(asOneLine(name)), nameLength);
}

/** In ASCII, and without what would end it. */
function asHeaderUrl(url: string): string {
  return new URL(url).href.replaceAll(/[<>\s]/g, encodeURIComponent);
}

/** Before the end of the body, where there is one. */
function withOpenImage(html: string, openUrl: string): string {
  const image = render(markup`<img src="${openUrl}" width="1" height="1" alt="">`);
  // In the other case a text may be longer, so that it is looked through as it is.
  const end = [...html.matchAll(/<\/body>/gi)].at(-1)?.index;
  return end === undefined ? `${html}${image}` : `${html.slice(0, end)}${image}\n${html.slice(end)}`;
}
