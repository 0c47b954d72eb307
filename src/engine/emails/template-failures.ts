import { templateLimits } from "../../contract/index.ts";
import type { OutgoingEmail } from "../../email/outgoing-email.ts";
import { updateAccountRows } from "../kernel/account-rows.ts";
import { toDetail } from "../kernel/email-log.ts";
import type { HandlerContext } from "../kernel/handler.ts";

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
