import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "csv-stringify/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dayMs } from "../../src/contract/time.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { type Home, Homes, type Summary } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** An order's row, and why its email is not sent; undefined if it is sent. */
interface Row {
  readonly order_id: string;
  readonly email: string;
  readonly customer_name: string;
  readonly product_id: string;
  readonly order_date: string;
  readonly suppressedBy?: string;
}

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

/** 500 orders that are due today; each rule suppresses the emails of some. */
function makeRows(): readonly Row[] {
  let made = 0;
  const rows: Row[] = [];
  const add = (count: number, fields: Partial<Row> = {}) => {
    for (let at = 0; at < count; at += 1) {
      made += 1;
      rows.push({
        order_id: `R-${made}`,
        email: `buyer-${made}@mail.example`,
        customer_name: `Bűyer №${made} "Ö"`,
        product_id: made % 3 === 0 ? "cup" : "teapot",
        order_date: daysAgo(14),
        ...fields,
      });
    }
  };
  add(400);
  add(20, { suppressedBy: "unsubscribed" });
  add(12, { product_id: "kettle", suppressedBy: "product_blacklisted" });
  add(4, { suppressedBy: "mails_stopped" });
  add(12, { product_id: "teapot", suppressedBy: "reviewed_lately" });
  add(12, { order_date: daysAgo(220), suppressedBy: "order_too_old" });
  add(12, { suppressedBy: "bounced_before" });
  // Undeliverable addresses, and one person with many orders.
  for (let at = 0; at < 12; at += 1) {
    add(1, {
      email: at % 2 === 0 ? `guest-${at}@marketplace` : `guest-${at}@mail.invalid`,
      suppressedBy: "bad_address",
    });
  }
  add(5, { email: "Keen@mail.example" });
  add(11, { email: "keen@Mail.example", suppressedBy: "too_many_to_person" });
  return rows;
}

const columns = ["order_id", "email", "customer_name", "order_date", "product_id", "product_name", "product_url"];

function writeOrders(home: Home, name: string, rows: readonly Row[]): string {
  const lines = rows.map((row) => ({
    ...row,
    product_name: `The "${row.product_id}" <b>`,
    product_url: `https://shop.example/${row.product_id}`,
  }));
  return write(home, name, stringify(lines, { header: true, columns }));
}

function write(home: Home, name: string, content: string): string {
  const path = join(home.folder, name);
  writeFileSync(path, content);
  return path;
}

async function succeed<T = unknown>(home: Home, args: readonly string[]): Promise<T> {
  const { exitCode, data, stderr } = await home.json<T>(args);
  expect(exitCode, `${args.join(" ")}: ${stderr}`).toBe(0);
  return data;
}

interface RunSummary {
  readonly mails: Readonly<Record<"sent" | "not_sent" | "deferred" | "bounced" | "failed", number>>;
}
interface Why {
  readonly decisions: readonly {
    readonly decided_by: string | null;
    readonly state: string | null;
    readonly sentence: string;
  }[];
}

