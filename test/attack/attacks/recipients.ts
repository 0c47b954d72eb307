import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";

const toFullWidth = (text: string) =>
  text.replaceAll(/[a-z]/g, (letter) => String.fromCodePoint(0xfe_e0 + letter.charCodeAt(0)));

/** Spellings of an address. Some contain characters that are not shown. */
const spell = (name: string): string[] => [
  `${name}@mail.example`,
  `${name.toUpperCase()}@mail.example`,
  `${name}@MAIL.Example`,
  `${name}@${toFullWidth("mail")}.example`,
  `${name}@m${toFullWidth("ail")}.example`,
  `${name}@mai${toFullWidth("l")}.example`,
  `${toFullWidth(name)}@mail.example`,
  `${name}@mail．example`,
  `${name}@mail。example`,
  `${name}@mail｡example`,
  `${name}\u200B@mail.example`,
  `\u200D${name}@mail.example`,
  `${name}@mail\u00AD.example`,
  `${name}@mail\uFE0F.example`,
  `${name}@mail\u2060.example`,
  `\u001B${name}@mail.example`,
  `${name}\u202E@mail.example`,
];

/** Spellings of an address with an internationalized domain. */
const spellInternational = (name: string): string[] => [
  `${name}@bücher.example`,
  `${name}@BÜCHER.example`,
  `${name}@bu\u0308cher.example`,
  `${name}@xn--bcher-kva.example`,
  `${name}@XN--BCHER-KVA.example`,
  `${name}@bücher。example`,
  `${name}@${toFullWidth("b")}ücher.example`,
  `${name}@bü\u200Bcher.example`,
];

/** The addresses to which strangers write, by person. */
const listAddresses = (name: string): readonly (readonly string[])[] => [
  [...spell(name), ...Array.from({ length: 9 }, (_, tag) => `${name}+${tag}@mail.example`)],
  [...spellInternational(name), `${name}+1@bücher.example`, `${name}+2@xn--bcher-kva.example`],
  [
    ...Array.from({ length: 6 }, (_, at) => `${name.slice(0, at + 1)}.${name.slice(at + 1)}@gmail.com`),
    `${name}+tag@gmail.com`,
    `${name}@googlemail.com`,
    `${name.toUpperCase().replaceAll(/(?<=.)(?=.)/g, ".")}@Gmail.com`,
    `${name}@ｇmail.com`,
  ],
];

let runs = 0;

const product = { product_title: "Teapot", product_url: "https://shop.example/pot" };

/** Submits a review or a question without a token for each address, from several clients. */
async function submit({ sendFrom, account }: Target, emails: readonly string[], network: number): Promise<number> {
  let accepted = 0;
  for (const [nth, email] of emails.entries()) {
    const send = sendFrom(`127.67.${network}.${1 + Math.floor(nth / 8)}`);
    const texts = { display_name: "Ann", review_content: `Spam ${network} ${nth}` };
    const common = { appkey: account.appKey, email, ...product, ...texts };
    const review = { ...common, sku: `pot${nth}`, review_title: "Spam", review_score: 5 };
    const { status } = await (nth % 2 === 0
      ? send("POST", "/v1/widget/reviews", review)
      : send("POST", "/questions/send_confirmation_mail", { ...common, product_id: "pot" }));
    if (status < 300) accepted += 1;
  }
  return accepted;
}

export const floodSpellings: Attack = {
  name: "Send people emails at other spellings of their addresses",
  // Only the limit per recipient is left.
  serve: ["--public-limits", "submissions-per-client=off,submissions-per-account=off"],
  run: async (target) => {
    // Another attempt needs other people, whose limits are not exhausted.
    const name = `addressee${(runs += 1)}`;
    const sent: number[] = [];
    for (const [network, emails] of listAddresses(name).entries()) {
      const before = target.mail.accepted.length;
      await waitForEmails(target, before + Math.min(5, await submit(target, emails, network)));
      sent.push(target.mail.accepted.length - before);
    }
    return { result: `${sent.join(", ")} emails to a person`, held: sent.every((count) => count > 0 && count <= 5) };
  },
};

let orders = 0;

/** The store creates an order for each address, whose email is due now. */
async function order({ sendFrom, account }: Target, emails: readonly string[]): Promise<void> {
  const order_date = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
  const list = emails.map((email) => {
    orders += 1;
    const products = { [`spelling-${orders}`]: { name: "Teapot", url: "https://shop.example/pot" } };
    return { order_id: `spelling-${orders}`, email, customer_name: "Ann", order_date, products };
  });
  const body = { utoken: account.utoken, platform: "general", orders: list };
  await sendFrom("127.0.0.1")("POST", `/apps/${account.appKey}/purchases/mass_create`, body);
}

/** Waits until emails have arrived, and for a second for further ones. */
async function waitForEmails({ mail: { accepted } }: Target, count: number): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (accepted.length < count && performance.now() < endMs) await sleep(20);
  await sleep(1_000);
}

export const emailUnsubscribed: Attack = {
  name: "Send people emails at other spellings after they unsubscribed",
  run: async (target) => {
    const { mail, send } = target;
    const first = mail.accepted.length;
    await order(target, ["reader@mail.example", "reader@bücher.example"]);
    await waitForEmails(target, first + 2);
    const before = mail.accepted.length;
    for (const { raw } of mail.accepted.slice(first)) {
      const [, path = ""] =
        /^List-Unsubscribe: <https?:\/\/[^/]+(\/[^>]+)>/im.exec(raw.replaceAll(/\r\n\s+/g, "")) ?? [];
      const form = { "content-type": "application/x-www-form-urlencoded" };
      await send("POST", path, "List-Unsubscribe=One-Click", form);
    }
    await order(target, [...spell("reader"), ...spellInternational("reader")]);
    // An email to somebody else is due after them.
    await order(target, ["other.reader@mail.example"]);
    await waitForEmails(target, before + 1);
    const sent = mail.accepted.length - before;
    return { result: `${before - first} unsubscribed; ${sent - 1} emails`, held: before - first === 2 && sent === 1 };
  },
};
