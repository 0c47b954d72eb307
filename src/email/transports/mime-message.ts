import { buffer } from "node:stream/consumers";
import type { OutgoingEmail } from "../outgoing-email.ts";
import { asOneLine, truncate, removeDirectionMarks } from "../templates/rendered-email.ts";
import { toAsciiDomain } from "../../contract/email-address.ts";
import { renderWithFallback } from "../templates/render-custom.ts";
import { markup, render } from "../../pages/markup.ts";
import type { ComposedMessage, DkimSigner, EmailSender } from "./transport.ts";

interface ComposeOptions {
  /** Null if no sender is configured; then a placeholder address is used. */
  readonly from: EmailSender | null;
  /** Signs the emails of its domain. */
  readonly dkim?: DkimSigner | undefined;
  /** Value of the `Date` header. */
  readonly nowMs: number;
}

/**
 * An email cannot be composed. Retrying does not help.
 * - `invalid_address`: the address is invalid
 * - `failed`: the template cannot be rendered
 */
export class ComposeError extends Error {
  override readonly name = "ComposeError";
  readonly state: "invalid_address" | "failed";

  constructor(state: ComposeError["state"], message: string, cause?: unknown) {
    super(message, { cause });
    this.state = state;
  }
}

/** Assumed: without a configured sender, messages use an address that cannot exist (RFC 2606, `.invalid`). */
const placeholderAddress = "reviews@starpost.invalid";

/** Header with the message key, which providers return in their events. */
const keyHeader = "X-Starpost-Mail";

/**
 * Composes the message of an email: text and HTML alternatives (RFC 2046), with the headers of automated eemail.
 * Assumed: the sender name is that of the brand, or else the configured one, or else the name of the store. If the store has no
 * name, the content uses the sender name too.
 * @throws ComposeError
 */
export async function composeMessage(email: OutgoingEmail, options: ComposeOptions): Promise<ComposedMessage> {
  if (!/^[\w.-]{1,200}$/.test(email.key)) throw new Error(`invalid message key ${email.key}`);
  const to = toEnvelopeAddress(email.to.address);
  const from = toEnvelopeAddress(options.from?.address ?? placeholderAddress);
  const sender = email.brand?.sender_name ?? options.from?.name ?? email.store.name;
  const { subject, text, html, templateProblem } = await renderParts({
    ...email,
    store: { ...email.store, name: email.store.name || sender },
  });
  const sentHtml = email.openUrl === undefined ? html : addTrackingImage(html, email.openUrl);
  const formatName = (name: string) => truncate(removeDirectionMarks(asOneLine(name)), maxNameLength);
  // In ASCII, without characters that would end the header value.
  const unsubscribeUrl = new URL(email.unsubscribeUrl).href.replaceAll(/[<>\s]/g, encodeURIComponent);
  const domain = from.slice(from.lastIndexOf("@") + 1);
  const messageId = `<${email.key}@${domain}>`;
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const { encode, wrap } = await import("nodemailer/lib/qp");
  // Quoted-printable keeps line breaks, which are CRLF. Source: RFC 2045 6.7.
  const toPart = (type: string, content: string) => ({
    raw: `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${wrap(encode(content.replaceAll(/\r?\n/g, "\r\n")))}`,
  });
  const composer = new MailComposer({
    from: { name: formatName(sender), address: from },
    replyTo: { name: formatName(sender), address: email.brand?.reply_to ?? from },
    to: { name: formatName(email.to.name), address: to },
    subject,
    text: toPart("text/plain", text),
    html: toPart("text/html", sentHtml),
    date: new Date(options.nowMs),
    messageId,
    headers: {
      "List-Id": { prepared: true, value: `<${email.category.replaceAll("_", "-")}.${email.appKey}.${domain}>` },
      "List-Unsubscribe": { prepared: true, value: `<${unsubscribeUrl}>` },
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Auto-Submitted": "auto-generated",
      [keyHeader]: email.key,
    },
    baseBoundary: email.key,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const unsigned = await composer.compile().build();
  const raw = options.dkim?.domain === domain ? await sign(unsigned, options.dkim) : unsigned;
  const problem = templateProblem !== undefined && { templateProblem };
  return { key: email.key, to, from, subject, text, html: sentHtml, messageId, raw, ...problem };
}

/**
 * The headers that the signature covers, if they exist. Source: RFC 6376 5.4.1; RFC 8058 3.1 requires `List-Unsubscribe` and
 * `List-Unsubscribe-Post`, of which the defaults of nodemailer contain only the first.
 */
const signedHeaders =
  "From:Reply-To:To:Subject:Date:Message-ID:MIME-Version:Content-Type:" +
  "List-Id:List-Unsubscribe:List-Unsubscribe-Post:Auto-Submitted";

async function sign(message: Buffer, { domain, selector, privateKey }: DkimSigner): Promise<Buffer> {
  const { default: Dkim } = await import("nodemailer/lib/dkim");
  const key = { domainName: domain, keySelector: selector, privateKey };
  return buffer(new Dkim({ ...key, headerFieldNames: signedHeaders }).sign(message));
}

async function renderParts(email: OutgoingEmail) {
  try {
    return await renderWithFallback(email, "sending");
  } catch (error) {
    throw new ComposeError("failed", `template ${email.category}: ${(error as Error).message}`, error);
  }
}

/**
 * Converts an address to its envelope form. Rejects domains followed by anything else, such as a path, because the
 * address without it could belong to somebody else.
 * Assumed: the domain is converted to ASCII (RFC 5891), which every server accepts; the local part is not changed.
 */
function toEnvelopeAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const asciiDomain = toAsciiDomain(address.slice(at + 1));
  const domain = /^[\w.-]+$/.test(asciiDomain) ? asciiDomain : "";
  const local = address.slice(0, at);
  if (at < 1 || domain === "" || /[\s\p{Cc}<>"(),;:\\@[\]]/u.test(local) || local.length > 64) {
    throw new ComposeError("invalid_address", `${asOneLine(address)} is not a valid email address`);
  }
  return `${local}@${domain}`;
}

/** Maximum length of a name in a header, in characters. Source: RFC 5322 limits lines to 998. */
const maxNameLength = 100;

function addTrackingImage(html: string, openUrl: string): string {
  const image = render(markup`<img src="${openUrl}" width="1" height="1" alt="">`);
  // Does not use toLowerCase, which can change the length of the text.
  const end = [...html.matchAll(/<\/body>/gi)].at(-1)?.index;
  return end === undefined ? `${html}${image}` : `${html.slice(0, end)}${image}\n${html.slice(end)}`;
}
