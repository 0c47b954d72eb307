import { EventEmitter } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { startLoopback } from "../support/loopback.ts";
import { signatureOf } from "../support/webhook-receiver.ts";
import { makeFolder, run } from "./support.ts";

/** Triggers an event, and listens until the receiver has got it. */
async function forward(flags: readonly string[], status = 204) {
  const env = { STARPOST_HOME: makeFolder() };
  const signals = new EventEmitter();
  const receiver = await startLoopback((response) => {
    response.writeHead(status).end();
    setTimeout(() => signals.emit("SIGINT"), 100);
  });
  onTestFinished(() => receiver.close());
  const created = await run(["webhooks", "create", "https://shop.example/hook", "--json"], { env });
  const [{ secret }] = JSON.parse(created.stdout) as [{ secret: string }];
  expect((await run(["webhooks", "trigger", "review_create"], { env })).status).toBe(0);
  const argv = ["webhooks", "listen", "--since", "1h", "--forward-to", `${receiver.url}/in?a=1`, ...flags];
  const ran = await run(argv, { env, io: { signals } });
  return { ran, secret, receiver };
}

test("listen --forward-to sends deliveries, signed with the secret of their webhook", async () => {
  const { ran, secret, receiver } = await forward([]);
  expect(ran.status).toBe(0);
  expect(ran.stdout).toMatch(/forwarded {2}#1 review_create {2}204, \d+ ms/);
  expect(ran.stdout).not.toContain('"test"');
  const [request] = receiver.received;
  expect(receiver.received).toHaveLength(1);
  expect(request).toMatchObject({ method: "POST", url: "/in?a=1" });
  if (!request) throw new Error("nothing was received");
  const { headers, body } = request;
  expect(JSON.parse(body)).toMatchObject({ event: "review_create", test: true });
  expect(headers["webhook-signature"]).toBe(signatureOf(headers, body, secret));
});

test("--print-body prints the body, and failures are shown", async () => {
  const { ran } = await forward(["--print-body"], 500);
  expect(ran.stdout).toMatch(/forwarded {2}#1 review_create {2}500, \d+ ms/);
  expect(ran.stdout).toContain('  "test": true');
});

test("with NDJSON, a forwarded delivery is an event with its status and duration", async () => {
  const { ran } = await forward(["--format", "ndjson"]);
  const events = ran.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string });
  expect(events.find(({ event }) => event === "forward")).toMatchObject({
    status: 204,
    duration_ms: expect.any(Number) as number,
    delivery: { id: 1, event_name: "review_create" },
  });
});

test("accepts a host and a port, and goes on after a webhook that may no longer be called", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  const signals = new EventEmitter();
  const receiver = await startLoopback((response) => {
    response.writeHead(204).end();
    setTimeout(() => signals.emit("SIGINT"), 100);
  });
  onTestFinished(() => receiver.close());
  for (const url of ["http://127.0.0.1:9001/hook", "https://shop.example/hook"]) {
    const allowed = { ...env, STARPOST_ALLOW_PRIVATE_WEBHOOKS: "on" };
    expect((await run(["webhooks", "create", url], { env: allowed })).status).toBe(0);
  }
  await run(["webhooks", "trigger", "review_create"], { env });
  const target = receiver.url.replace("http://", "");
  const argv = ["webhooks", "listen", "--since", "1h", "--forward-to", target, "--format", "ndjson"];
  const ran = await run(argv, { env, io: { signals } });
  expect(ran.status).toBe(0);
  const events = ran.stdout.trim().split("\n");
  const forwarded = events
    .map((line) => JSON.parse(line) as { event: string; status?: number; problem?: string })
    .filter(({ event }) => event === "forward");
  expect(forwarded).toEqual([
    expect.objectContaining({ problem: expect.stringContaining("loopback") as string }),
    expect.objectContaining({ status: 204 }),
  ]);
  expect(receiver.received).toHaveLength(1);
});

test("a receiver that does not respond delays no other delivery, and can be interrupted", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  const signals = new EventEmitter();
  let requests = 0;
  const receiver = await startLoopback((response) => {
    requests += 1;
    if (requests === 1) return;
    response.writeHead(204).end();
    setTimeout(() => signals.emit("SIGINT"), 300);
  });
  onTestFinished(() => receiver.close());
  await run(["webhooks", "create", "https://shop.example/hook"], { env });
  for (let times = 0; times < 2; times += 1) await run(["webhooks", "trigger", "review_create"], { env });
  const ran = await run(["webhooks", "listen", "--since", "1h", "--forward-to", receiver.url], {
    env,
    io: { signals },
  });
  const outcomes = ran.stdout.match(/(?<=forwarded.*review_create {2}).*$/gm);
  expect(outcomes?.toSorted()).toEqual([
    expect.stringMatching(/^204, \d+ ms$/),
    expect.stringMatching(/^interrupted, \d+ ms$/),
  ]);
});

test.each(["ftp://x", "localhost", "", "http://user:password@localhost:3000"])(
  "refuses to forward to %j",
  async (url) => {
    const env = { STARPOST_HOME: makeFolder() };
    const { status, stderr } = await run(["webhooks", "listen", "--forward-to", url], { env });
    expect([status, stderr.includes("user:password")]).toEqual([2, false]);
  },
);

test("trigger refuses an unknown event", async () => {
  const env = { STARPOST_HOME: makeFolder() };
  expect((await run(["webhooks", "trigger", "mail_sent"], { env })).status).toBe(2);
});
