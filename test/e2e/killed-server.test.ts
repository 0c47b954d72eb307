import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { createRandom } from "../fuzz/random.ts";
import { postgresServer, postgresSkipped, takeEmptyDatabase } from "../support/postgres.ts";
import { type Home, Homes, readPurchases } from "../support/starpost.ts";
import { chooseSize } from "../support/suite-size.ts";

const kills = chooseSize(3, 30);
const writers = 8;

const homes = new Homes();
afterAll(() => homes.remove());

type Server = Awaited<ReturnType<Home["serve"]>>;

async function logIn({ url, app_key, secret }: Server): Promise<string> {
  const grant = { client_id: app_key, client_secret: secret, grant_type: "client_credentials" };
  const reply = await post(`${url}/oauth/token`, grant);
  return ((await reply.json()) as { access_token: string }).access_token;
}

const post = (url: string, body: object) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

/** Creates orders one after another until the server is gone, and calls back for each acknowledged one. */
async function write(
  { url, app_key }: Server,
  { utoken, prefix, acknowledge }: { utoken: string; prefix: string; acknowledge: (orderId: string) => void },
): Promise<void> {
  const product = { name: "Teapot", url: "https://shop.example/teapot", image: "" };
  for (let nth = 0; ; nth += 1) {
    const order = { order_id: `${prefix}-${nth}`, email: "ann@mail.example", customer_name: "Ann" };
    const dated = { ...order, order_date: "2026-03-01", products: { teapot: product } };
    try {
      const reply = await post(`${url}/apps/${app_key}/purchases`, { utoken, platform: "general", ...dated });
      if (reply.status !== 200) throw new Error(`status ${reply.status}: ${await reply.text()}`);
      await reply.arrayBuffer();
      acknowledge(order.order_id);
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

async function openHome(dialect: string): Promise<Home> {
  if (dialect === "SQLite") return homes.open();
  const { url, drop } = await takeEmptyDatabase();
  onTestFinished(drop);
  return homes.open({ STARPOST_DATABASE: url, STARPOST_KEY: randomBytes(32).toString("hex") });
}

it.each(["SQLite", ...(postgresServer === undefined ? [] : ["PostgreSQL"])])(
  "a server killed under load loses no acknowledged write, on %s",
  async (dialect) => {
    const home = await openHome(dialect);
    const random = createRandom(4_711);
    const acknowledged = new Set<string>();
    for (let kill = 0; kill < kills; kill += 1) {
      const server = await home.serve(["--no-worker"]);
      const utoken = await logIn(server);
      const acknowledge = (orderId: string) => void acknowledged.add(orderId);
      const writing = Array.from({ length: writers }, (_, writer) =>
        write(server, { utoken, prefix: `${kill}-${writer}`, acknowledge }),
      );
      const enough = acknowledged.size + 20 + random.below(chooseSize(60, 300));
      while (acknowledged.size < enough) await sleep(1);
      server.process.kill("SIGKILL");
      await Promise.all(writing);
      expect((await server.process).signal).toBe("SIGKILL");
    }
    const server = await home.serve(["--no-worker"]);
    const { purchases } = await readPurchases(server, await logIn(server));
    const stored = purchases.map(({ order_id }) => order_id);
    expect(acknowledged.size).toBeGreaterThan(kills);
    expect([...acknowledged].filter((orderId) => !stored.includes(orderId))).toEqual([]);
    // Nothing was stored twice, acknowledged or not.
    expect(new Set(stored).size).toBe(stored.length);
    process.stdout.write(`${dialect}: ${kills} kills, ${acknowledged.size} acknowledged, ${stored.length} stored\n`);
    expect(await server.stop()).toBe(0);
  },
);

if (postgresServer === undefined) it.skip(postgresSkipped);
