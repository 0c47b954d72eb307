import { type Brand, isToShopper, type SentEmailCategory, siteReviewsId } from "../../contract/index.ts";
import type { EmailTemplate, OutgoingEmail } from "../outgoing-email.ts";
import { createScope, type EmailScope, getRenderer, renderEmail } from "./render-email.ts";
import { TemplateError, type TemplatePart } from "./template-error.ts";

/** Time limit for rendering one part during a check. */
const checkTimeoutMs = 1_000;

/** The parts of a template, in the order in which they are checked. */
export const templateParts: readonly TemplatePart[] = ["subject", "text", "html"];

/**
 * Checks a template by rendering it with sample data. Also checks that all variables exist, including those in branches
 * that are not rendered.
 * Assumed: the subject must not be empty, and the text and the HTML must contain the unsubscribe link. Values in HTML tags
 * must be quoted, because an unquoted value could add attributes.
 * @returns the rendered parts
 * @throws TemplateError
 */
export async function checkTemplate(
  category: SentEmailCategory,
  template: EmailTemplate,
  brand?: Brand,
): Promise<EmailTemplate> {
  const scope = createScope({ ...createSampleEmail(category), brand });
  await checkNames(template, scope);
  rejectUnsafeValues(template.html);
  const rendered = await renderEmail(template, scope, checkTimeoutMs);
  for (const minimal of createMinimalScopes(scope)) await renderEmail(template, minimal, checkTimeoutMs);
  if (rendered.subject === "") throw new TemplateError("subject", "is empty");
  for (const part of ["text", "html"] as const) {
    if (rendered[part].includes(String(scope["unsubscribe_url"]))) continue;
    throw new TemplateError(part, "does not contain the unsubscribe link: add {{ unsubscribe_url }}");
  }
  return rendered;
}

/** Creates scopes without optional values, and with only one product. */
function createMinimalScopes(scope: EmailScope): EmailScope[] {
  const { products, store, customer } = scope as Record<string, object | undefined>;
  const minimal = {
    ...scope,
    customer: { ...customer, name: "" },
    store: { ...store, url: null },
    // Reviews may be about the store instead of a product.
    ...("product_name" in scope && "score" in scope && { product_name: null }),
  };
  if (!Array.isArray(products)) return [minimal];
  return products.map((product: unknown) => Object.assign({}, minimal, { products: [product] }));
}

async function checkNames(template: EmailTemplate, scope: EmailScope): Promise<void> {
  const { listVariables } = await getRenderer();
  for (const part of templateParts) {
    for (const { segments, place } of listVariables(part, template[part])) {
      if (exists(scope, segments)) continue;
      const names = Object.keys(scope).join(", ");
      throw new TemplateError(part, `unknown variable ${segments.join(".")}; available: ${names}`, place);
    }
  }
}

/** Follows a path as far as it consists of names. Elements of lists are checked by rendering. */
function exists(scope: unknown, segments: readonly unknown[]): boolean {
  let value = scope;
  for (const segment of segments) {
    if (typeof segment !== "string" || typeof value !== "object" || value === null || Array.isArray(value)) return true;
    if (!Object.hasOwn(value, segment)) return false;
    value = (value as Record<string, unknown>)[segment];
  }
  return true;
}

const link = "https://reviews.example/starpost/v1/l/sample";

const products = [
  {
    product_id: "teapot-1",
    name: "Teapot “Morning”, 1.2 l",
    url: "https://shop.example/teapot",
    image_url: "https://shop.example/teapot.png",
    review_url: link,
  },
  {
    product_id: "cup-4",
    name: "كوب شاي",
    // Some shops do not provide product URLs.
    url: "",
    image_url: null,
    review_url: link,
  },
];

const order = { order_id: "100234", order_date: "2026-03-14", is_test: false, products };
/** The store, as it is described in requests to review it. */
const reviewedStore = {
  product_id: siteReviewsId,
  name: "Tea & Cups",
  url: "https://shop.example/",
  image_url: null,
  review_url: link,
};
const siteRequest = { ...order, products: [reviewedStore] };
const review = {
  title: "Pours well",
  content: 'It keeps <hot> for "hours" & hours.\nAnd it is beautiful.',
  score: 5,
  product_name: products[0]?.name ?? null,
};
const question = {
  content: "Does it fit into a dishwasher?",
  product_name: products[0]?.name ?? "",
  product_url: "https://shop.example/teapot",
};
const answer = { ...question, answer: "Yes, it does.\nThe lid as well." };

