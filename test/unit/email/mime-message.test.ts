import PostalMime, { type Email } from "postal-mime";
import { describe, expect, it } from "vitest";
import { composeMessage } from "../../../src/email/transports/mime-message.ts";
import type { EmailSender } from "../../../src/email/transports/transport.ts";
import type { OutgoingEmail } from "../../../src/email/outgoing-email.ts";
import { hostileTexts, longWords } from "../../support/hostile-texts.ts";
import { findFaults } from "../../support/html.ts";
import { anOutgoingMail } from "../../support/outgoing-mail.ts";

const from: EmailSender = { name: null, address: "reviews@shop.example" };
const nowMs = Date.UTC(2026, 6, 28, 10, 15);

async function compose(fields: Partial<OutgoingEmail> = {}, sender: EmailSender | null = from) {
  const message = await composeMessage(anOutgoingMail(fields), { from: sender, nowMs });
  const raw = message.raw.toString("utf8");
  const parsed = await PostalMime.parse(message.raw);
  return { message, raw, parsed, header: (name: string) => headersOf(parsed, name) };
}

function headersOf(parsed: Email, name: string): string[] {
  return parsed.headers.filter(({ key }) => key === name).map(({ value }) => value);
}

describe("a composed message", () => {
  it("has the headers of mail that a program sends", async () => {
    const { message, parsed, header } = await compose();
    expect(header("message-id")).toEqual(["<mail-7.abc@shop.example>"]);
    expect(message.messageId).toBe("<mail-7.abc@shop.example>");
    expect(header("auto-submitted")).toEqual(["auto-generated"]);
    expect(header("list-unsubscribe")).toEqual([
      "<https://reviews.example/starpost/v1/l/sample-unsubscribe>",
    ]);
    expect(header("list-unsubscribe-post")).toEqual(["List-Unsubscribe=One-Click"]);
    expect(header("x-starpost-mail")).toEqual(["mail-7.abc"]);
    expect(parsed.date).toBe("2026-07-28T10:15:00.000Z");
    expect(parsed.from).toMatchObject({ name: "Tea & Cups", address: "reviews@shop.example" });
    expect(parsed.to).toMatchObject([{ name: "Ana Müller", address: "ana@customer.example" }]);
  });

  it("has a text and an HTML part that say the same of each product", async () => {
    const { raw, parsed } = await compose();
    expect(raw).toMatch(/^Content-Type: multipart\/alternative/m);
    for (const part of [parsed.text ?? "", parsed.html ?? ""]) {
      expect(part).toContain("Teapot “Morning”, 1.2 l");
      expect(part).toContain("كوب شاي");
      expect(part.match(/https:\/\/reviews\.example\/starpost\/v1\/l\/sample(?!-)/g)).toHaveLength(2);
      expect(part).toContain("Write a review");
      expect(part).toContain("https://reviews.example/starpost/v1/l/sample-unsubscribe");
    }
    expect(parsed.html).toContain('alt="Teapot “Morning”, 1.2 l"');
    expect(parsed.subject).toBe("How do you like your order from Tea & Cups?");
  });

  it("names the product where there is one alone", async () => {
    const { products } = anOutgoingMail().data as { products: object[] };
    const { parsed } = await compose({
      data: { ...anOutgoingMail().data, products: products.slice(1), is_test: true },
    });
    expect(parsed.subject).toBe("How do you like كوب شاي?");
    expect(parsed.text).toContain("This is a test email.");
  });

  it("comes under the configured name, and from nobody where nothing is configured", async () => {
    const named = await compose({}, { name: "Zoë, from Tea", address: "zoe@tëa.example" });
    expect(named.parsed.from).toMatchObject({ name: "Zoë, from Tea", address: "zoe@xn--ta-hja.example" });
    expect(named.message.messageId).toBe("<mail-7.abc@xn--ta-hja.example>");
    const unnamed = await compose({}, null);
    expect(unnamed.parsed.from).toMatchObject({ name: "Tea & Cups", address: "reviews@starpost.invalid" });
  });

  it("calls a store without a name by the configured one, or by none", async () => {
    const store = { name: "", url: null };
    const named = await compose({ store }, { name: "Tea", address: "tea@shop.example" });
    expect(named.parsed.text).toContain("your order 100234 from Tea.");
    const { parsed } = await compose({ store });
    expect(parsed.from).toMatchObject({ name: "", address: "reviews@shop.example" });
    expect(parsed.text).toContain("your order 100234 from our store.");
  });

  it("shows the image that tells of opens only where it is asked for", async () => {
    const openUrl = 'https://reviews.example/o/1?a="b"&c';
    expect((await compose({ openUrl })).parsed.html).toMatch(
      /<img src="https:\/\/reviews\.example\/o\/1\?a=&quot;b&quot;&amp;c" width="1" height="1" alt="">\s*<\/body>/,
    );
    expect((await compose()).parsed.html).not.toContain('width="1"');
  });

  it("shows that image at the end of the body, also after letters that are longer in the other case", async () => {
    const to = { name: "İİİ İpek", address: "ipek@customer.example" };
    const { parsed } = await compose({ to, openUrl: "https://reviews.example/o" });
    expect(parsed.html).toContain("İİİ İpek");
    expect(parsed.html).toMatch(/<img src="https:\/\/reviews\.example\/o"[^>]*>\n<\/body>\n<\/html>\n*$/);
    expect(await findFaults(parsed.html ?? "")).toEqual([]);
  });

  it("has lines that every server takes", async () => {
    const { raw } = await compose({ store: { name: "x".repeat(1000), url: null } });
    expect(Math.max(...raw.split("\r\n").map((line) => line.length))).toBeLessThanOrEqual(998);
    expect(raw.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  it("sends a domain in ASCII and the part before @ as it is", async () => {
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
  ])("refuses to mail to %j", async (address) => {
    await expect(compose({ to: { name: "", address } })).rejects.toMatchObject({
      state: "invalid_address",
    });
  });
});

const texts = [...hostileTexts, ...longWords];

describe.each(texts.map((text) => [text]))("what people write stays text: %j", (text) => {
  const plain = (value: string) => value.replaceAll(/[\s\p{Cc}\p{Cf}\p{Cn}]+/gu, "");

  it("as names", async () => {
    const { products } = anOutgoingMail().data as { products: object[] };
    const { raw, parsed } = await compose({
      to: { name: text, address: "ana@customer.example" },
      store: { name: text, url: "https://shop.example" },
      data: { ...anOutgoingMail().data, order_id: text, products: [{ ...products[0], name: text }] },
    });
    await expectHarmless(parsed, raw);
    const [product] = products;
    const tame = await compose({ data: { ...anOutgoingMail().data, products: [product] } });
    expect(elementsOf(parsed)).toEqual(elementsOf(tame.parsed));
    expect(parsed.to).toHaveLength(1);
    expect(plain(parsed.text ?? "")).toContain(plain(text));
  });

  it("as a review", async () => {
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
  expect(await findFaults(html)).toEqual([]);
}

function aReview(text: string): Partial<OutgoingEmail> {
  return {
    category: "anonymous_testimonials_request",
    data: {
      title: text,
      content: text,
      score: 1,
      product_name: text,
      verify_url: "https://reviews.example/l",
    },
  };
}

/** Each element with the names of its attributes; line ends of texts are elements as well, and left out. */
function elementsOf({ html = "" }: Email): string[] {
  return [...html.matchAll(/<[^>]*>/g)]
    .map(([element]) => element.replaceAll(/="[^"]*"/g, ""))
    .filter((element) => element !== "<br>");
}
