import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { signBySecret } from "../support/provider-events.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

interface Listed {
  readonly id: number;
  readonly email: string;
  readonly state: string;
  readonly order_id: string | null;
  readonly product_id: string | null;
  readonly due_at: string;
}

const header = "Order ID,Email,Customer Name,Order Date,Product ID,Product Name,Product URL";
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** Two orders with queued emails: one with two products, due in about four days, and one that is due now. */
async function importOrders(home: Home): Promise<void> {
  const row = (order: string, email: string, days: number, product: string) =>
    `${order},${email},Ann Berg,${daysAgo(days)},${product},A ${product},https://shop.example/${product}`;
  const rows = [
    row("1001", "ann@mail.example", 10, "teapot"),
    row("1001", "ann@mail.example", 10, "pan"),
    row("1002", "firstname.lastname.of.a.long.kind@mail.example", 20, "teapot"),
  ];
  await home.init();
  await home.run(["mail", "rules", "set", "one_mail_per", "product"]);
  const options = { input: `${[header, ...rows].join("\n")}\n` };
  const { exitCode, stderr } = await home.run(["orders", "import", "-", "--send-mail", "--yes"], options);
  expect([exitCode, stderr]).toEqual([0, stderr]);
}

const pendingStates = ["--state", "queued,leased,sending", "--sort", "soonest"];

const listPending = async (home: Home, ...flags: string[]) =>
  (await home.json<Listed[]>(["mail", "list", ...pendingStates, ...flags])).data;

/** Days until an email is due, rounded. */
const daysUntilDue = ({ due_at }: Listed) => Math.max(0, Math.ceil((Date.parse(due_at) - Date.now()) / 86_400_000));

/** Shows a sent email in every form. */
async function expectShown(home: Home, mail: Listed | undefined): Promise<void> {
  const shown = await home.run(["mail", "show", String(mail?.id)]);
  expect(shown.stdout).toMatch(/^to +Ann Berg <firstname\.lastname\.of\.a\.long\.kind@mail\.example>$/m);
  expect(shown.stdout).toMatch(/^state +sent$/m);
  expect(shown.stdout).toMatch(/^event 1 +\S+ \S+ {2}requested$/m);
  const text = await home.run(["mail", "show", String(mail?.id), "--text"]);
  expect(text.stdout).toMatch(/^5 ★ http\S+$/m);
  const html = await home.run(["mail", "show", String(mail?.id), "--html"]);
  expect(html.stdout).toContain("</html>");
  const headers = await home.run(["mail", "show", String(mail?.id), "--headers"]);
  expect(headers.stdout).toMatch(/^To: .*firstname\.lastname/m);
  expect(headers.stdout).not.toContain("\n\n");
  expect(text.stdout.trim()).toBe(shown.stdout.slice(shown.stdout.lastIndexOf(":\n\n") + 3).trim());
}

it("lists pending emails, cancels some, sends the rest, and shows their states", async () => {
  const home = homes.open();
  await importOrders(home);
  const waiting = await listPending(home);
  expect(waiting.map(({ order_id }) => order_id)).toEqual(["1002", "1001", "1001"]);
  expect(waiting.map(daysUntilDue)).toEqual([0, expect.toBeOneOf([3, 4]), expect.toBeOneOf([3, 4])]);
  expect(await listPending(home, "--order", "1001", "--email", "ANN@mail.example")).toHaveLength(2);
  const table = await home.run(["mail", "list", "--limit", "1"], { env: { NO_COLOR: "1" } });
  expect(table.stdout.split("\n")).toHaveLength(2);
  expect(table.stderr).toContain("--limit");

  const asked = await home.run(["mail", "cancel", "1001", "--product", "pan"]);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr).toMatch(/1 queued email of order 1001 about pan/);
  const stopped = await home.run(["mail", "cancel", "1001", "--product", "pan", "--yes"]);
  expect([stopped.exitCode, stopped.stderr]).toEqual([0, expect.stringContaining("starpost mail why 1001")]);
  const teapot = waiting.find(({ order_id, product_id }) => order_id === "1001" && product_id === "teapot");
  const one = await home.run(["mail", "cancel", "--email-id", String(teapot?.id), "--yes"]);
  expect([one.exitCode, one.stderr]).toEqual([0, expect.stringContaining("ann@mail.example")]);
  expect((await listPending(home)).map(({ product_id }) => String(product_id)).toSorted()).toEqual(["pan", "teapot"]);

  const sent = await home.json<{ mails: Record<string, number> }>(["mail", "run", "--once"]);
  expect(sent.data.mails).toMatchObject({ sent: 1 });
  const outbox = await home.json<Listed[]>(["mail", "list", "--state", "sent,not_sent"]);
  expect(outbox.data.map(({ state, order_id }) => `${order_id} ${state}`).toSorted()).toEqual([
    "1001 not_sent",
    "1002 sent",
  ]);
  const only = await home.json<Listed[]>(["mail", "list", "--state", "sent", "--order", "1002"]);
  const [mail] = only.data;
  expect(only.data).toHaveLength(1);
  await expectShown(home, mail);
  const unsent = await home.run(["mail", "show", String(teapot?.id), "--headers"]);
  expect([unsent.exitCode, unsent.stdout]).toEqual([1, ""]);
  const late = await home.run(["mail", "cancel", "--email-id", String(mail?.id), "--yes"]);
  expect([late.exitCode, late.stderr]).toEqual([1, expect.stringContaining(String(mail?.id))]);
  const reason = await home.run(["mail", "show", String(teapot?.id)]);
  expect(reason.stdout).toMatch(/\(stopped_by_hand\)$/m);
});

