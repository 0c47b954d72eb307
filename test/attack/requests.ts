import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { attackLimits, type AttackReply, type Outcome, type Send, type Target } from "./attack.ts";

/** Sends requests, 16 at a time, and returns the responses in order. */
export async function sendAll(send: Send, requests: readonly Parameters<Send>[]): Promise<AttackReply[]> {
  const replies: AttackReply[] = [];
  const pending = requests.entries();
  const sendPending = async () => {
    for (const [at, request] of pending) replies[at] = await send(...request);
  };
  await Promise.all(Array.from({ length: 16 }, sendPending));
  return replies;
}

const neighborProgram = join(import.meta.dirname, "neighbor.js");

/** What another store experienced. Times are in milliseconds. */
interface NeighborReport {
  readonly calls: number;
  readonly answered: number;
  /** The IDs of the orders that were acknowledged. */
  readonly stored: readonly string[];
  readonly p99Ms: number;
  readonly longestMs: number;
}

/** Makes calls of another store from a process of its own while `work` runs. */
export async function callAsNeighbor(
  { url, pid, neighbor }: Target,
  work: () => Promise<unknown>,
): Promise<NeighborReport> {
  const child = fork(neighborProgram, [url, String(pid), neighbor.appKey, neighbor.utoken]);
  await once(child, "message");
  await work();
  const reported = once(child, "message") as Promise<[NeighborReport]>;
  child.send("stop");
  return (await reported)[0];
}

/** Checks how long the calls of another store take while `work` runs. */
export async function watchNeighbor(target: Target, work: () => Promise<unknown>): Promise<Outcome> {
  const { calls, answered, longestMs } = await callAsNeighbor(target, work);
  const missing = answered === calls ? "" : `${calls - answered} of ${calls} calls of another store fail; `;
  return {
    result: `${missing}another store waits at most ${longestMs} ms`,
    held: answered === calls && longestMs <= attackLimits.delayMs,
  };
}

/** The store's own review. Returns its ID. */
export async function createReview({ sendFrom, account }: Target, fields: object = {}): Promise<number> {
  const texts = { display_name: "Ann Victim", review_title: "Good", review_content: "It pours well." };
  const review = { ...texts, email: "ann.victim@mail.example", review_score: 5 };
  const product = { sku: "pot", product_title: "Teapot", product_url: "https://shop.example/pot" };
  const { appKey: appkey, utoken } = account;
  const body = { appkey, utoken, ...product, ...review, ...fields };
  const reply = await sendFrom("127.0.0.1")("POST", "/reviews/dynamic_create", body);
  const { response } = reply.json() as { response: { reviews: { id: number }[] } };
  return response.reviews[0]?.id ?? 0;
}

let orders = 0;

/** Creates an order whose email is due now. */
export async function createDueOrder(
  { sendFrom, account }: Target,
  { products, url = "https://shop.example/pot" }: { products: number; url?: string },
): Promise<void> {
  orders += 1;
  const product = { name: "Teapot", url, image: "" };
  const order = {
    order_id: `due-${orders}`,
    email: `due${orders}@mail.example`,
    customer_name: "Ann",
    order_date: new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10),
    products: Object.fromEntries(Array.from({ length: products }, (_, nth) => [`due-${orders}-${nth}`, product])),
  };
  const { appKey, utoken } = account;
  const body = { utoken, platform: "general", orders: [order] };
  await sendFrom("127.0.0.1")("POST", `/apps/${appKey}/purchases/mass_create`, body);
}
