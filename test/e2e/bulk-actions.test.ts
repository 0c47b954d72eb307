import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmailRecord } from "../../src/contract/emails/emails.ts";
import { startLoopback } from "../support/loopback.ts";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Bulk {
  readonly changed: readonly number[];
  readonly skipped: readonly { readonly id: number; readonly problem: string }[];
}

const reviews = 14;
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

let home: Home;
beforeAll(async () => {
  home = homes.open({ STARPOST_ALLOW_PRIVATE_WEBHOOKS: "on" });
  const write = (name: string, lines: readonly string[]) => {
    const file = join(home.folder, name);
    writeFileSync(file, lines.join("\n"));
    return file;
  };
  const texts = Array.from({ length: reviews }, (_, nth) => {
    return `pot,Title ${nth},The text of ${nth},${(nth % 5) + 1},Ann,a${nth}@mail.example,${day(nth)}`;
  });
  const header = "product_id,review_title,review_content,review_score,display_name,email,date";
  await home.json(["reviews", "import", write("reviews.csv", [header, ...texts])]);
  const orders = Array.from({ length: 12 }, (_, nth) => {
    return `${nth},${day(1)},Ann,a${nth}@mail.example,pot,Pot,https://shop.example/pot`;
  });
  const columns = "order_id,order_date,customer_name,email,product_id,product_name,product_url";
  await home.json(["orders", "import", write("orders.csv", [columns, ...orders]), "--send-mail", "--yes"]);
});

/** The states of the reviews, by ID. */
async function readStates(): Promise<ReadonlyMap<number, string>> {
  const { data } = await home.json<readonly { readonly id: number; readonly state: string }[]>([
    "reviews",
    "list",
    "--deleted",
    "--details",
  ]);
  return new Map(data.map(({ id, state }) => [id, state]));
}

test("hides and publishes the reviews that match filters, with a question", async () => {
  const refused = await home.run(["reviews", "hide", "--score", "1..2"]);
  expect(refused.exitCode).toBe(2);
  // The first ten of the selection are shown: here, there are six.
  expect(refused.stderr.match(/Title \d+/g)).toHaveLength(6);
  expect(new Set((await readStates()).values())).toEqual(new Set(["published"]));

  const { exitCode, data } = await home.json<Bulk>(["reviews", "hide", "--score", "1..2", "--yes"]);
  expect([exitCode, data.changed.length, data.skipped]).toEqual([0, 6, []]);
  const states = await readStates();
  const hidden = [...states].filter(([, state]) => state === "unpublished").map(([id]) => id);
  expect(new Set(data.changed)).toEqual(new Set(hidden));
  const published = await home.json<Bulk>(["reviews", "publish", "--since", "100d", "--yes", "--reason", "fine"]);
  expect(new Set(published.data.changed)).toEqual(new Set(hidden));
});

test("takes IDs from standard input, and skips unknown ones", async () => {
  const { exitCode, data } = await home.json<Bulk>(["reviews", "requeue", "-", "--yes"], { input: "3, 4\n999 3" });
  expect([exitCode, data]).toEqual([3, { changed: [3, 4], skipped: [{ id: 999, problem: "not found" }] }]);
  expect(await home.run(["reviews", "hide", "-", "--yes"], { input: "three" })).toMatchObject({ exitCode: 2 });
});

test("refuses IDs together with filters, and neither", async () => {
  expect(await home.run(["reviews", "hide", "3", "4", "--score", "1"])).toMatchObject({ exitCode: 2 });
  expect(await home.run(["webhooks", "redeliver"])).toMatchObject({ exitCode: 2 });
  expect(await home.run(["mail", "cancel", "1", "--category", "map"])).toMatchObject({ exitCode: 2 });
});

test("cancels the queued emails that match filters", async () => {
  const one = await home.json<Bulk>(["mail", "cancel", "--email", "a3@mail.example", "--yes"]);
  expect(one.data).toMatchObject({ changed: [expect.any(Number)], skipped: [] });
  const others = await home.json<Bulk>(["mail", "cancel", "--category", "map", "--yes"]);
  expect(others.data.changed).toHaveLength(11);
  const { data } = await home.json<readonly EmailRecord[]>(["mail", "list", "--state", "queued"]);
  expect(data).toEqual([]);
});

test("delivers failed webhooks again", async () => {
  const receiver = await startLoopback((response) => response.end());
  await home.json(["webhooks", "create", receiver.url, "--event", "review_create"]);
  await home.json(["webhooks", "trigger", "review_create"]);
  await home.json(["mail", "run", "--once"]);
  const { data } = await home.json<Bulk>(["webhooks", "redeliver", "--state", "delivered", "--since", "24h", "--yes"]);
  expect(data).toEqual({ changed: [1], skipped: [] });
  await home.json(["mail", "run", "--once"]);
  expect(receiver.received).toHaveLength(2);
  await receiver.close();
});

test("unsubscribes addresses from standard input, more than one call accepts", async () => {
  const addresses = Array.from({ length: 400 }, (_, nth) => `u${nth}@mail.example`);
  const input = [...addresses, "bad"].join("\n");
  expect(await home.run(["unsubscribers", "add", "-"], { input })).toMatchObject({ exitCode: 2 });
  const { exitCode } = await home.json(["unsubscribers", "add", "-", "--yes"], { input });
  expect(exitCode).toBe(3);
  const { data } = await home.json<readonly { readonly user_email: string }[]>(["unsubscribers", "list"]);
  expect(new Set(data.map(({ user_email }) => user_email))).toEqual(new Set(addresses));
});
