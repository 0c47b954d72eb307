import { type contract, type SentEmailCategory, sentEmailCategories, ServiceError } from "../../contract/index.ts";
import type { EmailTemplate } from "../../email/outgoing-email.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";

interface StoredTemplate extends EmailTemplate {
  readonly category: string;
  readonly updated_at: number;
}

const columns = ["category", "subject", "text", "html", "updated_at"] as const;

export const emailTemplateHandlers: Handlers<typeof contract.emailTemplates> = {
  list: async (_input, context) => {
    const customTemplates = await context.transaction
      .selectFrom("mail_templates")
      .select(columns)
      .where("account_id", "=", accountOf(context).id)
      .execute();
    const { builtInTemplates } = await import("../../email/templates/built-in/templates.ts");
    const templates = sentEmailCategories.map((category) => {
      const custom = customTemplates.find((row) => row.category === category);
      const { text: _text, html: _html, ...info } = describe(category, custom ?? builtInTemplates[category]);
      return info;
    });
    return { templates };
  },

  get: async ({ category, built_in = false }, context) => {
    const custom = built_in ? undefined : await findCustomTemplate(category, context);
    return { template: custom ? describe(category, custom) : await describeBuiltIn(category) };
  },

  /**
   * Stores a template for the account.
   * @throws ServiceError `invalidParams` with the part, line, and column of the error
   */
  set: async ({ category, ...template }, context) => {
    await renderSample(category, template);
    const row = { ...template, updated_at: context.nowMs };
    await context.transaction
      .insertInto("mail_templates")
      .values({ account_id: accountOf(context).id, category, ...row })
      .onConflict((conflict) => conflict.columns(["account_id", "category"]).doUpdateSet(row))
      .execute();
    return { template: describe(category, { category, ...row }) };
  },

  /** Assumed: it is not an error if the account uses the built-in template already. */
  reset: async ({ category }, context) => {
    await context.transaction
      .deleteFrom("mail_templates")
      .where("account_id", "=", accountOf(context).id)
      .where("category", "=", category)
      .execute();
    return { template: await describeBuiltIn(category) };
  },

  /** @throws ServiceError `invalidParams` */
  preview: async ({ category, subject, text, html }, context) => {
    const { builtInTemplates } = await import("../../email/templates/built-in/templates.ts");
    const stored = (await findCustomTemplate(category, context)) ?? builtInTemplates[category];
    const template = {
      subject: subject ?? stored.subject,
      text: text ?? stored.text,
      html: html ?? stored.html,
    };
    return { mail: await renderSample(category, template) };
  },
};

async function findCustomTemplate(
  category: SentEmailCategory,
  context: HandlerContext,
): Promise<StoredTemplate | undefined> {
  return await context.transaction
    .selectFrom("mail_templates")
    .select(columns)
    .where("account_id", "=", accountOf(context).id)
    .where("category", "=", category)
    .executeTakeFirst();
}

async function describeBuiltIn(category: SentEmailCategory) {
  const { builtInTemplates } = await import("../../email/templates/built-in/templates.ts");
  return describe(category, builtInTemplates[category]);
}

function describe(category: SentEmailCategory, template: EmailTemplate | StoredTemplate) {
  const { subject, text, html } = template;
  const updatedAtMs = "updated_at" in template ? template.updated_at : undefined;
  return {
    category,
    is_own: updatedAtMs !== undefined,
    subject,
    text,
    html,
    updated_at: updatedAtMs === undefined ? null : new Date(updatedAtMs).toISOString(),
  };
}

async function renderSample(category: SentEmailCategory, template: EmailTemplate): Promise<EmailTemplate> {
  const { checkTemplate } = await import("../../email/templates/check-template.ts");
  const { TemplateError } = await import("../../email/templates/template-error.ts");
  try {
    return await checkTemplate(category, template);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { part: field, line, column, problem, message } = error;
    const position = line === undefined || column === undefined ? undefined : { field, line, column, problem };
    throw new ServiceError("invalidParams", message, { field, position, cause: error });
  }
}
