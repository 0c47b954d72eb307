import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import type { LineObstacle } from "./checks.ts";
import { wholeOrder } from "../../orders/order-emails.ts";

/** What a mail about a whole order does not speak of: the rule that keeps each product back, by the product's row. */
export type LeftOut = Readonly<Record<number, LineObstacle>>;

type Mail = Pick<Row<"mails">, "id" | "data">;

/** What was left out of a mail about a whole order when it was last judged; its data holds nothing else. */
export function readLeftOut({ data }: Pick<Mail, "data">): LeftOut {
  return (JSON.parse(data) as { left_out?: LeftOut }).left_out ?? {};
}

/** Keeps what is left out of mails about whole orders, for whoever asks later why. */
export async function keepLeftOut(
  mails: readonly (Mail & Pick<Row<"mails">, "product_row">)[],
  judged: ReadonlyMap<number, { readonly leftOut?: LeftOut | undefined }>,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<void> {
  for (const mail of mails) {
    const leftOut = judged.get(mail.id)?.leftOut;
    if (mail.product_row !== wholeOrder || leftOut === undefined) continue;
    const isNothing = Object.keys(leftOut).length === 0;
    const data = JSON.stringify(isNothing ? {} : { left_out: leftOut });
    if (data === mail.data) continue;
    await transaction.updateTable("mails").set({ data }).where("id", "=", mail.id).execute();
  }
}
