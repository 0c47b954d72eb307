import { createHmac } from "node:crypto";
import type { Attack, AttackedAccount, Target } from "../attack.ts";
import { sendAll } from "../requests.ts";

type Fields = Readonly<Record<string, string | number>>;

const hmac = (message: string, secret: string) => createHmac("sha256", secret).update(message).digest("hex");

/** How this and earlier versions format the message that a trusted vendor signs. */
const formats: readonly ((fields: Fields) => string)[] = [
  (fields) => JSON.stringify(Object.fromEntries(Object.entries(fields).toSorted(byName))),
  (fields) =>
    Object.entries(fields)
      .toSorted(byName)
      .map(([name, value]) => `${name}=${value}`)
      .join("&"),
];

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function createSigned({ appKey, secret }: AttackedAccount, format: (fields: Fields) => string): Fields {
  const fields = {
    appkey: appKey,
    sku: "signed-pot",
    product_title: "Teapot",
    product_url: "https://shop.example/pot",
    display_name: "Ann",
    domain: "shop.example",
    email: "ann@mail.example",
    review_content: "It pours well.",
    review_title: "Good",
    review_score: 5,
    reviewer_type: "verified_buyer",
    time_stamp: String(Math.floor(Date.now() / 1_000)),
  };
  return { ...fields, signature: hmac(format(fields), secret) };
}

async function trustVendors({ sendFrom, account: { appKey, utoken } }: Target): Promise<void> {
  const feature = { utoken, feature: "trusted_vendor", enabled: true };
  await sendFrom("127.0.0.1")("PUT", `/starpost/v1/apps/${appKey}/features`, feature);
}

export const sendBadSignatures: Attack = {
  name: "Have 1,000 bad signatures of 60 KB verified",
  run: async (target) => {
    await trustVendors(target);
    const { account, send } = target;
    const long = "€".repeat(10_000);
    const large = { ...createSigned(account, () => ""), review_content: long, product_description: long };
    const body = Buffer.from(JSON.stringify(large));
    const post = (content: unknown) =>
      ["POST", "/reviews/dynamic_create", content, { "content-type": "application/json" }] as const;
    const replies = await sendAll(
      send,
      Array.from({ length: 1_000 }, () => [...post(body)]),
    );
    const refused = replies.filter(({ status }) => status === 401).length;
    // The signature is valid, so a 429 shows that it was not verified.
    const { status } = await send(...post(createSigned(account, (fields) => formats[0]?.(fields) ?? "")));
    const result = `${refused} of 1,000 refused with 401, then a valid one with ${status}`;
    return { result, held: refused <= 50 && status === 429 };
  },
};

export const forgeSignatures: Attack = {
  name: "Forge and replay a vendor signature",
  run: async (target) => {
    const { send, account } = target;
    await trustVendors(target);
    const post = (fields: Fields) => send("POST", "/reviews/dynamic_create", fields);
    let forged = 0;
    const created = new Set<number>();
    for (const format of formats) {
      const { domain, ...rest } = createSigned(account, format);
      const forgery = { ...rest, display_name: `Ann&domain=${domain}` };
      if ((await post(forgery)).status === 200) forged += 1;
      const signed = { ...rest, domain: domain ?? "" };
      for (let repeat = 0; repeat < 5; repeat += 1) {
        const reply = await post(signed);
        if (reply.status !== 200) continue;
        created.add((reply.json() as { response: { reviews: { id: number }[] } }).response.reviews[0]?.id ?? 0);
      }
    }
    const result = `${forged} forged, ${created.size} reviews from 5 uses of one signature`;
    return { result, held: forged === 0 && created.size === 1 };
  },
};
