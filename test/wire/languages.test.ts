import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFaults } from "../support/html.ts";
import { openShop, type Shop } from "../support/shop.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

/** Requests a page. Returns its language and direction, and the headers of the response. */
async function read(address: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(address, { headers: { "accept-language": "", ...headers } });
  const page = await response.text();
  const [, lang, dir] = /<html lang="([^"]+)" dir="([^"]+)">/.exec(page) ?? [];
  return { page, shown: [lang, dir], status: response.status, headers: response.headers };
}

describe("the language of a page", () => {
  it("is that of the order, whatever the reader prefers", async () => {
    const address = await shop.reviewAddress({ language: "de_AT" });
    const { page, shown, headers } = await read(address, { "accept-language": "fr" });
    expect([shown, headers.get("vary")]).toEqual([["de", "ltr"], "accept-language"]);
    expect(await findFaults(page)).toEqual([]);
  });

  it("is that of the account if the order of the link has none", async () => {
    await shop.service.brand.set({ language: "he" });
    const address = await shop.reviewAddress({ language: "tlh" });
    expect((await read(address, { "accept-language": "fr" })).shown).toEqual(["he", "rtl"]);
    await shop.service.brand.reset({});
  });

  it.each([
    ["ar;q=0.9, en;q=0.1", ["ar", "rtl"]],
    ["tlh, pt-PT;q=0.5", ["pt-BR", "ltr"]],
    ["tlh", ["nl", "ltr"]],
    ["", ["nl", "ltr"]],
  ])(
    "is what the reader prefers (%j), or that of the account, without a link of an email",
    async (header, expected) => {
      await shop.service.brand.set({ language: "nl" });
      const address = await shop.reviewsAddress();
      const { page, shown, headers } = await read(address, { "accept-language": header });
      expect([shown, headers.get("vary")]).toEqual([expected, "accept-language, accept-encoding"]);
      expect(await findFaults(page)).toEqual([]);
      const etag = headers.get("etag") ?? "";
      const again = { "if-none-match": etag, "accept-language": header };
      expect((await read(address, again)).status).toBe(304);
      expect((await read(address, { ...again, "accept-language": "ja" })).status).toBe(200);
      expect((await read(`${shop.url}/starpost/v1/r/nothing`, { "accept-language": header })).shown[0]).toBe(
        header.includes(";") ? expected[0] : "en",
      );
    },
  );

  it("is that of the account in fragments", async () => {
    await shop.service.brand.set({ language: "ja" });
    const { results } = await shop.service.batch.run({ methods: [{ method: "main_widget", params: {} }] });
    expect(results[0]?.result).toMatch(/^<section class="starpost-widget" lang="ja" dir="ltr"/);
  });
});

describe("messages of an account", () => {
  const heading = { language: "en", key: "page.reviews.heading" } as const;

  it("take the place of the built-in ones in pages and emails, until they are reset", async () => {
    const { messages, emailTemplates } = shop.service;
    await shop.service.brand.reset({});
    const address = await shop.reviewsAddress();
    const before = await messages.list({});
    expect(before.messages.filter(({ is_own }) => is_own)).toEqual([]);
    const changed = { ...heading, text: "<Opinions> & more", is_own: true, built_in: "Reviews" };
    expect(await messages.set({ ...heading, text: changed.text })).toEqual({ messages: [changed] });
    const subject = { language: "en", key: "email.map.subject", text: "{store}: 5 stars?" } as const;
    await messages.set(subject);
    const counted = "{average}/5, {count, plural, =1 {one} one {{total} opinion} other {{total} opinions}}";
    await messages.set({ language: "en", key: "page.reviews.summary", text: counted });
    const { page } = await read(address);
    expect(page).toContain("<h2>&lt;Opinions&gt; &amp; more</h2>");
    expect(page).toMatch(/<\/data>\/5, /);
    expect(await findFaults(page)).toEqual([]);
    expect((await read(address, { "accept-language": "de" })).page).not.toContain("Opinions");
    const { mail } = await emailTemplates.preview({ category: "map" });
    expect(mail.subject).toMatch(/: 5 stars\?$/);
    expect((await messages.list({ language: "en" })).messages.filter(({ is_own }) => is_own)).toHaveLength(3);
    expect((await messages.reset({ key: subject.key })).messages.map(({ key }) => key)).toEqual([subject.key]);
    expect((await messages.reset({})).messages.map(({ key }) => key)).toEqual([heading.key, "page.reviews.summary"]);
    expect(await messages.list({})).toEqual(before);
    expect((await read(address)).page).toContain("<h2>Reviews</h2>");
  });

  it.each([
    ["en", "page.reviews.nothing", "a", "key"],
    ["en", "toString", "a", "key"],
    ["en", "page.reviews.heading", "{a", "text"],
    ["en", "page.reviews.heading", "{name}", "text"],
    ["en", "page.request.bought", "You bought it.", "text"],
    ["pl", "page.mine.answers", "{count, plural, one {#} other {#}}", "text"],
  ] as const)("must fit the built-in ones (%s %s %j)", async (language, key, text, field) => {
    await expect(shop.service.messages.set({ language, key, text })).rejects.toMatchObject({
      kind: "invalidParams",
      field,
    });
  });
});
