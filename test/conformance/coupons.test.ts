import { expect, it } from "vitest";
import { couponCodeLength } from "../../src/contract/index.ts";
import { describeBackends } from "../support/backends.ts";
import { invalidField } from "../support/service-errors.ts";

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
    expect(await service.coupons.list({})).toEqual({ coupons: [{ code: "ZZZ" }, { code: "AAA" }, { code: "MMM" }] });
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
});
