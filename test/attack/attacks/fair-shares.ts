import { setTimeout as sleep } from "node:timers/promises";
import { maxUnsubscribersPerCall, orderLimits } from "../../../src/contract/index.ts";
import { type Attack, type AttackedAccount, attackLimits, type Send, type Target } from "../attack.ts";
import { createReview, sendAll, watchNeighbor } from "../requests.ts";

let orders = 0;

function newOrder() {
  orders += 1;
  const product = { name: "Pot", url: "https://shop.example/pot", image: "https://shop.example/pot.jpg" };
  return {
    order_id: `fair-${orders}`,
    email: `fair${orders % 500}@mail.example`,
    customer_name: "Ann",
    order_date: "2026-03-15",
    products: { [`fair-${orders % 50}`]: product },
  };
}

const write = (send: Send, { appKey, utoken }: AttackedAccount) =>
  send("POST", `/apps/${appKey}/purchases`, { utoken, platform: "general", ...newOrder() });

const list = (send: Send, { appKey, utoken }: AttackedAccount) =>
  send("GET", `/v1/apps/${appKey}/reviews?utoken=${utoken}&count=10`);

/** Makes calls of the neighbor until `isOver`, and returns their durations in milliseconds, the shortest first. */
async function callAsNeighbor({ sendFrom, neighbor }: Target, isOver: () => boolean): Promise<readonly number[]> {
  const send = sendFrom("127.0.0.1");
  const durations: number[] = [];
  while (!isOver()) {
    const startedMs = performance.now();
    const { status } = await (durations.length % 2 === 0 ? write : list)(send, neighbor);
    if (status !== 200) throw new Error(`the neighbor's call failed with ${status}`);
    durations.push(performance.now() - startedMs);
    await sleep(5);
  }
  return durations.toSorted((a, b) => a - b);
}

/** Makes calls of the neighbor for a while. */
function callFor(target: Target, ms: number): Promise<readonly number[]> {
  const endMs = performance.now() + ms;
  return callAsNeighbor(target, () => performance.now() > endMs);
}

const bulkCalls = 3;

export const bulkBesideNeighbor: Attack = {
  name: "Delay another store with 3 bulk calls at once",
  run: async (target) => {
    const { send, account } = target;
    const path = `/apps/${account.appKey}/purchases/mass_create`;
    const bodies = Array.from({ length: bulkCalls }, () => {
      const created = Array.from({ length: orderLimits.ordersPerCall }, newOrder);
      return JSON.stringify({ utoken: account.utoken, platform: "general", orders: created });
    });
    const alone = await callFor(target, 1_500);
    let isOver = false;
    const calling = Promise.all(bodies.map((body) => send("POST", path, body))).finally(() => (isOver = true));
    const beside = await callAsNeighbor(target, () => isOver);
    const statuses = (await calling).map(({ status }) => status);
    const delayMs = Math.round((beside.at(-1) ?? 0) - (alone.at(-1) ?? 0));
    return {
      result: `${statuses.join(", ")}; the longest call of the other store took ${delayMs} ms longer`,
      held: statuses.every((status) => status === 200) && delayMs <= attackLimits.delayMs,
    };
  },
};

/** Numbers elements, so that each call has new ones. */
function createList<T>(length: number, create: (id: string) => T): T[] {
  orders += 1;
  return Array.from({ length }, (_, nth) => create(`bulk-${orders}-${nth}`));
}

const keyed = <V>(length: number, value: V) => Object.fromEntries(createList(length, (id) => [id, value] as const));

const invalidLine = { name: "Pot", url: "https://shop.example/pot", image: 0 };
const order = { email: "ann@mail.example", customer_name: "Ann", order_date: "2026-03-15" };

