import { sql } from "kysely";
import { expect, it } from "vitest";
import { hasPurchased, hasUnindexedOrders, indexOrderEmails } from "../../../../src/engine/orders/buyer-lookup.ts";
import { describeBackends } from "../../../support/backends.ts";
import { anOrder, anOrderedProduct, aReview, bulkOrders } from "../../../support/builders.ts";
import { lastToken } from "../../../support/emails.ts";

describeBackends("addresses of orders", (harness) => {
  it("are indexed in batches, once, for one account", async () => {
    const { db, dialect } = harness().database;
    for (const _ of [1, 2]) await harness().newAccount();
    const other = await harness().newestAccountId();
    const rows = Array.from({ length: 10_521 }, (_, at) => ({
      account_id: at % 21 === 0 ? other : other - 1,
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
    for (const unit of [1, 2]) {
      await sql`insert into purchases (account_id, order_row, product_row, unit, created_at)
        select account_id, id, 1, ${sql.lit(unit)}, 0 from orders order by id desc`.execute(db);
    }
    const contextOf = (id: number) => ({ transaction: db as never, dialect, account: { id, appKey: "a" } });
    const index = async (id: number) => {
      let steps = 0;
      for (; await hasUnindexedOrders(contextOf(id)); steps += 1) await indexOrderEmails(contextOf(id));
      return steps;
    };
    const countIndexed = async (id: number) =>
      (await db.selectFrom("order_emails").select("email_key").where("account_id", "=", id).execute()).length;
    expect([await index(other - 1), await countIndexed(other - 1), await countIndexed(other)]).toEqual([2, 10_020, 0]);
    expect([await index(other), await countIndexed(other)]).toEqual([1, 501]);
    const buyer = { email: "buyer21@mail.example", productRow: 1 };
    expect(await hasPurchased({ ...buyer, accountId: other }, contextOf(other))).toBe(true);
    expect(await hasPurchased({ ...buyer, accountId: other - 1 }, contextOf(other - 1))).toBe(false);
  });

  it("are not looked for without an account", async () => {
    expect(await hasUnindexedOrders({ transaction: harness().database.db as never })).toBe(false);
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
