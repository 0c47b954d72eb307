import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { aReview } from "../support/builders.ts";
import { type Loopback, type Responder, sendJson, startLoopback } from "../support/loopback.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";
import { signatureOf } from "../support/webhook-receiver.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const receivers: Loopback[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close();
});

const allowed = { STARPOST_ALLOW_PRIVATE_WEBHOOKS: "on" };
const accept: Responder = (response) => sendJson(response, 200, {});

async function receive(respond: Responder = accept): Promise<Loopback> {
  const receiver = await startLoopback(respond);
  receivers.push(receiver);
  return receiver;
}

interface Subscription {
  readonly id: number;
  readonly url: string;
  readonly event_name: string;
  readonly secret: string;
}

interface Delivery {
  readonly id: number;
  readonly state: string;
  readonly attempts: number;
  readonly reason: string | null;
  readonly event_id: string;
}

async function subscribe(home: Home, url: string, ...flags: string[]): Promise<Subscription> {
  const { data, exitCode, stderr } = await home.json<Subscription[]>(["webhooks", "create", url, ...flags]);
  const [made] = data ?? [];
  if (!made) throw new Error(`cannot create the webhook (${exitCode}): ${stderr}`);
  return made;
}

/** A review as a storefront page sends it. */
async function review(server: { readonly url: string; readonly app_key: string }): Promise<void> {
  const reply = await fetch(`${server.url}/v1/widget/reviews`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ appkey: server.app_key, ...aReview() }),
  });
  if (!reply.ok) throw new Error(await reply.text());
}

const list = async (home: Home, ...flags: string[]) =>
  (await home.json<Delivery[]>(["webhooks", "deliveries", ...flags])).data;

describe("a review received by `serve`", () => {
  test("is delivered once, with a signature that the receiver can verify", async () => {
    const home = homes.open(allowed);
    const receiver = await receive();
    const server = await home.serve();
    const { secret } = await subscribe(home, `${receiver.url}/hook`);
    await review(server);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(await server.stop()).toBe(0);
    const { data } = await home.json<{ webhooks: unknown }>(["mail", "run", "--once"]);
    expect(data.webhooks).toEqual({ delivered: 0, deferred: 0, failed: 0 });
    expect(receiver.received).toHaveLength(1);
    const { headers = {}, body = "" } = receiver.received[0] ?? {};
    expect(headers["webhook-signature"]).toBe(signatureOf(headers, body, secret));
    expect(headers["user-agent"]).toMatch(/^starpost\/\d/);
    expect(JSON.parse(body)).toMatchObject({ event: "review_create", data: { content: "It pours very well." } });
    expect(await list(home)).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });

  test("waits without a worker, and is delivered by `mail run --once`", async () => {
    const home = homes.open(allowed);
    const receiver = await receive();
    const server = await home.serve(["--no-worker"]);
    await subscribe(home, receiver.url);
    await review(server);
    expect(await list(home)).toMatchObject([{ state: "queued", attempts: 0 }]);
    const { exitCode, data } = await home.json<{ webhooks: unknown }>(["mail", "run", "--once"]);
    expect([exitCode, data.webhooks]).toEqual([0, { delivered: 1, deferred: 0, failed: 0 }]);
    expect(receiver.received).toHaveLength(1);
    await server.stop();
  });

  test("is not delivered to this machine once that is no longer allowed", async () => {
    const home = homes.open();
    const receiver = await receive();
    expect((await home.run(["webhooks", "configure", "--allow-private", "on"])).exitCode).toBe(0);
    await subscribe(home, receiver.url);
    await home.run(["webhooks", "configure", "--allow-private", "off"]);
    const server = await home.serve();
    await review(server);
    await expect.poll(async () => (await list(home))?.[0]?.reason).toEqual(expect.stringContaining("127.0.0.1"));
    await server.stop();
    expect(receiver.received).toEqual([]);
  });
});

