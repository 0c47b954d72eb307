import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Account, Cluster } from "../scale/cluster.ts";
import { anOrder, aReview, productId } from "../scale/requests.ts";
import { emailSetting, inParallel, send } from "./http.ts";

/** What a call sends to PostgreSQL. */
export interface CallCost {
  /** Statements, including `begin` and `commit`. */
  readonly statements: number;
  /** How often the server waits for PostgreSQL before it can go on. Absent if several calls share statements. */
  readonly roundTrips?: number;
}

type Send = (at: number) => Promise<unknown>;

/** Calls by name. Each is made several times, with another number each time. */
function listCalls(cluster: Cluster, { appKey, utoken }: Account, reviewId: number): Record<string, Send> {
  const product = { name: "Product", url: "https://shop.example/p" };
  const order = (at: number) => ({ utoken, ...anOrder(at) });
  const review = (at: number) => ({ appkey: appKey, ...aReview(at) });
  const path = `/apps/${appKey}`;
  const widget = (sku: string) => send(cluster, `/v1/widget/${appKey}/products/${sku}/reviews.json`);
  return {
    "create an order": (at) => send(cluster, `${path}/purchases`, order(at)),
    "create an order, with an idempotency key": (at) =>
      send(cluster, `${path}/purchases`, order(1_000_000 + at), { key: `order-${at}` }),
    "create 200 orders in one call": (at) => {
      const orders = Array.from({ length: 200 }, (_, nth) => anOrder(2_000_000 + at * 200 + nth));
      return send(cluster, `${path}/purchases/mass_create`, { utoken, platform: "general", orders });
    },
    "create a review": (at) => send(cluster, "/v1/widget/reviews", review(at)),
    "import a review": (at) =>
      send(
        cluster,
        "/reviews/dynamic_create",
        { ...review(1_000_000 + at), utoken, past: { created_at: "2026-01-02T10:00:00.000Z" } },
        { key: `review-${at}` },
      ),
    "vote on a review": () => send(cluster, `/reviews/${reviewId}/vote/up`),
    "ask a question": (at) =>
      send(cluster, "/questions/send_confirmation_mail", {
        appkey: appKey,
        review_content: `Question ${at}`,
        display_name: "Ann",
        email: `asker${at}@mail.example`,
        product_id: productId(at),
        product_title: "Product",
        product_url: product.url,
      }),
    "create a product": (at) =>
      send(cluster, `${path}/products/mass_create`, { utoken, products: { [`new-${at}`]: product } }),
    "unsubscribe an address": (at) =>
      send(cluster, `${path}/unsubscribers/mass_create`, { utoken, email_list: { "1": [`gone${at}@mail.example`] } }),
    "list orders": () => send(cluster, `${path}/purchases?utoken=${utoken}`),
    "show the reviews of a product": (at) => widget(productId(at)),
    "show the reviews of a product again": () => widget(productId(0)),
    "show the rating of a product": (at) => send(cluster, `/products/${appKey}/${productId(at)}/bottomline`),
    "list all ratings": () => send(cluster, `/v1/apps/${appKey}/bottom_lines`),
  };
}

const repeats = 5;
const warmUps = 3;

/** Counts the statements of each call in the log of the server, and the round trips by the delay of the network. */
export async function countStatements(
  client: Client,
  { direct, delayed, delayMs }: { readonly direct: Cluster; readonly delayed: Cluster; readonly delayMs: number },
): Promise<Record<string, CallCost>> {
  const [account] = direct.accounts as [Account];
  const past = { created_at: "2026-01-02T10:00:00.000Z" };
  const created = await send(direct, "/reviews/dynamic_create", {
    appkey: account.appKey,
    utoken: account.utoken,
    ...aReview(0),
    past,
  });
  const { id } = (created as { response: { reviews: { id: number }[] } }).response.reviews[0] as { id: number };
  const [calls, slow] = [listCalls(direct, account, id), listCalls(delayed, account, id)];
  const costs: Record<string, CallCost> = {};
  let at = 0;
  for (const [name, call] of Object.entries(calls)) {
    for (let n = 0; n < warmUps; n++) await call(at++);
    const statements = await countLogged(client, async () => {
      for (let n = 0; n < repeats; n++) await call(at++);
    });
    const slowCall = slow[name] as Send;
    const times: number[] = [];
    for (let n = 0; n < repeats; n++) {
      const startedMs = performance.now();
      await slowCall(at++);
      times.push(performance.now() - startedMs);
    }
    costs[name] = { statements: statements / repeats, roundTrips: Math.floor(Math.min(...times) / (2 * delayMs)) };
  }
  const together = await countLogged(client, () =>
    inParallel(manyOrders, 64, (nth) => calls["create an order"]?.(at + nth) ?? Promise.resolve()),
  );
  costs["create an order, 64 in flight for one account"] = { statements: together / manyOrders };
  costs["send an email"] = { statements: (await countSending(client, direct, account)) / sentEmails };
  return costs;
}

const manyOrders = 2_000;
const sentEmails = 200;

const idleMs = 20_000;

/** Counts the statements of a second of a server with a worker for which nothing is due. */
export async function countIdle(client: Client): Promise<CallCost> {
  // What is done once after the start is not part of it.
  await sleep(idleMs / 2);
  return { statements: (await countLogged(client, () => sleep(idleMs))) / (idleMs / 1_000) };
}

/** Counts the statements with which a worker sends emails that are due. */
async function countSending(client: Client, cluster: Cluster, account: Account): Promise<number> {
  const { appKey, utoken } = account;
  await send(cluster, ...emailSetting(account, "due_after_days", 0));
  const orders = Array.from({ length: sentEmails }, (_, nth) => anOrder(3_000_000 + nth));
  await send(cluster, `/apps/${appKey}/purchases/mass_create`, { utoken, platform: "general", orders });
  // The emails of other calls do not count.
  await client.query("update mails set state = 'stopped' where category not in ('mail_after_purchase', 'map')");
  return countLogged(client, async () => void cluster.run(["mail", "run", "--once", "--quiet"]));
}

const logged = String.raw`LOG:  (?:statement|execute [^:]*):`;

async function countLogged(client: Client, work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    // This connection is older than the setting, so its own statements are not logged.
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::integer as count from regexp_matches(pg_read_file('server.log'), '${logged}', 'g')`,
    );
    return rows[0]?.count ?? 0;
  };
  const before = await read();
  await work();
  return (await read()) - before;
}
