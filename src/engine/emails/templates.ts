import {
  type Brand,
  type contract,
  sentEmailCategories,
  type SentEmailCategory,
  ServiceError,
  templateLimits,
  tooManyRequestsMessage,
} from "../../contract/index.ts";
import type { EmailTemplate, OutgoingEmail } from "../../email/outgoing-email.ts";
import type { Row } from "../../storage/tables.ts";
import { readBrand } from "../accounts/brand.ts";
import { deleteRows, findRow, findRows, updateAccountRows } from "../kernel/account-rows.ts";
import { iso } from "../kernel/times.ts";
import { type Account, accountOf, type HandlerContext, type Handlers, operation } from "../kernel/handler.ts";
import { toDetail } from "../kernel/email-log.ts";

type StoredTemplate = EmailTemplate &
  Pick<Row<"mail_templates">, "category" | "updated_at" | "disabled_at" | "problem">;

const columns = ["category", "subject", "text", "html", "updated_at", "disabled_at", "problem"] as const;

export const emailTemplateHandlers: Handlers<typeof contract.emailTemplates> = {
  list: async (_input, context) => {
    const customTemplates = await findRows("mail_templates", columns, {}, context);
    const openBuiltIn = await openBuiltInTemplates(context);
    const templates = sentEmailCategories.map((category) => {
      const custom = customTemplates.find((row) => row.category === category);
      const { text: _text, html: _html, ...info } = describe(category, custom ?? openBuiltIn(category));
      return info;
    });
    return { templates };
  },

  get: async ({ category, built_in = false }, context) => {
    const custom = built_in ? undefined : await findCustomTemplate(category, context);
    return { template: custom ? describe(category, custom) : await describeBuiltIn(category, context) };
  },

  /**
   * Stores a template for the account, and enables it if it was disabled.
   * @throws ServiceError as `renderSample`
   */
  set: operation("emailTemplates.set", {
    prepare: async (input, { account }) => {
      const { category, ...template } = input;
      await renderSample(account, category, template);
      return input;
    },
    run: async ({ category, ...template }, context) => {
      const row = { ...template, updated_at: context.nowMs, failures: 0, problem: null, disabled_at: null };
      await context.transaction
        .insertInto("mail_templates")
        .values({ account_id: accountOf(context).id, category, ...row })
        .onConflict((conflict) => conflict.columns(["account_id", "category"]).doUpdateSet(row))
        .execute();
      return { template: describe(category, { category, ...row }) };
    },
  }),

  /** Assumed: it is not an error if the account uses the built-in template already. */
  reset: async ({ category }, context) => {
    await deleteRows("mail_templates", { category }, context);
    return { template: await describeBuiltIn(category, context) };
  },

  /** @throws ServiceError as `renderSample` */
  preview: operation("emailTemplates.preview", {
    run: async ({ category, subject, text, html }, context) => {
      const { builtInTemplates } = await import("../../email/templates/built-in/templates.ts");
      const stored = (await findCustomTemplate(category, context)) ?? builtInTemplates[category];
      const template = { subject: subject ?? stored.subject, text: text ?? stored.text, html: html ?? stored.html };
      return { template, brand: await readBrand(accountOf(context).id, context) };
    },
    after: async ({ template, brand }, { category }, { account }) => ({
      mail: await renderSample(account, category, template, brand),
    }),
  }),
};

async function findCustomTemplate(
  category: SentEmailCategory,
  context: HandlerContext,
): Promise<StoredTemplate | undefined> {
  return await findRow("mail_templates", columns, { category }, context);
}

async function describeBuiltIn(category: SentEmailCategory, context: HandlerContext) {
  return describe(category, (await openBuiltInTemplates(context))(category));
}

/** Opens the built-in templates, with their messages in the language of the account. */
async function openBuiltInTemplates(context: HandlerContext) {
  const { builtInTemplates } = await import("../../email/templates/built-in/templates.ts");
  const { writeOutMessages } = await import("../../email/templates/built-in/write-out.ts");
  const { language } = await readBrand(accountOf(context).id, context);
  return (category: SentEmailCategory) => writeOutMessages(builtInTemplates[category], language);
}

function describe(category: SentEmailCategory, template: EmailTemplate | StoredTemplate) {
  const { subject, text, html } = template;
  const stored = "updated_at" in template ? template : undefined;
  return {
    category,
    is_own: stored !== undefined,
    subject,
    text,
    html,
    updated_at: stored ? iso(stored.updated_at) : null,
    ...(stored && stored.disabled_at !== null && { disabled_at: iso(stored.disabled_at) }),
    ...(stored && stored.problem !== null && { problem: stored.problem }),
  };
}

/**
 * Renders a template with sample data in another thread.
 * @throws ServiceError `invalidParams` with the part, line, and column of the error; `tooManyRequests`
 */
async function renderSample(
  account: Account | undefined,
  category: SentEmailCategory,
  template: EmailTemplate,
  brand?: Brand,
): Promise<EmailTemplate> {
  const { checkInThread } = await import("../../email/templates/render-custom.ts");
  const { TemplateError } = await import("../../email/templates/template-error.ts");
  const { TooManyTemplatesError } = await import("../../email/templates/template-renderer.ts");
  try {
    return await checkInThread(account?.id ?? 0, category, template, brand);
  } catch (error) {
    if (error instanceof TooManyTemplatesError) {
      throw new ServiceError("tooManyRequests", tooManyRequestsMessage, { retryAfterMs: templateLimits.renderMs });
    }
    if (!(error instanceof TemplateError)) throw error;
    const { part: field, line, column, problem, message } = error;
    const position = line === undefined || column === undefined ? undefined : { field, line, column, problem };
    throw new ServiceError("invalidParams", message, { field, position, cause: error });
  }
}

/** An email for which the account's template was used. */
type TemplatedEmail = Pick<OutgoingEmail, "accountId" | "category" | "templateState">;

/**
 * Counts the consecutive emails for which a template failed, and disables it after several. Does nothing if the template
 * has been saved again.
 * @param problem absent if the template was rendered
 * @returns whether the template is disabled
 */
export async function recordTemplateUse(
  { accountId, category, templateState }: TemplatedEmail,
  problem: string | undefined,
  { transaction, nowMs }: Pick<HandlerContext, "transaction" | "nowMs">,
): Promise<boolean> {
  const template = updateAccountRows("mail_templates", accountId, transaction)
    .where("category", "=", category)
    .where("updated_at", "=", templateState?.savedAtMs ?? 0)
    .where("disabled_at", "is", null);
  if (problem === undefined) {
    await template.set({ failures: 0, problem: null }).execute();
    return false;
  }
  const counted = await template
    .set((eb) => ({ failures: eb("failures", "+", 1), problem: toDetail(problem) }))
    .returning("failures")
    .executeTakeFirst();
  if (!counted || counted.failures < templateLimits.failures) return false;
  await template.set({ disabled_at: nowMs }).execute();
  return true;
}
