import { setTimeout as sleep } from "node:timers/promises";
import sharp from "sharp";
import { openDatabase } from "../../../src/storage/database.ts";
import { chooseSize } from "../../support/suite-size.ts";
import type { Attack, AttackReply, Send, Target } from "../attack.ts";
import { callAsNeighbor } from "../requests.ts";

const clients = 50;
/** Those that upload photos, which wait for each other. The others would hardly do anything else. */
const uploaders = 8;
const seconds = { alone: chooseSize(2, 15), beside: chooseSize(4, 30) };

/** A short call may take longer than the factor says, as long as nobody notices. */
const limits = { factor: 4, unnoticedMs: chooseSize(50, 10) } as const;

type Make = (send: Send, nth: number) => Promise<AttackReply>;

/** What uploaders and the other clients do, in turn: everything that takes the server long, and what it refuses. */
async function listCalls({ otherAccount: { appKey }, random }: Target): Promise<Record<"uploads" | "others", Make[]>> {
  const edge = 1_500;
  const pixels = Buffer.from(Uint8Array.from({ length: edge * edge * 3 }, () => random.below(256)));
  const raw = { width: edge, height: edge, channels: 3 } as const;
  const image = (await sharp(pixels, { raw }).jpeg({ quality: 90 }).toBuffer()).toString("base64");
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`f${nth}`, 1]));
  const [wide, narrow] = [JSON.stringify(names(90_000)), JSON.stringify(names(20_000))];
  const form = new URLSearchParams(JSON.parse(JSON.stringify(names(12_000))) as Record<string, string>).toString();
  const formType = { "content-type": "application/x-www-form-urlencoded" };
  const review = (send: Send, nth: number) =>
    send("POST", "/v1/widget/reviews", {
      appkey: appKey,
      sku: "crowd",
      product_title: "Pot",
      product_url: "https://shop.example/crowd",
      display_name: "Ann",
      email: `crowd${nth}@mail.example`,
      review_title: "Good",
      review_content: `It pours well (${nth}).`,
      review_score: 5,
    });
  const photo: Make = async (send, nth) => {
    const { image_upload_token = "none" } = (await review(send, nth)).json() as { image_upload_token?: string };
    return send("POST", "/starpost/v1/images", { image_upload_token, image });
  };
  const methods = Array.from({ length: clients }, () => ({ method: "main_widget", params: { pid: "crowd" } }));
  const others: Make[] = [
    review,
    (send) => send("POST", "/oauth/token", wide),
    (send) => send("POST", "/v1/widget/reviews", narrow),
    (send) => send("POST", "/oauth/token", form, formType),
    (send) => send("GET", `/v1/widget/${appKey}/products/crowd/reviews.json`),
    (send) => send("POST", "/batch", { app_key: appKey, methods }),
    (send) => send("GET", "/reviews/1/vote/up"),
    (send, nth) => send("GET", `/v1/apps/${appKey}/reviews?utoken=made-up-${nth}`),
  ];
  return { uploads: [photo], others };
}

/** How many of the orders are stored. */
async function countStored(database: string, ids: readonly string[]): Promise<number> {
  const { db } = await openDatabase(database, { nowMs: 0 });
  const rows = await db.selectFrom("orders").select("order_id").where("order_id", "in", ids).execute();
  await db.destroy();
  return rows.length;
}

export const crowd: Attack = {
  name: "Delay another store with 50 clients at full speed",
  run: async (target) => {
    const { uploads, others } = await listCalls(target);
    const alone = await callAsNeighbor(target, () => sleep(seconds.alone * 1_000));
    const over = AbortSignal.timeout(seconds.beside * 1_000);
    let [made, bugs] = [0, 0];
    const attack = async (_: unknown, client: number) => {
      const send = target.sendFrom(`127.68.0.${client + 1}`);
      const calls = client < uploaders ? uploads : others;
      for (let nth = client; !over.aborted; nth += 1) {
        const call = calls[nth % calls.length] ?? calls[0];
        const reply = await call?.(send, (made += 1)).catch(() => undefined);
        if (reply?.status === 500 && !reply.text.includes("Exceptions::InvalidParams")) bugs += 1;
      }
    };
    const beside = await callAsNeighbor(target, () => Promise.all(Array.from({ length: clients }, attack)));
    const lost = beside.stored.length - (await countStored(target.database, beside.stored));
    const failed = beside.calls - beside.answered;
    return {
      result:
        `beside ${made} calls, ${failed} of ${beside.calls} calls of the store fail, ${lost} orders are lost; ` +
        `its p99 is ${beside.p99Ms} ms, alone ${alone.p99Ms} ms`,
      held: bugs + lost + failed === 0 && beside.p99Ms <= Math.max(limits.factor * alone.p99Ms, limits.unnoticedMs),
    };
  },
};
