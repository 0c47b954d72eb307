import { createHmac } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Listed {
  readonly id: number;
  readonly email: string;
  readonly state: string;
  readonly order_id: string | null;
  readonly product_id: string | null;
  readonly due: string;
}

const header = "Order ID,Email,Customer Name,Order Date,Product ID,Product Name,Product URL";
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** Two orders whose mails wait: one of two products, due in about four days, and one that is due now. */
async function importOrders(home: Home): Promise<void> {
  const row = (order: string, email: string, days: number, product: string) =>
    `${order},${email},Ann Berg,${daysAgo(days)},${product},A ${product},https://shop.example/${product}`;
  const rows = [
    row("1001", "ann@mail.example", 10, "teapot"),
    row("1001", "ann@mail.example", 10, "pan"),
    row("1002", "firstname.lastname.of.a.long.kind@mail.example", 20, "teapot"),
  ];
  const options = { input: `${[header, ...rows].join("\n")}\n` };
  const { exitCode, stderr } = await home.run(["orders", "import", "-", "--send-mail", "--yes"], options);
  expect([exitCode, stderr]).toEqual([0, stderr]);
}

const queue = async (home: Home, ...flags: string[]) =>
  (await home.json<Listed[]>(["mail", "queue", ...flags])).data;

it("shows what waits, stops it, sends the rest, and shows what became of it", async () => {
  const home = homes.open();
  await importOrders(home);
  const waiting = await queue(home);
  expect(waiting.map(({ order_id, due }) => `${order_id} ${due.replace(/^\S+, /, "")}`)).toEqual(
    ["1002 now", "1001 in 4 days", "1001 in 4 days"].map(
      (told) => expect.stringMatching(told.replace("4", "[34]")) as string,
    ),
  );
  expect(await queue(home, "--order", "1001", "--email", "ANN@mail.example")).toHaveLength(2);
  const table = await home.run(["mail", "queue", "--limit", "1"], { env: { NO_COLOR: "1" } });
  expect(table.stdout.split("\n")).toHaveLength(2);
  expect(table.stderr).toContain("There are more than these 1; --limit shows more.");

  const asked = await home.run(["mail", "stop", "1001", "--product", "pan"]);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr).toContain(
    "Stop the mails of order 1001 about pan? 1 such mail waits now. This cannot be taken back.",
  );
  const stopped = await home.run(["mail", "stop", "1001", "--product", "pan", "--yes"]);
  expect([stopped.exitCode, stopped.stderr]).toEqual([0, expect.stringContaining("starpost mail why 1001")]);
  const teapot = waiting.find(({ order_id, product_id }) => order_id === "1001" && product_id === "teapot");
  const one = await home.run(["mail", "stop", "--mail", String(teapot?.id), "--yes"]);
  expect([one.exitCode, one.stderr]).toEqual([0, `Stopped mail ${teapot?.id} to ann@mail.example.`]);
  expect((await queue(home)).map(({ product_id }) => String(product_id)).toSorted()).toEqual([
    "pan",
    "teapot",
  ]);

  const sent = await home.json<{ mails: Record<string, number> }>(["mail", "run", "--once"]);
  expect(sent.data.mails).toMatchObject({ sent: 1 });
  const outbox = await home.json<Listed[]>(["mail", "outbox"]);
  expect(outbox.data.map(({ state, order_id }) => `${order_id} ${state}`).toSorted()).toEqual([
    "1001 not_sent",
    "1002 sent",
  ]);
  const only = await home.json<Listed[]>(["mail", "outbox", "--state", "sent", "--order", "1002"]);
  const [mail] = only.data;
  expect(only.data).toHaveLength(1);
  const shown = await home.run(["mail", "show", String(mail?.id)]);
  expect(shown.stdout).toMatch(/^to +Ann Berg <firstname\.lastname\.of\.a\.long\.kind@mail\.example>$/m);
  expect(shown.stdout).toMatch(/^state +sent$/m);
  expect(shown.stdout).toMatch(/^event 1 +\S+ \S+ {2}requested$/m);
  const text = await home.run(["mail", "show", String(mail?.id), "--text"]);
  expect(text.stdout).toMatch(/^Write a review: http\S+$/m);
  const html = await home.run(["mail", "show", String(mail?.id), "--html"]);
  expect(html.stdout).toContain("</html>");
  const late = await home.run(["mail", "stop", "--mail", String(mail?.id), "--yes"]);
  expect([late.exitCode, late.stderr]).toEqual([
    1,
    `error: mail ${mail?.id} was sent: it cannot be stopped any more`,
  ]);
  const reason = await home.run(["mail", "show", String(teapot?.id)]);
  expect(reason.stdout).toMatch(/^reason +the store has stopped this mail by hand$/m);
});

