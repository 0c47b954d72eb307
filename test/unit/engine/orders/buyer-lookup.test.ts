import { expect, it } from "vitest";
import { hasPurchased, hasUnindexedOrders, indexOrderEmails } from "../../../../src/engine/orders/buyer-lookup.ts";
import { describeBackends } from "../../../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../../../support/builders.ts";
import { lastToken } from "../../../support/emails.ts";

describeBackends("addresses of orders", (harness) => {
  it("are indexed in batches, once, for all accounts", async () => {
    const { db } = harness().database;
    const accounts = [await harness().newAccount(), await harness().newAccount()];
    const rows = Array.from({ length: 10_500 }, (_, at) => ({
      account_id: 1 + (at % accounts.length),
      order_id: `o${at}`,
      platform: "general",
      email: `Buyer${at}@Mail.example`,
      customer_name: "B",
      order_date: 0,
      created_at: 0,
    }));
    for (let from = 0; from < rows.length; from += 1_500) {
      await db
        .insertInto("orders")
        .values(rows.slice(from, from + 1_500))
        .execute();
    }
    const context = { transaction: db as never };
    let steps = 0;
    while (await hasUnindexedOrders(context)) {
      await indexOrderEmails(context);
      steps += 1;
    }
    expect(steps).toBe(2);
    const noted = await db.selectFrom("order_emails").select("order_row").execute();
    expect(noted).toHaveLength(rows.length);
    expect(await hasPurchased({ accountId: 1, email: "buyer0@mail.example", productRow: null }, context)).toBe(false);
  });

  it("identify buyers ignoring case, within one account", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const order = anOrder({ email: "Ann@Mail.example", products: { teapot: anOrderedProduct() } });
    await one.service.orders.massCreate(bulkOrders([order]));
    for (const [account, sku, email, type] of [
      [one, "teapot", "bob@mail.example", "verified_reviewer"],
      [one, "teapot", "ANN@MAIL.example", "verified_buyer"],
      [one, "pan", "ann@mail.example", "verified_reviewer"],
      [other, "teapot", "ann@mail.example", "verified_reviewer"],
    ] as const) {
      await account.service.reviews.create(aReview({ sku, email }));
      await account.service.links.follow({ token: await lastToken(harness(), "verify_url") });
      const { reviews } = await account.service.reviews.list({});
      expect([email, reviews.at(-1)?.reviewer_type]).toEqual([email, type]);
    }
  });
});
