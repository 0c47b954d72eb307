import PostalMime, { type Email } from "postal-mime";
import { describe, expect, it } from "vitest";
import { defaultBrand, siteReviewsId } from "../../../../src/contract/index.ts";
import { composeMessage } from "../../../../src/email/transports/mime-message.ts";
import type { EmailSender } from "../../../../src/email/transports/transport.ts";
import type { OutgoingEmail } from "../../../../src/email/outgoing-email.ts";
import { hostileTexts, longWords } from "../../../support/hostile-texts.ts";
import { findFaults } from "../../../support/html.ts";
import { anOutgoingEmail } from "../../../support/outgoing-email.ts";

const from: EmailSender = { name: null, address: "reviews@shop.example" };
const nowMs = Date.UTC(2026, 6, 28, 10, 15);

async function compose(fields: Partial<OutgoingEmail> = {}, sender: EmailSender | null = from) {
  const message = await composeMessage(anOutgoingEmail(fields), { from: sender, nowMs });
  const raw = message.raw.toString("utf8");
  const parsed = await PostalMime.parse(message.raw);
  return { message, raw, parsed, header: (name: string) => headersOf(parsed, name) };
}

function headersOf(parsed: Email, name: string): string[] {
  return parsed.headers.filter(({ key }) => key === name).map(({ value }) => value);
}