it("explains the emails of all orders of an address, newest first, also remotely", async () => {
  const home = homes.open();
  await importOrders(home);
  const later = `${header}\n1003,ANN@mail.example,Ann Berg,${daysAgo(2)},cup,A cup,https://shop.example/cup\n`;
  await home.run(["orders", "import", "-", "--send-mail", "--yes"], { input: later });
  const why = ["mail", "why", "--email", "ann@mail.example"];
  const server = await home.serve(["--no-worker"]);
  try {
    for (const shop of [home, homes.open(remoteEnv(server))]) {
      const single = await Promise.all(["1003", "1001"].map((id) => shop.json<Listed>(["mail", "why", id])));
      expect((await shop.json<Listed[]>(why)).data).toEqual(single.map(({ data }) => data));
    }
  } finally {
    await server.stop();
  }
  const one = await home.run([...why, "--limit", "1", "--format", "csv"]);
  expect(one.stdout.split("\n").slice(0, 2)).toEqual([
    "order_id,product_id,rule,result,description,decided_by,sentence",
    expect.stringMatching(/^1003,cup,past_order,passed,/),
  ]);
  expect(one.stderr).toContain("--limit");
  const text = await home.run([...why, "--limit", "2"]);
  expect(text.stdout).toMatch(/^Order 1003 [^]*\n\nOrder 1001 /);
  expect(text.stderr).toBe("");
  const none = await home.run(["mail", "why", "--email", "nobody@mail.example"]);
  expect([none.exitCode, none.stdout, none.stderr]).toEqual([0, "", expect.stringContaining("nobody@mail.example")]);
  for (const args of [
    ["mail", "why"],
    [...why, "1001"],
    [...why, "--product", "pan"],
  ]) {
    const { exitCode, stderr } = await home.run(args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--email")]);
  }
});

it("sends a test email to the outbox folder", async () => {
  const home = homes.open();
  await home.init();
  const queued = await home.json<Listed>(["mail", "test", "--to", "ann@mail.example"]);
  expect(queued.data).toMatchObject({ email: "ann@mail.example", state: "queued", is_test: true });
  const test = await home.run(["mail", "test", "--to", "bo@mail.example"]);
  expect(test.stderr).toMatch(/\b2 to bo@mail\.example.*`starpost mail run --once`/);
  expect((await home.run(["mail", "run", "--once"])).exitCode).toBe(0);
  expect(readdirSync(join(home.folder, "outbox")).filter((name) => name.endsWith(".eml"))).toHaveLength(2);
  const none = await home.run(["mail", "test"]);
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("starpost mail test --to")]);
});

/** Sends events as the mail provider does, and returns the response. */
async function postEvents({ url, secret }: { url: string; secret: string }, events: readonly object[]) {
  const { body, ...signed } = signBySecret(JSON.stringify(events), secret, Date.now());
  const signature = Object.entries(signed).map(([name, value]) => [name.replace("_", "-"), value]);
  const headers = { "content-type": "application/json", ...Object.fromEntries(signature) };
  const reply = await fetch(url, { method: "POST", headers, body });
  return ((await reply.json()) as { response: unknown }).response;
}

