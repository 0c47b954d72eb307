import type { EmailTemplate } from "../../../email/outgoing-email.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { readDroppedProducts } from "../rules/dropped-products.ts";
import { readEmailLines } from "../rules/email-lines.ts";
import { buildOutgoingEmails } from "./outgoing-emails.ts";

/**
 * Renders the content of an email.
 * Assumed: content is not stored, so the content of a sent email is rendered again, using the current template and
 * product data and new links.
 * @returns undefined if the template cannot be rendered
 */
export async function renderEmailContent(
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

/** Finds the products that an email about an entire order mentions. */
async function findProducts(row: Row<"mails">, context: HandlerContext): Promise<readonly number[]> {
  if (row.order_row === null) return [];
  const dropped = readDroppedProducts(row);
  const lines = await readEmailLines([row], context);
  return lines.map(({ product_row }) => product_row).filter((product) => dropped[product] === undefined);
}
