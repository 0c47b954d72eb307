import { expect, it } from "vitest";
import { describeIsolated, type Harness } from "../support/backends.ts";
import { newAccountPerProduct } from "../support/due-emails.ts";
import { createOrderEmails, createLinkTokens } from "../support/email-links.ts";
import { readEmailCounts } from "../support/emails.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const target = "https://shop.example/teapot?a=1&b=ä";

/** Creates an account with an email, and enables the given tracking settings. */
async function setUp(harness: Harness, ...tracked: readonly ("track_opens" | "track_clicks")[]) {
  const account = await newAccountPerProduct(harness);
  for (const name of tracked) await account.service.emailRules.set({ name, value: "on" });
  const [email] = await createOrderEmails(harness, account);
  if (!email) throw new Error("the order created no email");
  const { tracking, reviewRequests } = harness.service({});
  return { account, mail: email, tokens: createLinkTokens(harness, email), tracking, reviewRequests };
}

async function readEvents({ database }: Harness) {
  const rows = await database.db.selectFrom("mail_events").select(["event", "detail"]).orderBy("id").execute();
  return rows.filter(({ event }) => event === "opened" || event === "clicked");
}

describeIsolated("tracking", (harness) => {
  it("records opens, and returns a one-pixel image", async () => {
    const { tokens, tracking } = await setUp(harness(), "track_opens");
    const image = await tracking.open({ token: tokens.open() });
    expect(image.content_type).toBe("image/gif");
    const bytes = Buffer.from(image.bytes);
    expect([bytes.subarray(0, 6).toString("latin1"), bytes.readUInt16LE(6), bytes.readUInt16LE(8)]).toEqual([
      "GIF89a",
      1,
      1,
    ]);
    await tracking.open({ token: tokens.open() });
    expect(await readEmailCounts(harness(), "map")).toMatchObject({ opens: 1, unique_opens: 1 });
    harness().clock.advance(minuteMs);
    await tracking.open({ token: tokens.open() });
    expect(await readEmailCounts(harness(), "map")).toMatchObject({ opens: 2, unique_opens: 1 });
  });

  it("records clicks on each link of an email, and returns the original URL", async () => {
    const { tokens, tracking } = await setUp(harness(), "track_clicks");
    const url = new URL(target).href;
    expect(await tracking.click({ token: tokens.click(target) })).toEqual({ url });
    await tracking.click({ token: tokens.click(target) });
    await tracking.click({ token: tokens.click("https://shop.example/other") });
    expect(await readEmailCounts(harness(), "map")).toMatchObject({ clicks: 2, unique_clicks: 1 });
    expect(await readEvents(harness())).toEqual([
      { event: "clicked", detail: null },
      { event: "clicked", detail: null },
    ]);
  });

  it("counts the click that led to a review once", async () => {
    const { tokens, tracking, reviewRequests } = await setUp(harness(), "track_clicks");
    await tracking.click({ token: tokens.click(`http://localhost/starpost/v1/r/${tokens.review()}`) });
    harness().clock.advance(5 * minuteMs);
    const formFields = { score: "4", title: "Good", content: "Good", display_name: "Ann" };
    const { request } = await reviewRequests.write({ token: tokens.review(), ...formFields });
    expect(request.state).toBe("done");
    expect(await readEmailCounts(harness(), "map")).toMatchObject({ clicks: 1, unique_clicks: 1 });
  });

  it("counts the star links of a product as one link, and keeps the rating", async () => {
    const { tokens, tracking } = await setUp(harness(), "track_clicks");
    const form = { token: tokens.review() };
    for (const score of ["4", "5"]) {
      expect((await tracking.click({ ...form, score })).url).toMatch(
        new RegExp(`/starpost/v1/r/[^?]+\\?score=${score}$`),
      );
    }
    for (const score of ["6", "5&x=y", ["1", "2"]]) {
      expect((await tracking.click({ ...form, score: score as string })).url).not.toContain("?");
    }
    expect(await readEmailCounts(harness(), "map")).toMatchObject({ clicks: 1, unique_clicks: 1 });
    expect(await tracking.click({ token: tokens.click(target), score: "5" })).toEqual({ url: new URL(target).href });
  });

  it("records nothing for look-ups, by default, or once tracking is disabled", async () => {
    const { account, tokens, tracking } = await setUp(harness());
    const token = { open: tokens.open(), click: tokens.click(target) };
    await tracking.open({ token: token.open });
    expect(await tracking.click({ token: token.click })).toEqual({ url: new URL(target).href });
    for (const name of ["track_opens", "track_clicks"] as const) {
      await account.service.emailRules.set({ name, value: "on" });
    }
    await tracking.open({ token: token.open, only_look: true });
    await tracking.click({ token: token.click, only_look: true });
    expect(await readEvents(harness())).toEqual([]);
    await tracking.open({ token: token.open });
    await account.service.emailRules.set({ name: "track_opens", value: "off" });
    harness().clock.advance(minuteMs);
    await tracking.open({ token: token.open });
    expect(await readEvents(harness())).toHaveLength(1);
  });

  it("returns only web URLs that an email of the account contained", async () => {
    const { tokens, tracking } = await setUp(harness(), "track_opens", "track_clicks");
    const validToken = tokens.click(target);
    const invalidTokens = [
      "x",
      target,
      `${validToken}A`,
      tokens.open(),
      tokens.unsubscribe(),
      tokens.click("javascript:alert(1)"),
      tokens.click("data:text/html,x"),
      tokens.click("//evil.example"),
      tokens.click(""),
    ];
    for (const token of invalidTokens) expect(await tracking.click({ token }), token).toEqual({ url: null });
    for (const token of ["x", validToken, tokens.review()]) {
      expect((await tracking.open({ token })).content_type).toBe("image/gif");
    }
    const expired = { open: tokens.open(), click: tokens.click(target) };
    harness().clock.advance(365 * dayMs);
    expect(await tracking.click({ token: expired.click })).toEqual({ url: null });
    await tracking.open({ token: expired.open });
    expect(await readEvents(harness())).toEqual([]);
  });

  it("redirects only to the store's domains and its own review forms", async () => {
    const { account, tokens, tracking, database } = { ...(await setUp(harness())), database: harness().database };
    const follow = async (url: string) => (await tracking.click({ token: tokens.click(url) })).url;
    const allowed = ["https://shop.example/a", "http://www.shop.example:8443/", "https://de.shop.example./b?c#d"];
    for (const url of allowed) expect(await follow(url)).toBe(new URL(url).href);
    const refused = [
      "https://evil.example/",
      "https://shop.example.evil.example/",
      "https://evilshop.example/",
      "https://shop.example@evil.example/",
      String.raw`https://evil.example\@shop.example/`,
      "https://evil.example/starpost/v1/r/x",
    ];
    for (const url of refused) expect(await follow(url), url).toBeNull();
    const form = await follow(`https://evil.example/starpost/v1/r/${tokens.review()}`);
    expect(form).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/starpost\/v1\/r\//);

    const platform = { platform_type_id: "1", shop_domain: "http://myshop.example" };
    await account.service.account.setPlatform({ account_platform: platform });
    expect(await follow("https://myshop.example/")).toBe("https://myshop.example/");
    expect(await follow("https://shop.example/")).toBe("https://shop.example/");

    // An account that its operator created has neither; then its first product counts.
    await database.db.deleteFrom("account_platforms").execute();
    await database.db.updateTable("users").set({ url: "" }).where("kind", "=", "owner").execute();
    const added = { name: "Late", url: "https://evil.example/late" };
    await account.service.products.massCreate({ products: { late: added } });
    expect(await follow("https://shop.example/teapot")).toBe("https://shop.example/teapot");
    expect(await follow("https://evil.example/late")).toBeNull();
    await database.db.updateTable("products").set({ named_by_visitor: 1 }).where("product_id", "<>", "late").execute();
    expect(await follow("https://shop.example/teapot")).toBeNull();
  });

  it("accepts URLs of the maximum length", async () => {
    const { tokens, tracking } = await setUp(harness());
    const long = `https://shop.example/${"ä".repeat(2_000)}`;
    expect(await tracking.click({ token: tokens.click(long) })).toEqual({ url: new URL(long).href });
  });
});