describe("composeMessage", () => {
  it("sets the headers of automated mail", async () => {
    const { message, parsed, header } = await compose();
    expect(header("message-id")).toEqual(["<mail-7.abc@shop.example>"]);
    expect(message.messageId).toBe("<mail-7.abc@shop.example>");
    expect(header("auto-submitted")).toEqual(["auto-generated"]);
    expect(header("list-unsubscribe")).toEqual(["<https://reviews.example/starpost/v1/l/sample-unsubscribe>"]);
    expect(header("list-unsubscribe-post")).toEqual(["List-Unsubscribe=One-Click"]);
    expect(header("list-id")).toEqual(["<map.app-key.shop.example>"]);
    expect(header("x-starpost-mail")).toEqual(["mail-7.abc"]);
    expect(parsed.date).toBe("2026-07-28T10:15:00.000Z");
    expect(parsed.from).toMatchObject({ name: "Tea & Cups", address: "reviews@shop.example" });
    expect(parsed.replyTo).toEqual([parsed.from]);
    expect(parsed.to).toMatchObject([{ name: "Ana Müller", address: "ana@customer.example" }]);
  });

  it("has a text part and an HTML part with the same content for each product", async () => {
    const { raw, parsed } = await compose();
    expect(raw).toMatch(/^Content-Type: multipart\/alternative/m);
    for (const part of [parsed.text ?? "", parsed.html ?? ""]) {
      expect(part).toContain("Teapot “Morning”, 1.2 l");
      expect(part).toContain("كوب شاي");
      expect(part.match(/https:\/\/reviews\.example\/starpost\/v1\/l\/sample(?!-)/g)).toHaveLength(10);
      expect(part).toContain("https://reviews.example/starpost/v1/l/sample?score=5");
      expect(part).toContain("https://reviews.example/starpost/v1/l/sample-unsubscribe");
    }
    expect(parsed.html).toContain('<img src="https://shop.example/teapot.png" alt="" width="72"');
    expect(parsed.subject).toBe("How do you like your order from Tea & Cups?");
  });

  it("names the product if there is only one", async () => {
    const { products } = anOutgoingEmail().data as { products: object[] };
    const { parsed } = await compose({
      data: { ...anOutgoingEmail().data, products: products.slice(1), is_test: true },
    });
    expect(parsed.subject).toBe("How do you like كوب شاي?");
    expect(parsed.text).toContain("This is a test email.");
  });

  it("uses the configured sender, and fails without one", async () => {
    const named = await compose({}, { name: "Zoë, from Tea", address: "zoe@tëa.example" });
    expect(named.parsed.from).toMatchObject({ name: "Zoë, from Tea", address: "zoe@xn--ta-hja.example" });
    expect(named.message.messageId).toBe("<mail-7.abc@xn--ta-hja.example>");
    const unnamed = await compose({}, null);
    expect(unnamed.parsed.from).toMatchObject({ name: "Tea & Cups", address: "reviews@starpost.invalid" });
  });

  it("uses the configured name, or none, for a store without a name", async () => {
    const store = { name: "", url: null };
    const named = await compose({ store }, { name: "Tea", address: "tea@shop.example" });
    expect(named.parsed.text).toContain("your order 100234 from Tea.");
    const { parsed } = await compose({ store });
    expect(parsed.from).toMatchObject({ name: "", address: "reviews@shop.example" });
    expect(parsed.text).toContain("your order 100234 from our store.");
    const product = { product_id: siteReviewsId, name: "", url: "", image_url: null };
    const products = [{ ...product, review_url: "https://reviews.example/r" }];
    const brand = { ...defaultBrand, language: "de" } as const;
    const request = await compose({ store, brand, data: { ...anOutgoingEmail().data, products } });
    expect(request.parsed.text).toContain("Bestellung 100234 bei uns.");
    expect(request.parsed.text).toContain("\nUnser Shop\n");
  });

  it("includes the tracking image only if requested", async () => {
    const openUrl = 'https://reviews.example/o/1?a="b"&c';
    expect((await compose({ openUrl })).parsed.html).toMatch(
      /<img src="https:\/\/reviews\.example\/o\/1\?a=&quot;b&quot;&amp;c" width="1" height="1" alt="">\s*<\/body>/,
    );
    expect((await compose()).parsed.html).not.toContain('width="1"');
  });

  it("adds the image at the end of the body, also after letters whose case variants have other lengths", async () => {
    const to = { name: "İİİ İpek", address: "ipek@customer.example" };
    const { parsed } = await compose({ to, openUrl: "https://reviews.example/o" });
    expect(parsed.html).toContain("İİİ İpek");
    expect(parsed.html).toMatch(/<img src="https:\/\/reviews\.example\/o"[^>]*>\n<\/body>\n<\/html>\n*$/);
    expect(await findFaults(parsed.html ?? "", { isEmail: true })).toEqual([]);
  });

  it("wraps lines at the length that every server accepts", async () => {
    const { raw } = await compose({ store: { name: "x".repeat(1000), url: null } });
    expect(Math.max(...raw.split("\r\n").map((line) => line.length))).toBeLessThanOrEqual(998);
    expect(raw.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  it("encodes the domain in ASCII and keeps the local part", async () => {
    const { message } = await compose({ to: { name: "", address: "jürgen@bücher.example" } });
    expect(message.to).toBe("jürgen@xn--bcher-kva.example");
  });

  it.each([
    "no-at",
    "@customer.example",
    "a@",
    "a b@customer.example",
    "a@b>\r\nRCPT TO:<c@d.example",
    "a\r\nBcc: b@c.example",
    "a@[127.0.0.1",
    `${"x".repeat(65)}@customer.example`,
    "a@customer.example/1",
    "a@customer.example?1",
    "a@customer.example#1",
    "a@customer.example\\1",
    "a@custom%65r.example",
    "a@customer.example,b.example",
  ])("rejects the recipient %j", async (address) => {
    await expect(compose({ to: { name: "", address } })).rejects.toMatchObject({ state: "invalid_address" });
  });
});

const texts = [...hostileTexts, ...longWords];

describe.each(texts.map((text) => [text]))("escapes user text: %j", (text) => {
  const plain = (value: string) => value.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cn}]+/gu, "");

  it("in names", async () => {
    const { products } = anOutgoingEmail().data as { products: object[] };
    const { raw, parsed } = await compose({
      to: { name: text, address: "ana@customer.example" },
      store: { name: text, url: "https://shop.example" },
      data: { ...anOutgoingEmail().data, order_id: text, products: [{ ...products[0], name: text }] },
    });
    await expectHarmless(parsed, raw);
    const [product] = products;
    const tame = await compose({ data: { ...anOutgoingEmail().data, products: [product] } });
    expect(elementsOf(parsed)).toEqual(elementsOf(tame.parsed));
    expect(parsed.to).toHaveLength(1);
    expect(plain(parsed.text ?? "")).toContain(plain(text));
  });

  it("in a review", async () => {
    const { raw, parsed } = await compose(aReview(text));
    await expectHarmless(parsed, raw);
    const tame = await compose(aReview("x"));
    expect(elementsOf(parsed)).toEqual(elementsOf(tame.parsed));
    expect(plain(parsed.text ?? "").replaceAll(">", "")).toContain(plain(text).replaceAll(">", ""));
  });
});

async function expectHarmless(parsed: Email, raw: string): Promise<void> {
  expect(headersOf(parsed, "bcc")).toEqual([]);
  expect(new Set(parsed.headers.map(({ key }) => key)).size).toBe(parsed.headers.length);
  const head = raw.slice(0, raw.indexOf("\r\n\r\n"));
  expect(head).toMatch(/^[\t\r\n\x20-\x7e]*$/);
  expect(parsed.subject).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
  const html = parsed.html ?? "";
  expect(await findFaults(html, { isEmail: true })).toEqual([]);
}

function aReview(text: string): Partial<OutgoingEmail> {
  return {
    category: "anonymous_testimonials_request",
    data: { title: text, content: text, score: 1, product_name: text, verify_url: "https://reviews.example/l" },
  };
}

/** Lists each element with the names of its attributes, without line breaks. */
function elementsOf({ html = "" }: Email): string[] {
  return [...html.matchAll(/<[^>]*>/g)]
    .map(([element]) => element.replaceAll(/="[^"]*"/g, ""))
    .filter((element) => element !== "<br>");
}
