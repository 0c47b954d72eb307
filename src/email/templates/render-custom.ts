import type { Brand, SentEmailCategory } from "../../contract/index.ts";
import type { EmailTemplate, OutgoingEmail } from "../outgoing-email.ts";
import { renderOutgoing, type TemplatedEmail } from "./render-email.ts";
import { TemplateError } from "./template-error.ts";
import { TemplateRenderer } from "./template-renderer.ts";

/** Calls and emails to be sent use separate threads, so that previews cannot delay emails. */
const renderers = { calls: new TemplateRenderer(), sending: new TemplateRenderer() };

/** Why the account's template could not be used, so that the built-in one was. */
export interface TemplateProblem {
  readonly message: string;
  /** Whether the template is the cause; otherwise, no thread could render it. */
  readonly isOfTemplate: boolean;
}

export interface RenderedEmail extends EmailTemplate {
  readonly templateProblem?: TemplateProblem | undefined;
}

type Email = TemplatedEmail & Pick<OutgoingEmail, "accountId" | "category" | "template">;

/** Renders an email with the account's template, or with the built-in one if the account has none or its template fails. */
export async function renderWithFallback(
  { accountId, category, to, store, brand, data, unsubscribeUrl, template }: Email,
  purpose: keyof typeof renderers,
): Promise<RenderedEmail> {
  const email = { category, to, store, brand, data, unsubscribeUrl };
  if (!template) return renderOutgoing(email);
  try {
    const { subject, text, html } = template;
    const task = { type: "render", email: { ...email, template: { subject, text, html } } } as const;
    return await renderers[purpose].render(accountId, task);
  } catch (error) {
    const templateProblem = { message: (error as Error).message, isOfTemplate: error instanceof TemplateError };
    return { ...(await renderOutgoing(email)), templateProblem };
  }
}

/**
 * Checks a template by rendering it with sample data, as `checkTemplate` does.
 * @throws TemplateError, TooManyTemplatesError
 */
export function checkInThread(
  accountId: number,
  category: SentEmailCategory,
  template: EmailTemplate,
  brand?: Brand,
): Promise<EmailTemplate> {
  return renderers.calls.render(accountId, { type: "check", category, template, brand });
}

/** Ends the threads. They start again when they are needed. */
export async function closeTemplateThreads(): Promise<void> {
  await Promise.all(Object.values(renderers).map((renderer) => renderer.close()));
}
