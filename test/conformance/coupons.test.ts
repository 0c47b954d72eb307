import { expect, it } from "vitest";
import { couponCodeLength } from "../../src/contract/index.ts";
import { describeBackends, type Harness } from "../support/backends.ts";
import { invalidField } from "../support/service-errors.ts";

async function disableFeature({ database }: Harness, appKey: string, feature: string): Promise<void> {
  const { id } = await database.db
    .selectFrom("accounts")
    .select("id")
    .where("app_key", "=", appKey)
    .executeTakeFirstOrThrow();
  await database.db.insertInto("account_features").values({ account_id: id, feature, enabled: 0 }).execute();
}

describeBackends("coupons", (harness) => {
  const counts = (empty: number, length: number, duplicate: number) => ({
    empty_cell: { error_text: "Empty cells", error_count: empty },
    code_length: { error_text: "Max/Min code digit requirements", error_count: length },
    duplicate_code: { error_text: "Duplicated content", error_count: duplicate },
  });

  it("uploads codes in order, and lists them", async () => {
    const { service } = await harness().newAccount();
    const reply = await service.coupons.upload({ coupon_action: "map_review", codes: ["ZZZ", "AAA"] });
    expect(reply).toEqual({ total_codes: 2, errors: counts(0, 0, 0), "new-codes": 2 });
    await service.coupons.upload({ coupon_action: "map_share", codes: ["MMM"] });
    expect(await service.coupons.list({})).toEqual({
      coupons: [{ code: "ZZZ" }, { code: "AAA" }, { code: "MMM" }],
    });
  });

  it("assigns each trimmed code to exactly one category", async () => {
    const { service } = await harness().newAccount();
    await service.coupons.upload({ coupon_action: "map_review", codes: ["KNOWN"] });
    const tooShort = "x".repeat(couponCodeLength.min - 1);
    const tooLong = "x".repeat(couponCodeLength.max + 1);
    const codes = ["", "  ", null, tooShort, tooLong, ` ${tooShort} `, "NEW", " NEW ", "KNOWN", "new"];
    const reply = await service.coupons.upload({ coupon_action: "map_share", codes });
    expect(reply).toEqual({ total_codes: 10, errors: counts(3, 3, 2), "new-codes": 2 });
    expect((await service.coupons.list({})).coupons.map(({ code }) => code)).toEqual(["KNOWN", "NEW", "new"]);
  });

  it.each(["A\u0000BCD", "A\ud800BCD"])("rejects a list with a code that cannot be stored: %j", async (code) => {
    const { service } = await harness().newAccount();
    const upload = service.coupons.upload({ coupon_action: "map_share", codes: ["GOOD", code] });
    await expect(upload).rejects.toMatchObject(invalidField("codes.1", "U+0000"));
    expect(await service.coupons.list({})).toEqual({ coupons: [] });
  });

  it("counts the codes of every action, and deletes those of one", async () => {
    const { service } = await harness().newAccount();
    await service.coupons.upload({ coupon_action: "map_review", codes: ["AAA", "BBB"] });
    await service.coupons.upload({ coupon_action: "map_review_share", codes: ["CCC"] });
    expect(await service.coupons.stats({})).toEqual({
      stats: { map_review: 2, map_share: 0, map_review_share: 1 },
    });
    expect(await service.coupons.delete({ coupon_action: "map_review" })).toEqual({});
    expect(await service.coupons.stats({})).toEqual({
      stats: { map_review: 0, map_share: 0, map_review_share: 1 },
    });
    const again = await service.coupons.upload({ coupon_action: "map_share", codes: ["AAA"] });
    expect(again["new-codes"]).toBe(1);
  });

  it("accepts 1,000 codes and rejects more", async () => {
    const { service } = await harness().newAccount();
    const codes = Array.from({ length: 1_001 }, (_, at) => `CODE${at}`);
    await expect(service.coupons.upload({ coupon_action: "map_share", codes })).rejects.toMatchObject(
      invalidField("codes", 1001, 1000),
    );
    const reply = await service.coupons.upload({ coupon_action: "map_share", codes: codes.slice(1) });
    expect(reply["new-codes"]).toBe(1_000);
  });

  it("rejects an unknown action and missing codes", async () => {
    const { service } = await harness().newAccount();
    await expect(service.coupons.upload({ coupon_action: "map" as "map_share", codes: [] })).rejects.toMatchObject(
      invalidField("coupon_action", "map_review, map_share, map_review_share"),
    );
    await expect(service.coupons.upload({ coupon_action: "map_share" } as never)).rejects.toMatchObject({
      message: "Missing codes",
    });
  });

  it("keeps the codes of two accounts separate", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    await one.service.coupons.upload({ coupon_action: "map_share", codes: ["AAA"] });
    const same = await other.service.coupons.upload({ coupon_action: "map_share", codes: ["AAA", "BBB"] });
    expect(same["new-codes"]).toBe(2);
    await other.service.coupons.delete({ coupon_action: "map_share" });
    expect(await one.service.coupons.list({})).toEqual({ coupons: [{ code: "AAA" }] });
    expect((await one.service.coupons.stats({})).stats["map_share"]).toBe(1);
  });

  it("rejects every request of an account with coupons disabled", async () => {
    const { service, caller } = await harness().newAccount();
    await disableFeature(harness(), caller.appKey, "dynamic_coupons");
    const featureDisabled = { kind: "featureDisabled", message: expect.stringContaining("dynamic_coupons") };
    await expect(service.coupons.list({})).rejects.toMatchObject(featureDisabled);
    await expect(service.coupons.stats({})).rejects.toMatchObject(featureDisabled);
    await expect(service.coupons.upload({ coupon_action: "map_share", codes: [] })).rejects.toMatchObject(
      featureDisabled,
    );
    await expect(service.coupons.delete({ coupon_action: "map_share" })).rejects.toMatchObject(featureDisabled);
    await expect(service.unsubscribers.list({})).resolves.toEqual({ unsubscribers: [] });
  });
});