describe("500 orders that are due today", () => {
  const rows = makeRows();
  const of = (rule: string) => rows.filter(({ suppressedBy }) => suppressedBy === rule);
  const allowed = rows.filter(({ suppressedBy }) => suppressedBy === undefined);
  const home = homes.open();
  let server: MailServer;
  let summary: RunSummary;

  beforeAll(async () => {
    server = await startMailServer();
    await succeed(home, [
      "mail",
      "configure",
      "--host",
      server.host,
      "--port",
      String(server.port),
      "--tls",
      "none",
      "--from",
      "Tea & Cups <reviews@shop.example>",
    ]);
    await prepare(home, server, { of });
    const imported = await succeed<Summary>(home, [
      "orders",
      "import",
      writeOrders(home, "orders.csv", rows),
      "--send-mail",
    ]);
    expect(imported.rows).toEqual({ read: 500, accepted: 500, rejected: 0, failed: 0 });
    for (const { order_id } of of("mails_stopped")) await succeed(home, ["mail", "cancel", order_id, "--yes"]);
    server.received.length = 0;
    summary = await succeed<RunSummary>(home, ["mail", "run", "--once"]);
  });
  afterAll(() => server.close());

  test("send exactly the expected emails", () => {
    expect(rows).toHaveLength(500);
    const expected = allowed.map(({ email, product_id }) => `${email.toLowerCase()} ${product_id}`);
    const received = server.received.map(({ to, parsed }) => {
      const product = /The "(\w+)" <b>/.exec(parsed.text ?? "")?.[1];
      return `${to.toLowerCase()} ${product}`;
    });
    expect(received.toSorted()).toEqual(expected.toSorted());
    expect(summary.mails).toMatchObject({ sent: allowed.length, not_sent: 500 - allowed.length, failed: 0 });
  });

  test.each([
    "unsubscribed",
    "product_blacklisted",
    "mails_stopped",
    "reviewed_lately",
    "order_too_old",
    "bounced_before",
    "bad_address",
    "too_many_to_person",
  ])("records and reports %s as the reason", async (rule) => {
    const suppressed = of(rule);
    expect(suppressed.length).toBeGreaterThan(0);
    for (const { order_id } of [suppressed.at(0), suppressed.at(-1)].filter((row) => row !== undefined)) {
      const { data, stderr } = await home.json<Why>(["mail", "why", order_id]);
      expect(data.decisions, stderr).toMatchObject([{ decided_by: rule, state: "not_sent" }]);
    }
  });

  test("send no more emails on another run or when imported again", async () => {
    const before = server.received.length;
    await succeed(home, ["orders", "import", join(home.folder, "orders.csv"), "--send-mail"]);
    const again = await succeed<RunSummary>(home, ["mail", "run", "--once"]);
    expect(again.mails).toEqual({ sent: 0, not_sent: 0, deferred: 0, bounced: 0, failed: 0 });
    expect(server.received).toHaveLength(before);
  });

  test("records an import without --send-mail as the reason for no email", async () => {
    const row = { ...(rows[0] as Row), order_id: "PAST-1", email: "past@mail.example" };
    await succeed(home, ["orders", "import", writeOrders(home, "past.csv", [row])]);
    const before = server.received.length;
    await succeed(home, ["mail", "run", "--once"]);
    expect(server.received).toHaveLength(before);
    const { data } = await home.json<Why>(["mail", "why", "PAST-1"]);
    expect(data.decisions).toMatchObject([{ decided_by: "past_order" }]);
  });
});

/** Creates what each rule requires before the orders. */
async function prepare(
  home: Home,
  server: MailServer,
  { of }: { readonly of: (rule: string) => readonly Row[] },
): Promise<void> {
  const unsubscribers = of("unsubscribed").map(({ email }) => `${email},1`);
  const file = write(home, "unsubscribers.csv", ["email,email_type_id", ...unsubscribers, ""].join("\n"));
  await succeed(home, ["unsubscribers", "import", file]);
  const reviewed = of("reviewed_lately").map(({ email, order_id }) => [
    "Pours well",
    `Said for ${order_id}`,
    "Ann",
    email,
    "verified_buyer",
    5,
    daysAgo(100),
    "teapot",
    "Teapot",
    "",
    "https://shop.example/teapot",
    "",
  ]);
  const header =
    "review_title,review_content,display_name,user_email,user_type,review_score,date,sku,product_title,product_description,product_url,product_image_url\n";
  await succeed(home, ["reviews", "import", write(home, "reviews.csv", header + stringify(reviewed))]);
  // People with a permanent failure for an earlier order, more than 30 days ago.
  const earlier = (row: Row): Row => ({ ...row, order_id: `E-${row.order_id}`, order_date: daysAgo(60) });
  const bounced = of("bounced_before").map(earlier);
  server.decide = (step, address) =>
    step === "rcpt" && bounced.some(({ email }) => email === address)
      ? { code: 550, text: "5.2.1 mailbox disabled" }
      : undefined;
  await succeed(home, ["orders", "import", writeOrders(home, "bounced.csv", bounced), "--send-mail"]);
  const { mails } = await succeed<RunSummary>(home, ["mail", "run", "--once"]);
  expect(mails).toMatchObject({ sent: 0, bounced: bounced.length });
  server.decide = () => undefined;
  const products =
    "product_id,name,url,blacklisted\nkettle,Kettle,https://shop.example/kettle,true\nteapot,Teapot,https://shop.example/teapot,false\n";
  await succeed(home, ["products", "import", write(home, "products.csv", products)]);
}
