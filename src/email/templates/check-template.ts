import type { EmailCategory } from "../../contract/index.ts";
import { rejectUnsafeValues } from "./plain-values.ts";
import type { EmailTemplate } from "../outgoing-email.ts";
import { type EmailScope, getRenderer, renderEmail, createScope } from "./render-email.ts";
import { createSampleEmail } from "./sample-email.ts";
import { type TemplatePart, TemplateError } from "./template-error.ts";

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
 * @throws TemplateError
 */
export async function checkTemplate(
  category: EmailCategory,
  template: EmailTemplate,
): Promise<EmailTemplate> {
  const scope = createScope(createSampleEmail(category));
  await checkNames(template, scope);
  rejectUnsafeValues(template.html);
  const made = await renderEmail(template, scope, checkedForMs);
  for (const spare of spareScopes(scope)) await renderEmail(template, spare, checkedForMs);
  if (made.subject === "") throw new TemplateError("subject", "is empty");
  for (const part of ["text", "html"] as const) {
    if (made[part].includes(String(scope["unsubscribe_url"]))) continue;
    throw new TemplateError(part, "leaves out the way to unsubscribe: {{ unsubscribe_url }}");
  }
  return made;
}

/** The same with less in it: what may be missing of a mail is missing, and of a list one is left. */
function spareScopes(scope: EmailScope): EmailScope[] {
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
function hasNoProduct(scope: EmailScope): boolean {
  return "score" in scope;
}

async function checkNames(template: EmailTemplate, scope: EmailScope): Promise<void> {
  const { namesOf } = await getRenderer();
  for (const part of templateParts) {
    for (const { segments, place } of namesOf(part, template[part])) {
      if (isThere(scope, segments)) continue;
      const says = `${segments.join(".")} is no variable that there is; there are ${Object.keys(scope).join(", ")}`;
      throw new TemplateError(part, says, place);
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
