import { sql } from "kysely";
import { emailKeyOf } from "../../contract/index.ts";
import { readEmailSettings } from "../accounts/account-settings.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { queueEmails } from "../kernel/outbox.ts";
import { readQuestionTexts } from "./question-messages.ts";

/** How many buyers are asked a question. */
const maxAsked = 5;

/** The newest line items that are searched for them, of which several may belong to the same person. */
const maxSearched = 100;

/**
 * Asks recent buyers of the product to answer a question that is public now, if the account does so.
 * Assumed: these are the customers with the newest orders that cause emails, except the asker: imported orders cause none,
 * so that their customers are not asked either.
 */
export async function queueShopperRequests(
  question: { readonly id: number; readonly accountId: number },
  context: HandlerContext,
): Promise<void> {
  const { accountId, id } = question;
  if (!(await readEmailSettings(context, accountId)).ask_shoppers) return;
  const { productRow, askerEmail, texts } = await readQuestionTexts(question, context);
  const { rows } = await sql<{ email: string; name: string }>`
    select orders.email, orders.customer_name as name
    from (
      select id, order_row from purchases where account_id = ${accountId} and product_row = ${productRow}
      order by id desc limit ${sql.lit(maxSearched)}
    ) as bought cross join orders
    where orders.account_id = ${accountId} and orders.id = bought.order_row and orders.sends_mail = 1
    order by bought.id desc`.execute(context.transaction);
  const asker = emailKeyOf(askerEmail);
  const buyers = new Map<string, (typeof rows)[number]>();
  for (const buyer of rows) {
    const key = emailKeyOf(buyer.email);
    if (key !== asker && !buyers.has(key)) buyers.set(key, buyer);
  }
  const emails = [...buyers.values()].slice(0, maxAsked).map((buyer) => ({
    email: buyer.email,
    name: buyer.name,
    accountId,
    category: "answer_request_shoppers" as const,
    productRow,
    data: (link: Link) => ({ ...texts, question_id: id, answer_url: link("answer_question", id) }),
  }));
  await queueEmails(emails, accountId, context);
}

type Link = Parameters<Parameters<typeof queueEmails>[0][number]["data"]>[0];
