import type { Row } from "../../../storage/tables.ts";
import { updateAccountRows } from "../../kernel/account-rows.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";
import type { LineRuleName } from "./line-rules.ts";

/** The products that an email about an entire order does not mention: the rule by product row. */
export type DroppedProducts = Readonly<Record<number, LineRuleName>>;

type Email = Pick<Row<"mails">, "id" | "data">;

/** Reads the products that were dropped from an email about an entire order. Its `data` contains nothing else. */
export function readDroppedProducts({ data }: Pick<Email, "data">): DroppedProducts {
  return (JSON.parse(data) as { dropped?: DroppedProducts }).dropped ?? {};
}

/** Stores the products that are dropped from emails about entire orders, for later explanations. */
export async function saveDroppedProducts(
  emails: readonly (Email & Pick<Row<"mails">, "account_id" | "product_row">)[],
  decisions: ReadonlyMap<number, { readonly dropped?: DroppedProducts | undefined }>,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  for (const email of emails) {
    const dropped = decisions.get(email.id)?.dropped;
    if (email.product_row !== wholeOrderRow || dropped === undefined) continue;
    const isEmpty = Object.keys(dropped).length === 0;
    const data = JSON.stringify(isEmpty ? {} : { dropped });
    if (data === email.data) continue;
    await updateAccountRows("mails", email.account_id, transaction).set({ data }).where("id", "=", email.id).execute();
  }
}
