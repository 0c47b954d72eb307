import { breakLinks, defaultBrand, type SentEmailCategory, siteReviewsId, starScores } from "../../contract/index.ts";
import { directionOf, findWrittenLanguage, openMessages } from "../../messages/messages.ts";
import { openRenderer, ownMessagesName, plainOutput, type Renderer } from "./liquid.ts";
import { createTheme } from "./theme.ts";
import { normalizeLines, asOneLine, truncate, removeDirectionMarks } from "./rendered-email.ts";
import type { EmailTemplate, OutgoingEmail } from "../outgoing-email.ts";
import type { TemplatePart } from "./template-error.ts";

/** Variables of a template: the data of its category, the customer, the store, and the unsubscribe link. */
export type EmailScope = Readonly<Record<string, unknown>>;

export type TemplatedEmail = Pick<OutgoingEmail, "to" | "store" | "brand" | "data" | "unsubscribeUrl">;

/** Maximum length of a subject, in characters. Longer subjects are truncated. */
const maxSubjectLength = 250;

/** Values that keep their line breaks. */
const multilineNames = new Set(["content", "comment", "answer", "postal_address"]);

/** Values that visitors choose. */
const visitorNames = new Set(["title", "content"]);

/**
 * Creates the variables of a template.
 * Assumed: only multiline values keep their line breaks, and URLs that are not HTTP URLs become null, so that templates do
 * not have to handle this. No value that a visitor chooses becomes a link.
 */
export function createScope(mail: TemplatedEmail): EmailScope {
  const storeName = mail.store.name.trim();
  const { brand = defaultBrand } = mail;
  const language = findWrittenLanguage(brand.language);
  const dir = directionOf(language);
  const { messages, ...design } = brand;
  const format = openMessages(language, plainOutput, messages);
  // As in "your order from our store".
  const name = storeName || format("email.store");
  const cleaned = clean("", {
    // Emails of earlier versions lack these.
    is_held: false,
    is_by_store: null,
    my_reviews_url: null,
    language,
    dir,
    start: dir === "rtl" ? "right" : "left",
    brand: design,
    ...mail.data,
    customer: { name: breakLinks(mail.to.name), email: mail.to.address },
    store: { ...mail.store, name, is_named: storeName !== "" },
    unsubscribe_url: mail.unsubscribeUrl,
  }) as EmailScope;
  return {
    ...addStars(cleaned, asOneLine(storeName) || format("email.our_store")),
    ...createTheme(brand),
    ...(messages && { [ownMessagesName]: messages }),
  };
}

/** Adds the star links to products that have a review form, and their names: that of the store, for a review of it. */
function addStars(data: EmailScope, storeName: string): EmailScope {
  const { products } = data as {
    readonly products?: readonly { product_id: string; readonly review_url?: string | null }[];
  };
  if (!Array.isArray(products)) return data;
  const starsOf = (url: string | null = null) =>
    starScores.map((score) => ({ score, url: url === null ? null : `${url}?score=${score}` }));
  const withStars = products.map((product) => {
    const name = product.product_id === siteReviewsId && { name: storeName };
    return Object.assign({}, product, name, { stars: starsOf(product.review_url) });
  });
  return { ...data, products: withStars };
}

function clean(name: string, value: unknown): unknown {
  if (typeof value === "string") return cleanText(name, value);
  if (Array.isArray(value)) return value.map((element) => clean(name, element));
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(key, inner)]));
}

function cleanText(name: string, value: string): string | null {
  const text = visitorNames.has(name) ? breakLinks(value) : value;
  if (multilineNames.has(name)) return normalizeLines(text);
  const line = asOneLine(text);
  if (!/(?:^|_)url$/.test(name)) return line;
  return /^https?:\/\/\S+$/i.test(line) ? line : null;
}

let opened: Promise<Renderer> | undefined;

/** Returns the renderer of the process. Creates it on first use. */
export function getRenderer(): Promise<Renderer> {
  opened ??= openRenderer();
  return opened;
}

/**
 * Renders a template.
 * @throws TemplateError if the template cannot be rendered
 */
export async function renderEmail(
  template: EmailTemplate,
  scope: EmailScope,
  limitMs?: number,
): Promise<EmailTemplate> {
  const { render } = await getRenderer();
  const renderPart = (part: TemplatePart, variables = scope) => render(part, template[part], variables, limitMs);
  const line = asOneLine(renderPart("subject")).replaceAll(/\s+/g, " ");
  const subject = truncate(removeDirectionMarks(line), maxSubjectLength);
  // The frame contains the subject as its title.
  const withSubject = { ...scope, subject };
  return {
    subject,
    text: `${normalizeLines(renderPart("text", withSubject)).trim()}\n`,
    html: renderPart("html", withSubject),
  };
}

/** Renders an email with the account's template or the built-in one. */
export async function renderOutgoing(
  mail: TemplatedEmail & Pick<OutgoingEmail, "category" | "template">,
): Promise<EmailTemplate> {
  const { builtInTemplates } = await import("./built-in/templates.ts");
  const template = mail.template ?? builtInTemplates[mail.category satisfies SentEmailCategory];
  return await renderEmail(template, createScope(mail));
}
