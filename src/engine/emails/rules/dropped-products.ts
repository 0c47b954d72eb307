import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import type { LineRuleName } from "./checks.ts";
import { wholeOrderRow } from "../../orders/order-emails.ts";

/** What a mail about a whole order does not speak of: the rule that keeps each product back, by the product's row. */
export type DroppedProducts = Readonly<Record<number, LineRuleName>>;

type Mail = Pick<Row<"mails">, "id" | "data">;

/** What was left out of a mail about a whole order when it was last judged; its data holds nothing else. */
export function readDroppedProducts({ data }: Pick<Mail, "data">): DroppedProducts {
  return (JSON.parse(data) as { left_out?: DroppedProducts }).left_out ?? {};
}

/** Keeps what is left out of mails about whole orders, for whoever asks later why. */
export async function saveDroppedProducts(
  mails: readonly (Mail & Pick<Row<"mails">, "product_row">)[],
  judged: ReadonlyMap<number, { readonly dropped?: DroppedProducts | undefined }>,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  for (const mail of mails) {
    const dropped = judged.get(mail.id)?.dropped;
    if (mail.product_row !== wholeOrderRow || dropped === undefined) continue;
    const isNothing = Object.keys(dropped).length === 0;
    const data = JSON.stringify(isNothing ? {} : { left_out: dropped });
    if (data === mail.data) continue;
    await transaction.updateTable("mails").set({ data }).where("id", "=", mail.id).execute();
  }
}