describe("webhooks listen", () => {
  /** Listens until stopped; `lines` returns the output so far. */
  function listen(home: Home, flags: readonly string[]) {
    const listening = home.start(["webhooks", "listen", ...flags]);
    let text = "";
    let messages = "";
    listening.stdout?.on("data", (data: Buffer) => (text += data.toString()));
    listening.stderr?.on("data", (data: Buffer) => (messages += data.toString()));
    return { listening, lines: () => text.split("\n").filter((line) => line !== ""), messages: () => messages };
  }

  test("shows deliveries and attempts as they happen, also with a remote profile", async () => {
    const receiver = await receive((response, at) => sendJson(response, at === 0 ? 500 : 200, {}));
    const home = homes.open(allowed);
    const server = await home.serve();
    const elsewhere = homes.open(remoteEnv(server));
    await subscribe(elsewhere, receiver.url);
    const { listening, lines, messages } = listen(elsewhere, ["--format", "ndjson"]);
    const screen = listen(home, []);
    await expect.poll(screen.messages).toContain(`review_create → ${receiver.url}`);
    await expect.poll(messages).toContain("Listening to");
    await review(server);
    await expect.poll(() => lines().length).toBe(2);
    // It need not wait for the next attempt.
    await home.run(["webhooks", "redeliver", "1"]);
    await expect.poll(() => lines().length).toBe(3);
    await expect.poll(() => screen.lines().length).toBe(3);
    listening.kill("SIGINT");
    screen.listening.kill("SIGTERM");
    expect([(await listening).exitCode, (await screen.listening).exitCode]).toEqual([0, 0]);
    const heard = lines().map((line) => JSON.parse(line) as unknown);
    expect(heard).toMatchObject([
      { event: "delivery", delivery: { id: 1, event_name: "review_create" } },
      { event: "attempt", attempt: { status: 500, problem: "HTTP 500" }, delivery: { id: 1 } },
      { event: "attempt", attempt: { status: 200, problem: null }, delivery: { id: 1, state: "delivered" } },
    ]);
    const shown = screen.lines().map((line) => line.replaceAll(/\d+ ms|\d\d:\d\d:\d\d/g, "_"));
    expect(shown).toEqual([
      `_  new        #1 review_create → ${receiver.url}`,
      `_  failed     #1 review_create → ${receiver.url}  HTTP 500, _; retry at _`,
      `_  delivered  #1 review_create → ${receiver.url}  200, _`,
    ]);
    const since = listen(elsewhere, ["--since", "1h", "--json"]);
    await expect.poll(() => since.lines().length).toBe(3);
    since.listening.kill("SIGINT");
    await since.listening;
    expect(since.lines().map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      "delivery",
      "attempt",
      "attempt",
    ]);
    await server.stop();
  });

  test("reports that no webhooks exist, and rejects unsupported formats", async () => {
    const home = homes.open();
    await home.init();
    const { listening, messages, lines } = listen(home, []);
    await expect.poll(messages).toContain("starpost webhooks create");
    listening.kill("SIGINT");
    expect((await listening).exitCode).toBe(0);
    expect(lines()).toEqual([]);
    const csv = await home.run(["webhooks", "listen", "--format", "csv"]);
    expect([csv.exitCode, csv.stderr]).toEqual([2, expect.stringContaining("--format csv")]);
  });

  test("reports once that no worker delivers, and continues while the service is unavailable", async () => {
    const home = homes.open(allowed);
    const server = await home.serve(["--no-worker"]);
    const { port } = new URL(server.url);
    const elsewhere = homes.open(remoteEnv(server));
    await subscribe(elsewhere, "http://127.0.0.1:9999/");
    const { listening, messages } = listen(elsewhere, []);
    await expect.poll(messages).toContain("Listening to");
    await review(server);
    await expect.poll(messages).toContain("`starpost serve`");
    await server.stop();
    await expect.poll(messages).toContain("retrying");
    const back = home.start(["serve", "--port", port, "--no-worker"]);
    await expect.poll(messages).toContain("Reconnected");
    listening.kill("SIGINT");
    expect((await listening).exitCode).toBe(0);
    back.kill("SIGTERM");
    await back;
    expect(messages().match(/`starpost serve`/g)).toHaveLength(1);
  });
});

