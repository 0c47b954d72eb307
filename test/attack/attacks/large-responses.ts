import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";

const bytesPerMiB = 1_024 * 1_024;

/** Stores reviews of the greatest length that the service accepts, as the store, which has no limit. */
async function addLongReviews(target: Target, product: string, reviews: number): Promise<void> {
  const { url, account, sendFrom } = target;
  const send = sendFrom("127.0.0.1");
  const add = async (n: number, length: number) => {
    const { status } = await send("POST", "/reviews/dynamic_create", {
      appkey: account.appKey,
      utoken: account.utoken,
      sku: product,
      domain: "shop.example",
      product_title: "Pot",
      product_url: new URL("/pot", url).href,
      display_name: "Ann",
      email: `shopper${n}@mail.example`,
      review_title: "Good",
      review_content: "<".repeat(length),
      review_score: 5,
    });
    return status === 200;
  };
  let length = 65_000;
  while (!(await add(0, length)) && length > 1) length = Math.floor(length / 1.3);
  for (let n = 1; n < reviews; n += 10) {
    await Promise.all(Array.from({ length: Math.min(10, reviews - n) }, (_, at) => add(n + at, length)));
  }
}

/** Requests many large responses at once and does not read them. The server must still answer others. */
function readSlowly(name: string, readers: number, reviews: number, path: (target: Target) => string): Attack {
  return {
    name,
    run: async (target) => {
      await addLongReviews(target, "slow", reviews);
      const sockets = await Promise.all(Array.from({ length: readers }, () => target.connect()));
      for (const socket of sockets) {
        socket.pause();
        socket.write(`GET ${path(target)} HTTP/1.1\r\nhost: x\r\n\r\n`);
      }
      await sleep(4_000);
      const { status } = await target.sendFrom("127.0.0.1")("GET", "/healthz");
      for (const socket of sockets) socket.destroy();
      return { result: `others are answered ${status}`, held: status === 200 };
    },
  };
}

export const slowReadersOfLists = readSlowly(
  "60 slow readers of lists",
  60,
  1_000,
  ({ account }) => `/v1/apps/${account.appKey}/reviews?utoken=${account.utoken}&count=1000`,
);

export const slowReadersOfWidgets = readSlowly(
  "200 slow readers of widgets",
  200,
  150,
  ({ account }) => `/v1/widget/${account.appKey}/products/slow/reviews.json?per_page=150`,
);

export const largeBatch: Attack = {
  name: "A batch of 50 widgets of 150 long reviews",
  run: async (target) => {
    await addLongReviews(target, "batch", 150);
    const method = { method: "main_widget", params: { pid: "batch", per_page: 150 } };
    const methods = Array.from({ length: 50 }, () => method);
    const call = () => target.send("POST", "/batch", { app_key: target.account.appKey, methods });
    const replies = await Promise.all([call(), call(), call()]);
    const characters = Math.max(...replies.map(({ text }) => text.length));
    return { result: `${Math.round(characters / bytesPerMiB)} MiB`, held: characters < 10 * bytesPerMiB };
  },
};