/** The largest valid calls: many invalid values, long descriptions, and many addresses, stored and then stored again. */
function listLargestCalls(database: string): readonly (readonly [method: string, path: string, body: object])[] {
  const product = { name: "Pot", url: "https://shop.example/pot", description: "A pot. ".repeat(1_100) };
  const products = keyed(500, product);
  const renamed = Object.fromEntries(Object.keys(products).map((id) => [id, { ...product, name: "Pan" }]));
  const ofInvalidLines = createList(orderLimits.problemsPerCall / orderLimits.products, (order_id) => ({
    ...order,
    order_id,
    products: keyed(orderLimits.products, invalidLine),
  }));
  // PostgreSQL takes seconds for more, without an effect on others, until it has statistics of the table.
  const count = database.startsWith("postgres") ? 2_000 : maxUnsubscribersPerCall;
  const email_list = { 1: createList(count, (id) => `${id}@mail.example`) };
  const details = true;
  return [
    ["POST", "purchases/mass_create", { platform: "general", details, orders: ofInvalidLines }],
    ["POST", "products/mass_create", { details, products }],
    ["PUT", "products/mass_update", { details, products: renamed }],
    ["POST", "unsubscribers/mass_create", { details, email_list }],
    ["POST", "unsubscribers/mass_create", { details, email_list }],
    ["DELETE", "unsubscribers/mass_delete", { details, email_list }],
  ];
}

export const largestBulkCalls: Attack = {
  name: "Delay another store with the largest bulk calls",
  run: async (target) => {
    const { sendFrom, account } = target;
    const send = sendFrom("127.0.0.1");
    const { appKey, utoken } = account;
    const webhook = { utoken, url: "https://hooks.example/", event_name: "unsubscribed" };
    await send("POST", `/starpost/v1/apps/${appKey}/webhooks`, webhook);
    const calls = listLargestCalls(target.database).map(
      ([method, path, body]) => [method, `/apps/${appKey}/${path}`, JSON.stringify({ utoken, ...body })] as const,
    );
    const statuses: number[] = [];
    const outcome = await watchNeighbor(target, async () => {
      for (const call of calls) statuses.push((await send(...call)).status);
    });
    const isDone = statuses.every((status) => status === 200);
    return { result: `${statuses.join(", ")}; ${outcome.result}`, held: outcome.held && isDone };
  },
};

const callsInFlight = 64;

/** A short call may take longer than the factor says, as long as nobody notices. */
const hotLimits = { factor: 2, unnoticedMs: 100 } as const;

export const hotAccount: Attack = {
  name: "Delay another store with 64 calls in flight",
  run: async (target) => {
    const { send, account } = target;
    const at99 = (durations: readonly number[]) => Math.round(durations[Math.floor(durations.length * 0.99)] ?? 0);
    const alone = at99(await callFor(target, 3_000));
    const over = new AbortController();
    let calls = 0;
    const attack = async (_: unknown, nth: number) => {
      for (; !over.signal.aborted; calls += 1) await (nth % 2 === 0 ? write : list)(send, account);
    };
    const attacking = Promise.all(Array.from({ length: callsInFlight }, attack));
    await sleep(300);
    const beside = at99(await callFor(target, 3_000));
    over.abort();
    await attacking;
    return {
      result: `beside ${calls} calls, the p99 of the other store is ${beside} ms, alone ${alone} ms`,
      held: beside <= Math.max(hotLimits.factor * alone, hotLimits.unnoticedMs),
    };
  },
};

export const exhaustCpu: Attack = {
  name: "Use the CPU with 400 batches of 50 widgets",
  serve: ["--public-limits", "cpu-ms-per-client=500/3600"],
  run: async (target) => {
    const { send, sendFrom, account } = target;
    for (let nth = 0; nth < 20; nth += 1) await createReview(target, { email: `ann${nth}@mail.example` });
    const methods = Array.from({ length: 50 }, () => ({ method: "main_widget", params: { pid: "pot" } }));
    const batch: Parameters<Send> = ["POST", "/batch", { app_key: account.appKey, methods }];
    const replies = await sendAll(
      send,
      Array.from({ length: 400 }, () => batch),
    );
    const refused = replies.filter(({ status }) => status === 429);
    const hasTimes = refused.every(({ headers }) => Number(headers["retry-after"]) >= 1);
    const others = [await list(send, account), await sendFrom("127.0.0.1")(...batch)];
    const isOpen = others.every(({ status }) => status === 200);
    return {
      result: `${refused.length} of ${replies.length} refused; the store and another client: ${isOpen ? "answered" : "refused"}`,
      held: refused.length > 200 && hasTimes && isOpen,
    };
  },
};
