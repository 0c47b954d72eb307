import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, AttackedAccount, Send, Target } from "../attack.ts";
import { createDueOrder } from "../requests.ts";

const templatePath = ({ appKey }: AttackedAccount) => `/starpost/v1/apps/${appKey}/mail_templates/map`;
const rulePath = ({ appKey }: AttackedAccount) => `/starpost/v1/apps/${appKey}/mail_rules`;

const setTemplate = (send: Send, account: AttackedAccount, parts: object) =>
  send("PUT", templatePath(account), { utoken: account.utoken, subject: "Your order", ...parts });

const resetTemplate = (send: Send, account: AttackedAccount) =>
  send("DELETE", templatePath(account), { utoken: account.utoken });

/** Waits until an email is sent in addition to the earlier ones. */
async function waitForEmail({ mail }: Target, earlier: number, maxMs: number): Promise<void> {
  const startedAt = performance.now();
  while (mail.accepted.length === earlier && performance.now() - startedAt < maxMs) await sleep(20);
}

const unsubscribe = "{{ unsubscribe_url }}";

export const loopTemplates: Attack = {
  name: "Send an email with nested Liquid loops",
  run: async (target) => {
    const { send, account, mail } = target;
    const before = mail.accepted.length;
    // The sample data of the check has two products, the order fifty.
    const loops = `${"{% for product in products %}".repeat(5)}${"{% endfor %}".repeat(5)}`;
    const { status } = await setTemplate(send, account, { text: loops + unsubscribe, html: loops + unsubscribe });
    await createDueOrder(target, { products: 50 });
    const startedAt = performance.now();
    await waitForEmail(target, before, 30_000);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    await resetTemplate(send, account);
    const isSent = mail.accepted.length > before;
    return { result: `template ${status}, ${isSent ? `sent after ${seconds} s` : "not sent"}`, held: isSent };
  },
};

export const longTemplates: Attack = {
  name: "Preview a template of 200 KB",
  run: async ({ send, otherAccount }) => {
    const text = "{{ store.name }}".repeat(6_200) + unsubscribe;
    const startedAt = performance.now();
    const { status } = await send("POST", `${templatePath(otherAccount)}/preview`, {
      utoken: otherAccount.utoken,
      text,
      html: text,
    });
    const ms = performance.now() - startedAt;
    return { result: `${status} after ${(ms / 1_000).toFixed(1)} s`, held: ms < 5_000 };
  },
};

export const redirectShoppers: Attack = {
  name: "Redirect from the operator's domain",
  run: async (target: Target) => {
    const { send, account, mail } = target;
    const evil = "https://evil.example/";
    const { appKey, utoken } = account;
    await send("PUT", rulePath(account), { utoken, name: "track_clicks", value: true });
    const platform = { shop_domain: "http://shop.example", platform_type_id: "2" };
    await send("POST", `/apps/${appKey}/account_platform`, { utoken, account_platform: platform });
    const text = `{% for product in products %}{{ product.url }}{% endfor %} ${unsubscribe}`;
    const html = `{% for product in products %}<a href="{{ product.url }}">x</a>{% endfor %} <a href="${unsubscribe}">y</a>`;
    await setTemplate(send, account, { text, html });
    const before = mail.accepted.length;
    await createDueOrder(target, { products: 1, url: evil });
    await waitForEmail(target, before, 10_000);
    const message = (mail.accepted.at(-1)?.raw ?? "").replaceAll(/=\r?\n/g, "").replaceAll("=3D", "=");
    const links = new Set(message.match(/\/starpost\/v1\/c\/[\w.~-]+/g) ?? []);
    let redirects = 0;
    for (const link of links) {
      const { headers } = await send("GET", link);
      if (headers["location"]?.toString().startsWith(evil) === true) redirects += 1;
    }
    await resetTemplate(send, account);
    await send("PUT", rulePath(account), { utoken, name: "track_clicks", value: false });
    const sent = mail.accepted.length - before;
    return {
      result: `${redirects} redirects to another site (${sent} email, ${links.size} links)`,
      held: redirects === 0 && sent === 1,
    };
  },
};
