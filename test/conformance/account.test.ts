import { expect, it } from "vitest";
import { describeBackends } from "../support/backends.ts";
import { invalidField, mentioning } from "../support/service-errors.ts";

describeBackends("account.setPlatform", (harness) => {
  const platform = (shop_domain: string, platform_type_id: string) => ({
    account_platform: { shop_domain, platform_type_id },
  });

  it("sets the platform, and keeps the shop token when it changes", async () => {
    const { service } = await harness().newAccount();
    const first = await service.account.setPlatform(platform("http://one.example", "1"));
    expect(first.account_platform).toEqual({
      id: expect.any(Number),
      shop_token: expect.stringMatching(/^[A-Za-z0-9]{40}$/),
      shop_domain: "http://one.example",
      shop_api_url: null,
      plan_name: "free",
      platform_type: { id: 1, name: "shopify", description: null, billable: false },
      deleted: false,
      shop_user_name: null,
    });
    const updated = await service.account.setPlatform(platform("http://two.example", "2"));
    expect(updated.account_platform).toEqual({
      ...first.account_platform,
      shop_domain: "http://two.example",
      platform_type: { id: 2, name: "general", description: null, billable: false },
    });
  });

  it.each([
    ["http://one\u0000.example", "U+0000"],
    ["http://one\ud800.example", "surrogate"],
    [`http://${"x".repeat(2_048)}`, 2_048],
  ])("rejects a domain that cannot be stored: %j", async (domain, problem) => {
    const { service } = await harness().newAccount();
    await expect(service.account.setPlatform(platform(domain, "1"))).rejects.toMatchObject(
      invalidField("account_platform.shop_domain", problem),
    );
  });
});

describeBackends("account.features", (harness) => {
  const initial = { dynamic_coupons: true, questions_and_answers: true, trusted_vendor: false, unsubscribers: true };

  it("disables and enables a feature, and its operations follow", async () => {
    const { service } = await harness().newAccount();
    const off = await service.account.setFeature({ feature: "dynamic_coupons", enabled: false });
    expect(off).toEqual({ features: { ...initial, dynamic_coupons: false } });
    expect(await service.account.features({})).toEqual(off);
    await expect(service.coupons.stats({})).rejects.toMatchObject({
      kind: "featureDisabled",
      message: expect.stringContaining("dynamic_coupons"),
    });
    const on = await service.account.setFeature({ feature: "dynamic_coupons", enabled: "true" });
    expect(on).toEqual({ features: initial });
    await service.coupons.stats({});
  });

  it("enables a feature that is disabled by default, for one account only", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const set = { feature: "trusted_vendor", enabled: true } as const;
    expect(await one.service.account.setFeature(set)).toEqual({ features: { ...initial, trusted_vendor: true } });
    expect(await one.service.account.setFeature(set)).toMatchObject({ features: { trusted_vendor: true } });
    expect(await other.service.account.features({})).toEqual({ features: initial });
    const mismatched = harness().service({ appKey: one.caller.appKey, utoken: other.caller.utoken });
    await expect(mismatched.account.features({})).rejects.toMatchObject({ kind: "unauthorized" });
    await expect(mismatched.account.setFeature(set)).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it.each([
    [{ enabled: true }, "Missing feature"],
    [{ feature: "time_travel", enabled: true }, mentioning("feature", "dynamic_coupons, ")],
    [{ feature: "unsubscribers" }, "Missing enabled"],
    [{ feature: "unsubscribers", enabled: "off" }, mentioning("enabled", "true", "false")],
  ])("rejects %j", async (input, message) => {
    const { service } = await harness().newAccount();
    await expect(service.account.setFeature(input as never)).rejects.toMatchObject({ kind: "invalidParams", message });
  });
});

describeBackends("account.set", (harness) => {
  const defaults = {
    bottom_lines_delay: 3_600,
    published_reviews: "all",
    anonymous_reviews_per_day: null,
  } as const;

  it("sets the store's name, which an empty one removes", async () => {
    const { service } = await harness().newAccount("Ann Owner");
    expect(await service.account.settings({})).toEqual({ settings: { name: null, ...defaults } });
    expect(await service.account.set({ name: " Tea & Cups " })).toEqual({
      settings: { name: "Tea & Cups", ...defaults },
    });
    expect(await service.account.settings({})).toEqual({ settings: { name: "Tea & Cups", ...defaults } });
    expect(await service.account.set({ name: "" })).toEqual({ settings: { name: null, ...defaults } });
  });

  it.each([
    ["x".repeat(101), 100],
    ["Tea\nCups", "control characters"],
    ["Tea\ud800", "surrogates"],
  ])("rejects the name %j", async (name, problem) => {
    const { service } = await harness().newAccount();
    await expect(service.account.set({ name })).rejects.toMatchObject(invalidField("name", problem));
  });

  it("rejects a call without a setting", async () => {
    const { service } = await harness().newAccount();
    await expect(service.account.set({})).rejects.toMatchObject({ kind: "invalidParams" });
  });

  it("shows the name instead of the owner's, and never the URL", async () => {
    const { service } = await harness().newAccount("Ann Owner");
    const product = { product_id: "pot", sku: "pot", product_title: "Pot", product_url: "https://s.example/pot" };
    const { reviews } = await service.reviews.createNow({
      ...product,
      display_name: "Bo",
      email: "bo@mail.example",
      review_title: "Good",
      review_content: "Good",
      review_score: 5,
    });
    const readName = async () =>
      (await service.reviews.get({ review_id: reviews[0]?.id ?? 0 })).review.account.comments_display_name;
    expect(await readName()).toBe("Ann Owner");
    await service.account.set({ name: "Tea & Cups" });
    expect(await readName()).toBe("Tea & Cups");
    await service.account.set({ name: "" });
    await harness().database.db.deleteFrom("users").where("kind", "=", "owner").execute();
    await service.account.setPlatform({
      account_platform: { shop_domain: "http://tea.example", platform_type_id: "2" },
    });
    expect(await readName()).toBe("");
  });
});