it("hides addresses in all of it, also where the screen is narrow", async () => {
  const home = homes.open();
  await importOrders(home);
  const outputs: string[] = [];
  for (const args of [
    ["mail", "queue"],
    ["mail", "queue", "--json"],
    ["mail", "queue", "--format", "csv"],
    ["mail", "show", "3"],
    ["mail", "show", "3", "--text"],
    ["mail", "show", "3", "--html"],
    ["mail", "test", "--to", "firstname.lastname@mail.example"],
    ["mail", "stop", "--mail", "3", "--yes"],
    ["mail", "allow", "firstname.lastname@mail.example"],
    ["mail", "outbox"],
  ]) {
    const { stdout, stderr, exitCode } = await home.run([...args, "--redact"], { env: { COLUMNS: "40" } });
    expect([args, exitCode]).toEqual([args, 0]);
    outputs.push(stdout, stderr);
  }
  expect(outputs.join("\n")).not.toMatch(/firstname|lastname|ann@|mail\.example/);
  expect(outputs.join("\n")).toContain("@redacted.invalid");
});

it("queues a test mail that the outbox folder gets, here and over a service", async () => {
  const home = homes.open();
  const queued = await home.json<Listed>(["mail", "test", "--to", "ann@mail.example"]);
  expect(queued.data).toMatchObject({ email: "ann@mail.example", state: "queued", is_test: true });
  const told = await home.run(["mail", "test", "--to", "bo@mail.example"]);
  expect(told.stderr).toContain("Queued mail 2 to bo@mail.example. `starpost mail run --once`");
  expect((await home.run(["mail", "run", "--once"])).exitCode).toBe(0);
  expect(readdirSync(join(home.folder, "outbox")).filter((name) => name.endsWith(".eml"))).toHaveLength(2);
  const none = await home.run(["mail", "test"]);
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("Say where the test mail goes")]);
});

it("works over a service elsewhere, which a provider tells of its mails", async () => {
  const home = homes.open();
  await importOrders(home);
  const server = await home.serve(["--no-worker"]);
  const remote = homes.open(remoteEnv(server));
  try {
    expect((await queue(remote)).map(({ order_id }) => order_id)).toEqual(["1002", "1001", "1001"]);
    const test = await remote.json<Listed>(["mail", "test", "--to", "ann@mail.example"]);
    expect(test.data.state).toBe("queued");
    expect((await remote.run(["mail", "stop", "--mail", String(test.data.id), "--yes"])).exitCode).toBe(0);
    expect((await home.run(["mail", "run", "--once"])).exitCode).toBe(0);
    const [sent] = (await remote.json<Listed[]>(["mail", "outbox", "--state", "sent"])).data;
    const file =
      readdirSync(join(home.folder, "outbox")).find((name) => name.includes(`-${sent?.id}-`)) ?? "";
    const key = new RegExp(`${sent?.id}-[0-9a-f]{32}`).exec(file)?.[0];

    const secret = await remote.json<{ url: string; secret: string }>(["mail", "events-secret"]);
    expect(secret.data.url).toBe(`${server.url}/starpost/v1/apps/${server.app_key}/mail_events`);
    const post = async (events: readonly object[]) => {
      const body = JSON.stringify(events);
      const seconds = Math.floor(Date.now() / 1_000);
      const signing = Buffer.from(secret.data.secret.slice("whsec_".length), "base64");
      const digest = createHmac("sha256", signing).update(`e1.${seconds}.${body}`).digest("base64");
      const reply = await fetch(secret.data.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "webhook-id": "e1",
          "webhook-timestamp": String(seconds),
          "webhook-signature": `v1,${digest}`,
        },
        body,
      });
      return ((await reply.json()) as { response: unknown }).response;
    };
    const about = { email: sent?.email, "smtp-id": `<${key}@shop.example>`, timestamp: Date.now() / 1_000 };
    expect(
      await post([
        { ...about, event: "open", sg_event_id: "1" },
        { ...about, event: "click", sg_event_id: "2" },
        { ...about, event: "bounce", sg_event_id: "3", reason: "550 mailbox unavailable" },
      ]),
    ).toEqual({ accepted: 3, repeated: 0, unknown: 0, ignored: 0 });

    const stats = await remote.json<{ totals: Record<string, number> }>([
      "mail",
      "stats",
      "--categories",
      "map",
    ]);
    expect(stats.data.totals).toMatchObject({ opens: 1, unique_opens: 1, clicks: 1, bounces: 1 });
    const plot = await remote.run(["mail", "stats", "--plot"]);
    expect(plot.stdout).toMatch(/^unique clicks +1 {2}·{29}█ {2}≤ 1$/m);
    // oxlint-disable-next-line no-control-regex
    expect(plot.stdout).not.toMatch(/\u001B/);
    const shown = await remote.run(["mail", "show", String(sent?.id)]);
    expect(shown.stdout).toMatch(/^state +bounced$/m);
    expect(shown.stdout).toMatch(/^reason +550 mailbox unavailable$/m);

    expect((await remote.run(["mail", "test", "--to", sent?.email ?? ""])).exitCode).toBe(0);
    await home.run(["mail", "run", "--once"]);
    const kept = await remote.json<(Listed & { reason: string })[]>([
      "mail",
      "outbox",
      "--email",
      sent?.email ?? "",
    ]);
    expect(kept.data.map(({ state, reason }) => `${state} ${reason}`)).toContain("not_sent bounced_before");
    const allowed = await remote.json<{ lifted: string[] }>(["mail", "allow", sent?.email ?? ""]);
    expect(allowed.data.lifted).toEqual(["bounces"]);
    await remote.run(["mail", "test", "--to", sent?.email ?? ""]);
    const again = await home.json<{ mails: Record<string, number> }>(["mail", "run", "--once"]);
    expect(again.data.mails).toMatchObject({ sent: 1, not_sent: 0 });
    const rotated = await remote.json<{ secret: string }>(["mail", "events-secret", "--rotate", "--yes"]);
    expect(rotated.data.secret).not.toBe(secret.data.secret);
  } finally {
    await server.stop();
  }
});

