import { expect, it } from "vitest";
import { couponErrorTexts, unsubscriberErrorTexts } from "../../src/contract/index.ts";
import { describeBackends } from "../support/backends.ts";
import { aProduct } from "../support/builders.ts";

const dropped = (field: string, error: unknown) => ({ outcome: "dropped", dropped: [{ field, error }] });

describeBackends("the outcomes of coupons", (harness) => {
  it("list each code in the order sent", async () => {
    const { coupons } = (await harness().newAccount()).service;
    await coupons.upload({ coupon_action: "map_review", codes: ["MINE"] });
    await coupons.upload({ coupon_action: "map_share", codes: ["OTHER"] });
    const codes = ["NEW", "", "MINE", " NEW ", "x", "OTHER"];
    const { outcomes } = await coupons.upload({ coupon_action: "map_review", codes, details: true });
    expect(outcomes).toEqual([
      { outcome: "created" },
      dropped("code", couponErrorTexts.empty_cell),
      { outcome: "unchanged" },
      { outcome: "unchanged" },
      dropped("code", couponErrorTexts.code_length),
      dropped("code", couponErrorTexts.duplicate_code),
    ]);
  });
});

describeBackends("the outcomes of unsubscribers", (harness) => {
  it("list added addresses by type, and then in the order sent", async () => {
    const { unsubscribers } = (await harness().newAccount()).service;
    await unsubscribers.massCreate({ email_list: { 1: ["ann@mail.example"] } });
    const email_list = {
      17: ["ann@mail.example"],
      99: ["a@b.example"],
      1: ["bo@mail.example", "x", "ANN@mail.example"],
    };
    const { outcomes } = await unsubscribers.massCreate({ email_list, details: true });
    expect(outcomes).toEqual([
      { outcome: "created" },
      dropped("email", unsubscriberErrorTexts.email),
      { outcome: "unchanged" },
      { outcome: "created" },
      dropped("email_type_id", unsubscriberErrorTexts.emailType),
    ]);
  });

  it("list removed addresses, those that were not stored, and those that their owner unsubscribed", async () => {
    const { service, caller } = await harness().newAccount();
    const { unsubscribers } = service;
    await unsubscribers.massCreate({ email_list: { 1: ["ann@mail.example", "own@mail.example"] } });
    const { db } = harness().database;
    const account = db.selectFrom("accounts").select("id").where("app_key", "=", caller.appKey);
    const own = db.updateTable("unsubscribers").set({ by_name: "USER" }).where("email", "=", "own@mail.example");
    await own.where("account_id", "=", account).execute();
    const email_list = { 1: ["bo@mail.example", "Ann@mail.example", "own@mail.example", "ann@mail.example"] };
    const { outcomes } = await unsubscribers.massDelete({ email_list, details: true });
    expect(outcomes).toEqual([
      { outcome: "unchanged" },
      { outcome: "changed" },
      { outcome: "changed" },
      { outcome: "unchanged" },
    ]);
    expect(await unsubscribers.massDelete({ email_list })).not.toHaveProperty("outcomes");
  });
});

describeBackends("the outcomes of groups", (harness) => {
  it("list added products, and then removed ones", async () => {
    const { products, groups } = (await harness().newAccount()).service;
    await products.massCreate({ products: { a: aProduct(), b: aProduct(), c: aProduct(), d: aProduct() } });
    await groups.create({ group_name: "Cups" });
    await groups.create({ group_name: "Teapots" });
    await groups.update({ group_name: "Cups", product_ids_to_add: ["a"] });
    await groups.update({ group_name: "Teapots", product_ids_to_add: ["b", "c"] });
    const { outcomes } = await groups.update({
      group_name: "Teapots",
      product_ids_to_add: ["a", "b", "d", "d"],
      product_ids_to_remove: ["c", "c"],
      details: true,
    });
    expect(outcomes).toEqual([
      { outcome: "changed", fields: ["group"] },
      { outcome: "unchanged" },
      { outcome: "created" },
      { outcome: "unchanged" },
      { outcome: "changed", fields: ["group"] },
      { outcome: "unchanged" },
    ]);
    expect(await groups.update({ group_name: "Teapots", product_ids_to_add: ["c"] })).toEqual({});
  });
});