const sampleData: Readonly<Record<SentEmailCategory, OutgoingEmail["data"]>> = {
  map: order,
  reminder: order,
  mail_after_invoice: siteRequest,
  site_reminder: siteRequest,
  mail_after_service: { ...siteRequest, order_id: null, order_date: null },
  testimonials_request: siteRequest,
  custom_map: order,
  anonymous_testimonials_request: { ...review, title: "", content: "", verify_url: link },
  comment_request: { ...review, review_id: 12, comment_url: link },
  comment_notification: { ...review, comment: "Thank you!\nEnjoy your tea." },
  question_confirmation: { ...question, content: "", confirm_url: link },
  answer_request_shop_owner: { ...question, question_id: 3, answer_url: link, is_held: false },
  answer_request_shoppers: { ...question, question_id: 3, answer_url: link },
  answer_notification_shop_owner: { ...answer, is_by_store: false },
  answer_notification_shoppers: { ...answer, is_by_store: true },
  my_reviews: {},
  coupon_notification: { coupon_code: "TEA-4711" },
  coupon_reminder: { coupon_code: "TEA-4711" },
};

export function createSampleEmail(
  category: SentEmailCategory,
): Pick<OutgoingEmail, "category" | "to" | "store" | "data" | "unsubscribeUrl"> {
  return {
    category,
    to: { name: "Ana Müller", address: "ana@customer.example" },
    store: { name: "Tea & Cups", url: "https://shop.example/" },
    data: isToShopper(category) ? { ...sampleData[category], my_reviews_url: `${link}-reviews` } : sampleData[category],
    unsubscribeUrl: `${link}-unsubscribe`,
  };
}

/** Elements whose content is not parsed as HTML. In the first two, values cannot be escaped safely. */
const rawElements = ["script", "style", "title", "textarea"] as const;
const unsafeElements = new Set<string>(["script", "style"]);

/**
 * Rejects HTML templates that output a value where escaping is not sufficient: unquoted in a tag, in a script or style
 * element, or in an attribute that contains code, styles, or HTML. Runs in linear time.
 * @throws TemplateError
 */
export function rejectUnsafeValues(html: string): void {
  // Only ASCII letters, so that the length of the text does not change.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const after = (text: string, from: number) => {
    const found = lower.indexOf(text, from);
    return found < 0 ? html.length : found + text.length;
  };
  for (let at = 0; at < html.length;) {
    if (html.startsWith("{{", at)) at = after("}}", at);
    else if (html.startsWith("{%", at)) at = after("%}", at);
    else if (html.startsWith("<!--", at)) at = after("-->", at);
    else if (/^<\/?[a-z]/.test(lower.slice(at, at + 3))) {
      const raw = rawElements.find((name) => lower.startsWith(`<${name}`, at));
      at = skipTag(html, at, after);
      if (raw === undefined) continue;
      const end = after(`</${raw}`, at);
      const value = findValue(html.slice(at, end));
      if (unsafeElements.has(raw) && value >= 0) throw errorAt(html, at + value, `values are not allowed in <${raw}>`);
      at = end;
    } else at += 1;
  }
}

/** Returns the position after the tag that begins at `start`. */
function skipTag(html: string, start: number, after: (text: string, from: number) => number): number {
  let quote = "";
  let codeAttribute: string | undefined;
  for (let at = start; at < html.length;) {
    const character = html.charAt(at);
    if (/^\{[{%]/.test(html.slice(at, at + 2))) {
      const end = after(html[at + 1] === "{" ? "}}" : "%}", at);
      const isValue = findValue(html.slice(at, end)) >= 0;
      if (isValue && quote === "") throw errorAt(html, at, 'values in a tag must be quoted: href="{{ … }}"');
      if (isValue && codeAttribute !== undefined) {
        throw errorAt(html, at, `values are not allowed in ${codeAttribute.toLowerCase()}="…"`);
      }
      at = end;
    } else {
      if (quote === "" && character === ">") return at + 1;
      if (quote === "" && (character === '"' || character === "'")) {
        quote = character;
        codeAttribute = codeAttributes.exec(html.slice(Math.max(start, at - maxNameLength), at))?.[1];
      } else if (character === quote) quote = "";
      at += 1;
    }
  }
  return html.length;
}

/** An attribute that contains code, styles, or HTML, before its opening quote. */
const codeAttributes = /[\s"'/](on[a-z]+|style|srcdoc)\s*=\s*$/i;
const maxNameLength = 40;

/** Returns the position of the first output of a value, or -1. */
function findValue(template: string): number {
  return template.search(/\{\{|\{%-?\s*(?:echo|liquid)\b/);
}

function errorAt(html: string, index: number, problem: string): TemplateError {
  const before = html.slice(0, index).split("\n");
  return new TemplateError("html", problem, { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 });
}
