import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { createReview } from "../requests.ts";

/** Whether a response names another store or a person. */
const reveals = (text: string, appKey: string) => text.includes(appKey) || text.includes("Ann Victim");

export const readForeignRecords: Attack = {
  name: "Read app keys and full names by counting",
  run: async (target) => {
    const reviewId = await createReview(target);
    let revealed = 0;
    for (let id = Math.max(1, reviewId - 10); id <= reviewId; id += 1) {
      if (reveals((await target.send("GET", `/reviews/${id}`)).text, target.account.appKey)) revealed += 1;
    }
    for (let id = 1; id <= 20; id += 1) {
      if (reveals((await target.send("GET", `/users/${id}`)).text, target.account.appKey)) revealed += 1;
    }
    return { result: `${revealed} responses with app keys or full names`, held: revealed === 0 };
  },
};

/** Core calls of the store itself in the time of the attack; a little below its limit of 5 per second. */
const ownCalls = 10;

export const exhaustStoreRate: Attack = {
  name: "Use up a store's rate with wrong tokens",
  run: async ({ send, sendFrom, account }) => {
    const path = `/core/v3/stores/${account.appKey}/products`;
    const over = new AbortController();
    const attack = async () => {
      while (!over.signal.aborted) {
        await send("GET", path, undefined, { "x-service-token": "wrong" });
        await sleep(20);
      }
    };
    const attacking = [attack(), attack()];
    const sendAsStore = sendFrom("127.0.0.1");
    let succeeded = 0;
    for (let nth = 0; nth < ownCalls; nth += 1) {
      await sleep(250);
      const { status } = await sendAsStore("GET", path, undefined, { "x-service-token": account.utoken });
      if (status === 200) succeeded += 1;
    }
    over.abort();
    await Promise.all(attacking);
    return { result: `${succeeded} of ${ownCalls} calls of the store succeeded`, held: succeeded === ownCalls };
  },
};
