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
      message: "account_platform.platform_type_id must be one of the allowed ids",
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
