import type { PlanBehavior, PlanDetails, Rehearsed } from "../../import/plan/plan-behavior.ts";
import { listPurchases } from "../../service/listings.ts";
import type { ImportOptions } from "../../import/options.ts";

export const orderPlan: PlanBehavior = {
  ids: [
    { type: "order", writtenIn: "order_id" },
    { type: "product", field: "product_id", writtenIn: "product_id", name: "product_name" },
  ],
  keyOf: ({ key }, row) => JSON.stringify([key, row("product_id")]),

  loadStored: async (service, tally, options) => {
    let lastPurchaseId = 0;
    for await (const page of listPurchases(service, 0, options)) {
      for (const { id, order_id, product_sku, product_name } of page) {
        tally.addStored("order", order_id);
        tally.addStored("product", product_sku, product_name);
        lastPurchaseId = Math.max(lastPurchaseId, id);
      }
    }
    return { lastPurchaseId };
  },

  describe: async ({ sendMail = false }: OrderOptions, rehearsed) => {
    if (!rehearsed) return { mails: { send_mail: sendMail, sent_by_import: 0, if_sent: null } };
    return {
      purchases_added: await countPurchasesAdded(rehearsed),
      mails: await forecast(sendMail, rehearsed),
    };
  },
};

async function countPurchasesAdded({ service, before, tally, callOptions }: Rehearsed): Promise<number> {
  if (tally.countStored("order") === 0) return 0;
  let added = 0;
  for await (const page of listPurchases(service, before["lastPurchaseId"] ?? 0, callOptions)) {
    added += page.filter(({ order_id }) => tally.isStored("order", order_id)).length;
  }
  return added;
}

/** Assumed: without `--send-mail`, an import causes no emails: past customers are not contacted. */
async function forecast(sendMail: boolean, { service, before, callOptions }: Rehearsed): Promise<PlanDetails["mails"]> {
  const since_purchase_id = (before["lastPurchaseId"] ?? 0) + 1;
  const if_sent = await service.emails.forecast(
    { since_purchase_id, ...(sendMail && { send_mail: true }) },
    callOptions,
  );
  return { send_mail: sendMail, sent_by_import: sendMail ? if_sent.mails : 0, if_sent };
}

export interface OrderOptions extends ImportOptions {
  platform?: string | undefined;
  /** False for `--no-validate`. */
  validate?: boolean | undefined;
  /** Whether the customers receive review requests; by default, orders are past ones. */
  sendMail?: boolean | undefined;
  /** Whether canceled orders cause emails too. */
  includeCanceled?: boolean | undefined;
  /** Whether stored products are changed too. */
  updateProducts?: boolean | undefined;
}
