import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, AttackedAccount, Send } from "../attack.ts";
import { createReview } from "../requests.ts";

/** Starts a receiver on loopback that responds, or hangs. */
async function startReceiver(hangs: boolean): Promise<{ url: string; received: () => number; server: Server }> {
  let received = 0;
  const server = createServer((_request, response) => {
    received += 1;
    if (!hangs) response.end();
  });
  await new Promise<void>((listens) => {
    server.listen(0, "127.0.0.1", listens);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received, server };
}

const subscribe = (send: Send, { appKey, utoken }: AttackedAccount, url: string) =>
  send("POST", `/starpost/v1/apps/${appKey}/webhooks`, { utoken, url, event_name: "review_create" });

export const usePrivateWebhooks: Attack = {
  name: "Send webhooks into the operator's network",
  run: async ({ send, otherAccount }) => {
    const addresses = [
      "http://127.0.0.1:1/",
      "http://10.0.0.1/",
      "http://169.254.169.254/",
      "http://[::1]:1/",
      "http://localhost:1/",
    ];
    let accepted = 0;
    for (const address of addresses) {
      if ((await subscribe(send, otherAccount, address)).status === 200) accepted += 1;
    }
    return { result: `${accepted} of ${addresses.length} private addresses accepted`, held: accepted === 0 };
  },
};

const hangingWebhooks = 40;
const tolerableMs = 10_000;
const giveUpMs = 120_000;

export const hangWebhooks: Attack = {
  name: "Delay other stores with 40 hanging webhooks",
  run: async (target) => {
    const { sendFrom, account, neighbor } = target;
    const sendAsOwner = sendFrom("127.0.0.1");
    const hanging = await startReceiver(true);
    const prompt = await startReceiver(false);
    try {
      for (let nth = 0; nth < hangingWebhooks; nth += 1) {
        await subscribe(sendAsOwner, neighbor, `${hanging.url}/${nth}`);
      }
      await subscribe(sendAsOwner, account, `${prompt.url}/`);
      await createReview({ ...target, account: neighbor }, { sku: "hanging-pot" });
      while (hanging.received() === 0) await sleep(10);
      await createReview(target, { sku: "prompt-pot" });
      const startedAt = performance.now();
      while (prompt.received() === 0 && performance.now() - startedAt < giveUpMs) await sleep(10);
      const waitedMs = performance.now() - startedAt;
      const result = `delivered to another store after ${(waitedMs / 1_000).toFixed(1)} s`;
      return { result, held: waitedMs < tolerableMs };
    } finally {
      for (const { server } of [hanging, prompt]) {
        server.close();
        server.closeAllConnections();
      }
    }
  },
};
