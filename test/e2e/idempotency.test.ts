import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { Homes } from "../support/starpost.ts";
import { postgresServer, postgresSkipped, takeDatabase } from "../support/postgres.ts";
import { chooseSize } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const kills = chooseSize(3, 20);

/** Creates reviews while the service is killed repeatedly, repeating each call with its key until it has a response. */
async function createDespiteKills(env: Record<string, string>) {
  const home = homes.open(env);
  let server = await home.serve();
  const { data } = await home.json<{ utoken: string }>(["auth", "token"]);
  const { utoken } = data;
  const responses = new Map<number, unknown>();
  const stop = new AbortController();
  const create = async (n: number): Promise<boolean> => {
    const review = {
      sku: "teapot",
      product_title: "Teapot",
      display_name: "Ann",
      email: `a${n}@mail.example`,
      review_title: "Pours",
      review_content: "Well",
      review_score: 5,
    };
    const response = await fetch(`${server.url}/reviews/dynamic_create`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": `review ${n}` },
      body: JSON.stringify({ ...review, appkey: server.app_key, utoken }),
    }).catch(() => undefined);
    if (response?.status !== 200) return false;
    const body: unknown = await response.json().catch(() => undefined);
    if (body === undefined) return false;
    responses.set(n, body);
    return true;
  };
  let last = 0;
  let repeated = 0;
  const workers = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) {
      const n = last++;
      while (!(await create(n))) {
        repeated++;
        await sleep(20);
      }
    }
  });
  for (let at = 0; at < kills; at++) {
    await sleep(100 + Math.random() * 300);
    server.process.kill("SIGKILL");
    await server.process;
    server = await home.serve();
  }
  stop.abort();
  await Promise.all(workers);
  const { stdout } = await home.run(["reviews", "export", "--format", "ndjson"]);
  const emails = stdout.split("\n").map((line) => (JSON.parse(line) as { email: string }).email);
  const first = responses.get(0);
  await create(0);
  expect(responses.get(0)).toEqual(first);
  await server.stop();
  return { created: last, repeated, stored: emails.length, different: new Set(emails).size };
}

test("calls with an idempotency key run exactly once although the service is killed, on SQLite", async () => {
  const { created, repeated, stored, different } = await createDespiteKills({});
  expect(repeated).toBeGreaterThan(0);
  expect([stored, different]).toEqual([created, created]);
}, 120_000);

if (postgresServer === undefined) test.skip(`calls with an idempotency key run exactly once, on ${postgresSkipped}`);
else {
  test("calls with an idempotency key run exactly once although the service is killed, on PostgreSQL", async () => {
    const { url, drop } = await takeDatabase();
    const { created, repeated, stored, different } = await createDespiteKills({ STARPOST_DATABASE: url });
    await drop();
    expect(repeated).toBeGreaterThan(0);
    expect([stored, different]).toEqual([created, created]);
  }, 120_000);
}