it("works with a remote service that receives provider events", async () => {
  const home = homes.open();
  await importOrders(home);
  const server = await home.serve(["--no-worker"]);
  const remote = homes.open(remoteEnv(server));
  try {
    expect((await listPending(remote)).map(({ order_id }) => order_id)).toEqual(["1002", "1001", "1001"]);
    const test = await remote.json<Listed>(["mail", "test", "--to", "ann@mail.example"]);
    expect(test.data.state).toBe("queued");
    expect((await remote.run(["mail", "cancel", "--email-id", String(test.data.id), "--yes"])).exitCode).toBe(0);
    expect((await home.run(["mail", "run", "--once"])).exitCode).toBe(0);
    const [sent] = (await remote.json<Listed[]>(["mail", "list", "--state", "sent"])).data;
    const file = readdirSync(join(home.folder, "outbox")).find((name) => name.includes(`-${sent?.id}-`)) ?? "";
    const key = new RegExp(`${sent?.id}-[0-9a-f]{32}`).exec(file)?.[0];

    const secret = await remote.json<{ url: string; secret: string }>(["mail", "provider-events"]);
    expect(secret.data.url).toBe(`${server.url}/starpost/v1/apps/${server.app_key}/mail_events`);
    const about = { email: sent?.email, "smtp-id": `<${key}@shop.example>`, timestamp: Date.now() / 1_000 };
    expect(
      await postEvents(secret.data, [
        { ...about, event: "open", sg_event_id: "1" },
        { ...about, event: "click", sg_event_id: "2" },
        { ...about, event: "bounce", sg_event_id: "3", reason: "550 mailbox unavailable" },
      ]),
    ).toEqual({ accepted: 3, repeated: 0, unknown: 0, ignored: 0 });

    const stats = await remote.json<{ totals: Record<string, number> }>(["mail", "stats", "--categories", "map"]);
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
    const kept = await remote.json<(Listed & { reason: string })[]>(["mail", "list", "--email", sent?.email ?? ""]);
    expect(kept.data.map(({ state, reason }) => `${state} ${reason}`)).toContain("not_sent bounced_before");
    const allowed = await remote.json<{ lifted: string[] }>(["mail", "unsuppress", sent?.email ?? ""]);
    expect(allowed.data.lifted).toEqual(["bounces"]);
    await remote.run(["mail", "test", "--to", sent?.email ?? ""]);
    const again = await home.json<{ mails: Record<string, number> }>(["mail", "run", "--once"]);
    expect(again.data.mails).toMatchObject({ sent: 1, not_sent: 0 });
    const rotated = await remote.json<{ secret: string }>(["mail", "provider-events", "--rotate", "--yes"]);
    expect(rotated.data.secret).not.toBe(secret.data.secret);
  } finally {
    await server.stop();
  }
});

it("counts by day and range", async () => {
  const home = homes.open();
  await home.init();
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
  expect([none.stdout, none.stderr]).toEqual(["", expect.stringContaining("2019-12-03")]);
});

it.each([
  [["mail", "stats", "--plot", "--json"], "--plot"],
  [["mail", "stats", "--since", "2030-01-02", "--to", "2030-01-01"], "--since"],
  [["mail", "stats", "--categories", "letters"], "--categories"],
  [["mail", "cancel"], "--email-id"],
  [["mail", "cancel", "1001", "--email-id", "1"], "--email-id"],
  [["mail", "cancel", "--email-id", "1", "--product", "x"], "--product"],
  [["mail", "test"], "--to"],
  [["mail", "templates", "edit", "map", "--file", "gone.liquid"], "gone.liquid"],
  [["mail", "show", "x"], "<id>"],
  [["mail", "show", "1", "--text", "--html"], "--html"],
  [["mail", "list", "--limit", "0"], "--limit"],
  [["mail", "list", "--state", "gone"], "--state"],
] as const)("rejects %j", async (args, named) => {
  const home = homes.open();
  await home.init();
  const { exitCode, stderr } = await home.run([...args, "--json"]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(named)]);
});

it("cancels nothing of an unknown order, and reports an unknown email", async () => {
  const home = homes.open();
  await home.init();
  const early = await home.run(["mail", "cancel", "9999", "--product", "pan", "--yes"]);
  expect([early.exitCode, early.stderr]).toEqual([0, expect.stringContaining("order 9999")]);
  const gone = await home.run(["mail", "show", "99"]);
  expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining("99")]);
});
