import type { EmailTemplate } from "../../../email/outgoing-email.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { readDroppedProducts } from "../rules/dropped-products.ts";
import { readEmailLines } from "../rules/email-lines.ts";
import { buildOutgoingEmails } from "./outgoing-emails.ts";

/**
 * What a mail says.
 * Assumed: messages are made when they are sent and not kept, so that one that was sent is made again: of the store's
 * template and the products as they are now, with links of its own.
 * @returns nothing where the template cannot be followed
 */
export async function renderMessage(
  mailId: number,
  context: HandlerContext,
): Promise<EmailTemplate | undefined> {
  const row = await context.transaction
    .selectFrom("mails")
    .selectAll()
    .where("id", "=", mailId)
    .executeTakeFirstOrThrow();
  const productRows = row.product_row ? [row.product_row] : await findProducts(row, context);
  const [outgoing] = await buildOutgoingEmails([{ row, productRows }], context);
  const { renderOutgoing } = await import("../../../email/templates/render-email.ts");
  const { TemplateError } = await import("../../../email/templates/template-error.ts");
  try {
    return outgoing && (await renderOutgoing(outgoing));
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

/** Of a mail about a whole order, but what was left out of it. */
async function findProducts(row: Row<"mails">, context: HandlerContext): Promise<readonly number[]> {
  if (row.order_row === null) return [];
  const dropped = readDroppedProducts(row);
  const lines = await readEmailLines([row], context);
  return lines.map(({ product_row }) => product_row).filter((product) => dropped[product] === undefined);
}
