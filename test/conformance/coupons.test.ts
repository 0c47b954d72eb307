import { beforeEach, expect, it } from "vitest";
import { couponCodeLength } from "../../src/contract/index.ts";
import { describeBackends, describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrderedProduct, aReview } from "../support/builders.ts";
import { sendDueEmails } from "../support/due-emails.ts";
import { createLinkTokens, createOrderEmails, type StoredEmail } from "../support/email-links.ts";
import { readEmails } from "../support/emails.ts";
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

const dayMs = 86_400_000;

describeIsolated("coupons for reviews", (harness: () => Harness) => {
  let account: TestAccount;

  beforeEach(async () => {
    account = await harness().newAccount("Tea Shop");
    await account.service.emailRules.set({ name: "send_coupons", value: true });
    await account.service.emailRules.set({ name: "one_mail_per", value: "product" });
    await account.service.coupons.upload({ coupon_action: "map_review", codes: ["TEA-1", "TEA-2"] });
  });

  const ordered = () =>
    createOrderEmails(harness(), account, {
      language: "de",
      products: { cup: anOrderedProduct(), pot: anOrderedProduct() },
    });
  const write = (mail: StoredEmail | undefined, score: string) => {
    const token = createLinkTokens(harness(), mail as StoredEmail).review();
    const form = { score, title: "Title", content: "Content.", display_name: "Ann" };
    return account.service.reviewRequests.write({ token, ...form });
  };
  const sentCodes = async () =>
    (await readEmails(harness())).flatMap(({ category, email, data }) =>
      category === "coupon_notification" ? [[email, data["coupon_code"]]] : [],
    );
  const issued = async () =>
    (await account.service.coupons.list({ details: true })).coupons.flatMap(({ code, issued_to }) =>
      issued_to ? [[issued_to, code]] : [],
    );
  const disclosed = async () =>
    (await account.service.reviews.list({})).reviews.map(({ score, received_coupon = false }) => [
      score,
      received_coupon,
    ]);
  const ann = "ann@mail.example";

  it("are given once per order, whatever the rating, also to concurrent and repeated submissions", async () => {
    const [cup, pot] = await ordered();
    await Promise.all([write(cup, "1"), write(cup, "1"), write(pot, "5"), write(pot, "5")]);
    await write(pot, "5");
    expect(await sentCodes()).toEqual([[ann, "TEA-1"]]);
    expect(await issued()).toEqual([[ann, "TEA-1"]]);
    expect((await disclosed()).filter(([, received]) => received)).toHaveLength(1);
    const widgets = await Promise.all(
      ["cup", "pot"].map((product_id) => account.service.reviews.widget({ product_id })),
    );
    const shown = widgets.flatMap(({ reviews }) => reviews.filter(({ received_coupon }) => received_coupon));
    expect(shown).toHaveLength(1);
  });

  it("are given when a review is published, not before, nor again", async () => {
    await account.service.account.set({ published_reviews: "moderated" });
    const [cup] = await ordered();
    await write(cup, "1");
    expect(await issued()).toEqual([]);
    const { reviews } = await account.service.reviews.list({ deleted: true });
    const review_id = reviews[0]?.id ?? 0;
    for (const published of [true, false, true])
      await account.service.reviews.setPublished({ review_id, published, reason: "r" });
    expect(await sentCodes()).toEqual([[ann, "TEA-1"]]);
    expect(await disclosed()).toEqual([[1, true]]);
    await account.service.coupons.delete({ coupon_action: "map_review" });
    await account.service.coupons.upload({ coupon_action: "map_review", codes: ["TEA-3"] });
    for (const published of [false, true])
      await account.service.reviews.setPublished({ review_id, published, reason: "r" });
    expect(await issued()).toEqual([]);
  });

  it("are not given without codes, without the feature, nor for reviews without an order", async () => {
    const { service } = account;
    await service.reviews.createNow(aReview({ past: { created_at: "2026-01-01", reviewer_type: "verified_buyer" } }));
    const [cup, pot] = await ordered();
    await service.account.setFeature({ feature: "dynamic_coupons", enabled: false });
    await write(cup, "5");
    expect(await sentCodes()).toEqual([]);
    await service.account.setFeature({ feature: "dynamic_coupons", enabled: true });
    await service.coupons.delete({ coupon_action: "map_review" });
    await write(pot, "5");
    expect(await sentCodes()).toEqual([]);
    expect(await disclosed()).toEqual([false, false, false].map((received) => [5, received]));
  });

  it.each(["kept", "deleted", "turned off", "erased"])("are reminded of once, if the code is %s", async (change) => {
    const { service } = account;
    await service.emailRules.set({ name: "send_coupon_reminders", value: true });
    const [cup] = await ordered();
    await write(cup, "2");
    const thanks = (await sendDueEmails(harness())).find(({ category }) => category === "coupon_notification");
    expect(thanks?.brand?.language).toBe("de");
    if (change === "deleted") await service.coupons.delete({ coupon_action: "map_review" });
    if (change === "turned off") await service.emailRules.set({ name: "send_coupon_reminders", value: false });
    if (change === "erased") await service.customers.erase({ email: ann });
    harness().clock.advance(7 * dayMs);
    const sent = (await sendDueEmails(harness())).filter(({ category }) => category === "coupon_reminder");
    expect(sent.map(({ data }) => data["coupon_code"])).toEqual(change === "kept" ? ["TEA-1"] : []);
    harness().clock.advance(30 * dayMs);
    const later = (await sendDueEmails(harness())).filter(({ category }) => category.startsWith("coupon_"));
    expect(later).toEqual([]);
    const stored = JSON.stringify(
      await harness().database.db.selectFrom("mails").selectAll().execute(),
      (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value),
    );
    if (change === "erased") expect(stored).not.toContain("TEA-1");
  });
});