it("counts for days and ranges, and says what is asked for wrongly", async () => {
  const home = homes.open();
  await home.run(["mail", "test", "--to", "ann@mail.example"]);
  const counted = await home.run(["mail", "stats"]);
  expect(counted.stdout).toMatch(/^requests +1$/m);
  expect(counted.stdout.trim().split("\n")).toHaveLength(16);
  const weeks = await home.json<{ ranges: { since_date: string; counters: Record<string, number> }[] }>([
    "mail",
    "stats",
    "--since",
    daysAgo(13),
    "--aggregate",
    "week",
  ]);
  expect(weeks.data.ranges.map(({ counters }) => counters["requests"])).toEqual([0, 1]);
  const headers = async (to: string) => {
    const csv = await home.run(["mail", "stats", "--aggregate", "day", "--to", to, "--format", "csv"]);
    return csv.stdout.split("\n")[0];
  };
  expect(await headers(daysAgo(0))).toBe(await headers("2020-01-01"));
  expect((await headers(daysAgo(0)))?.split(",")).toHaveLength(17);
  const none = await home.run(["mail", "stats", "--plot", "--to", "2020-01-01"]);
  expect([none.stdout, none.stderr]).toEqual(["", "Nothing was counted from 2019-12-03 to 2020-01-01."]);
  for (const [args, says] of [
    [["mail", "stats", "--plot", "--json"], "--plot is for people"],
    [["mail", "stats", "--since", "2030-01-02", "--to", "2030-01-01"], "is after"],
    [["mail", "stats", "--categories", "letters"], '--categories: \\"letters\\" is not known'],
    [["mail", "stop"], "say what to stop"],
    [["mail", "stop", "1001", "--mail", "1"], "say what to stop"],
    [["mail", "stop", "--mail", "1", "--product", "x"], "--product is for an order"],
    [["mail", "test"], "the account has no address of its own"],
    [["mail", "template", "edit", "map", "--file", "gone.liquid"], "gone.liquid: it is not there"],
    [["mail", "show", "x"], "is not a whole number"],
    [["mail", "show", "1", "--text", "--html"], "--html"],
    [["mail", "queue", "--limit", "5000"], "at most 999"],
    [["mail", "outbox", "--state", "gone"], "is not known"],
  ] as const) {
    const { exitCode, stderr } = await home.run([...args, "--json"]);
    expect([args, exitCode, stderr]).toEqual([args, 2, expect.stringContaining(says)]);
  }
  const early = await home.run(["mail", "stop", "9999", "--product", "pan", "--yes"]);
  expect([early.exitCode, early.stderr]).toEqual([0, expect.stringContaining("has no order 9999 so far")]);
  const gone = await home.run(["mail", "show", "99"]);
  expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining("the account has no mail 99")]);
});