describe("other webhook commands", () => {
  test("create, list, show, redeliver, and delete", async () => {
    const home = homes.open(allowed);
    const receiver = await receive((response) => sendJson(response, 410, {}));
    const made = await home.run(["webhooks", "create", "https://shop.example/hook", "--event", "review_updated"]);
    expect(made.stdout).toMatch(/secret +whsec_[A-Za-z0-9+/]{32}$/m);
    expect(made.stderr).toContain("secret");
    const both = await home.json<Subscription[]>([
      "webhooks",
      "create",
      receiver.url,
      "--event",
      "review_create",
      "--event",
      "review_updated",
    ]);
    expect(both.data.map(({ event_name }) => event_name)).toEqual(["review_create", "review_updated"]);
    const listed = await home.run(["webhooks", "list"]);
    expect(listed.stdout).toContain("https://shop.example/hook");
    expect(listed.stdout).not.toContain("whsec_");

    const server = await home.serve();
    await review(server);
    await expect.poll(async () => (await list(home))?.[0]?.state).toBe("failed");
    await server.stop();
    expect(await list(home, "--state", "delivered")).toEqual([]);
    expect(
      await list(home, "--state", "failed", "--event", "review_create", "--webhook", "2", "--limit", "1"),
    ).toHaveLength(1);
    const table = await home.run(["webhooks", "deliveries"]);
    expect(table.stdout).toContain("410");
    const again = await home.run(["webhooks", "redeliver", "1"]);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("delivery 1 was deleted")]);

    const asked = await home.run(["webhooks", "delete", "1"]);
    expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    expect((await home.run(["webhooks", "delete", "1", "--yes"])).exitCode).toBe(0);
    const gone = await home.run(["webhooks", "delete", "1", "--yes"]);
    expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining("1")]);
  });

  test("reject invalid values, and name each", async () => {
    const home = homes.open();
    const refused: readonly (readonly [string[], number, string])[] = [
      [["create", "http://127.0.0.1/"], 1, "127.0.0.1"],
      [["create", "http://127.0.0.1/"], 1, "webhooks configure --allow-private on"],
      [["create", "not a url"], 1, "url "],
      [["create", "https://shop.example/", "--event", "order"], 2, "review_create, review_updated"],
      [["create"], 2, "url"],
      [["delete", "x"], 2, "<id>"],
      [["deliveries", "77"], 1, "77"],
      [["deliveries", "77", "--state", "failed"], 2, "--state"],
      [["deliveries", "--state", "lost"], 2, "--state"],
      [["deliveries", "--limit", "0"], 2, "--limit"],
      [["redeliver", "77"], 1, "77"],
      [["configure", "--allow-private", "maybe"], 2, "--allow-private"],
      [["listen", "--since", "yesterday"], 2, "--since"],
    ];
    for (const [args, status, expected] of refused) {
      const { exitCode, stdout, stderr } = await home.run(["webhooks", ...args]);
      expect([args, exitCode, stdout]).toEqual([args, status, ""]);
      expect(stderr).toContain(expected);
    }
  });

  test("may call private addresses of the operator's network only if the operator allows it for the account", async () => {
    const home = homes.open();
    const { app_key } = await home.init();
    const create = async () => (await home.run(["webhooks", "create", "http://127.0.0.1:8001/"])).exitCode;
    const allow = async (...words: string[]) => (await home.json(["account", "allow-private-webhooks", ...words])).data;
    expect(await create()).toBe(1);
    expect(await allow(app_key)).toEqual({ app_key, allow_private: true });
    expect(await create()).toBe(0);
    expect(await allow(app_key, "--off")).toEqual({ app_key, allow_private: false });
    expect(await create()).toBe(1);
    expect((await home.run(["account", "allow-private-webhooks", "other"])).exitCode).toBe(1);
  });

  test("configure this machine in a separate file, which the environment overrides", async () => {
    const home = homes.open();
    const show = async (env = {}) => (await home.json(["webhooks", "configure"], { env })).data;
    expect(await show()).toEqual({ allow_private: false, configured_by: "default" });
    await home.run(["webhooks", "configure", "--allow-private", "on"]);
    expect(await show()).toEqual({ allow_private: true, configured_by: "file" });
    expect(statSync(join(home.folder, "webhooks.json")).mode & 0o777).toBe(0o600);
    expect(await show({ STARPOST_ALLOW_PRIVATE_WEBHOOKS: "off" })).toEqual({
      allow_private: false,
      configured_by: "environment",
    });
    const remote = homes.open({
      STARPOST_BASE_URL: "http://127.0.0.1:1",
      STARPOST_APP_KEY: "key",
      STARPOST_SECRET: "secret",
    });
    const elsewhere = await remote.run(["webhooks", "configure", "--allow-private", "on"]);
    expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([2, expect.stringContaining("remote")]);
  });
});
