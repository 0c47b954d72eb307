import { expect, it } from "vitest";
import { describeBackends } from "../support/backends.ts";

describeBackends("account.setPlatform", (harness) => {
  const platform = (shop_domain: string, platform_type_id: string) => ({
    account_platform: { shop_domain, platform_type_id },
  });

  it("sets the platform, and keeps the shop token when it is set again", async () => {
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
    const again = await service.account.setPlatform(platform("http://two.example", "2"));
    expect(again.account_platform).toEqual({
      ...first.account_platform,
      shop_domain: "http://two.example",
      platform_type: { id: 2, name: "general", description: null, billable: false },
    });
  });

  it("refuses other domains and platforms", async () => {
    const { service } = await harness().newAccount();
    await expect(service.account.setPlatform(platform("https://one.example", "1"))).rejects.toMatchObject({
      kind: "invalidParams",
      message: "account_platform.shop_domain must start with http://",
    });
    await expect(service.account.setPlatform(platform("http://one.example", "14"))).rejects.toMatchObject({
      kind: "invalidParams",
      message: "account_platform.platform_type_id must be one of the allowed IDs (1 to 13, 17, 19 to 23)",
    });
  });

  it.each([
    ["http://one\u0000.example", "contains U+0000 or an unpaired surrogate"],
    ["http://one\ud800.example", "contains U+0000 or an unpaired surrogate"],
    [`http://${"x".repeat(2_048)}`, "is longer than 2048 characters"],
  ])("refuses a domain that cannot be kept: %j", async (domain, problem) => {
    const { service } = await harness().newAccount();
    await expect(service.account.setPlatform(platform(domain, "1"))).rejects.toMatchObject({
      kind: "invalidParams",
      message: `account_platform.shop_domain ${problem}`,
    });
  });

  it("is kept by account", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const mine = await one.service.account.setPlatform(platform("http://one.example", "1"));
    const theirs = await other.service.account.setPlatform(platform("http://two.example", "1"));
    expect(theirs.account_platform.id).not.toBe(mine.account_platform.id);
    expect(theirs.account_platform.shop_token).not.toBe(mine.account_platform.shop_token);
    const again = await one.service.account.setPlatform(platform("http://one.example", "1"));
    expect(again).toEqual(mine);
  });
});

describeBackends("account.features", (harness) => {
  const atFirst = {
    dynamic_coupons: true,
    questions_and_answers: true,
    trusted_vendor: false,
    unsubscribers: true,
  };

  it("tells of every feature of a new account", async () => {
    const { service } = await harness().newAccount();
    expect(await service.account.features({})).toEqual({ features: atFirst });
  });

  it("switches a feature off and on, which its calls then follow", async () => {
    const { service } = await harness().newAccount();
    const off = await service.account.setFeature({ feature: "dynamic_coupons", enabled: false });
    expect(off).toEqual({ features: { ...atFirst, dynamic_coupons: false } });
    expect(await service.account.features({})).toEqual(off);
    await expect(service.coupons.stats({})).rejects.toMatchObject({
      kind: "featureDisabled",
      message: "feature dynamic_coupons is disabled",
    });
    const on = await service.account.setFeature({ feature: "dynamic_coupons", enabled: "true" });
    expect(on).toEqual({ features: atFirst });
    await service.coupons.stats({});
  });

  it("switches on what is off at first, and is kept by account", async () => {
    const [one, other] = [await harness().newAccount(), await harness().newAccount()];
    const set = { feature: "trusted_vendor", enabled: true } as const;
    expect(await one.service.account.setFeature(set)).toEqual({
      features: { ...atFirst, trusted_vendor: true },
    });
    expect(await one.service.account.setFeature(set)).toMatchObject({ features: { trusted_vendor: true } });
    expect(await other.service.account.features({})).toEqual({ features: atFirst });
    const mixed = harness().service({ appKey: one.caller.appKey, utoken: other.caller.utoken });
    await expect(mixed.account.features({})).rejects.toMatchObject({ kind: "unauthorized" });
    await expect(mixed.account.setFeature(set)).rejects.toMatchObject({ kind: "unauthorized" });
  });

  it.each([
    [{ enabled: true }, "Missing feature"],
    [
      { feature: "time_travel", enabled: true },
      expect.stringMatching(/^feature must be one of dynamic_coupons, /),
    ],
    [{ feature: "unsubscribers" }, "Missing enabled"],
    [{ feature: "unsubscribers", enabled: "off" }, "enabled must be true or false"],
  ])("refuses %j", async (input, message) => {
    const { service } = await harness().newAccount();
    await expect(service.account.setFeature(input as never)).rejects.toMatchObject({
      kind: "invalidParams",
      message,
    });
  });
});
