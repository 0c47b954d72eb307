import type { MailCategory } from "../../contract/index.ts";
import { refuseBareValues } from "./plain-values.ts";
import type { MailTemplate } from "../outgoing-email.ts";
import { type MailScope, rendererOfMails, renderMail, scopeOf } from "./render-email.ts";
import { sampleMail } from "./sample-email.ts";
import { type TemplatePart, TemplateProblem } from "./template-error.ts";

/** How long one part may take to be made, when it is checked. */
const checkedForMs = 250;

/** The parts of a template, in the order in which they are looked at. */
export const templateParts: readonly TemplatePart[] = ["subject", "text", "html"];

/**
 * Checks a template as it will be used: each part is followed with data that is made up, and names nothing that there is
 * not, also where it was not gone along.
 * Assumed: a mail whose text or HTML leaves out the way to unsubscribe is refused, as is one without a subject; and a value
 * in a tag of HTML needs quotes around it, without which it could bring attributes along.
 * @returns the parts as the data makes them
 * @throws TemplateProblem
 */
export async function checkTemplate(category: MailCategory, template: MailTemplate): Promise<MailTemplate> {
  const scope = scopeOf(sampleMail(category));
  await checkNames(template, scope);
  refuseBareValues(template.html);
  const made = await renderMail(template, scope, checkedForMs);
  for (const spare of spareScopes(scope)) await renderMail(template, spare, checkedForMs);
  if (made.subject === "") throw new TemplateProblem("subject", "is empty");
  for (const part of ["text", "html"] as const) {
    if (made[part].includes(String(scope["unsubscribe_url"]))) continue;
    throw new TemplateProblem(part, "leaves out the way to unsubscribe: {{ unsubscribe_url }}");
  }
  return made;
}

/** The same with less in it: what may be missing of a mail is missing, and of a list one is left. */
function spareScopes(scope: MailScope): MailScope[] {
  const { products, store, customer } = scope as Record<string, object | undefined>;
  const spare = {
    ...scope,
    customer: { ...customer, name: "" },
    store: { ...store, url: null },
    ...("product_name" in scope && hasNoProduct(scope) && { product_name: null }),
  };
  if (!Array.isArray(products)) return [spare];
  return products.map((product: unknown) => Object.assign({}, spare, { products: [product] }));
}

/** A review may be of the store itself. */
function hasNoProduct(scope: MailScope): boolean {
  return "score" in scope;
}

async function checkNames(template: MailTemplate, scope: MailScope): Promise<void> {
  const { namesOf } = await rendererOfMails();
  for (const part of templateParts) {
    for (const { segments, place } of namesOf(part, template[part])) {
      if (isThere(scope, segments)) continue;
      const says = `${segments.join(".")} is no variable that there is; there are ${Object.keys(scope).join(", ")}`;
      throw new TemplateProblem(part, says, place);
    }
  }
}

/** Follows a path as far as it is made of names; what comes after a list is found out by going through it. */
function isThere(scope: unknown, segments: readonly unknown[]): boolean {
  let at = scope;
  for (const segment of segments) {
    if (typeof segment !== "string" || typeof at !== "object" || at === null || Array.isArray(at))
      return true;
    if (!Object.hasOwn(at, segment)) return false;
    at = (at as Record<string, unknown>)[segment];
  }
  return true;
}
