import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { findFreePort, startLoopback } from "../support/loopback.ts";
import { startMailServer } from "../support/mail-server.ts";
import { postgresServer, postgresSkipped, takeEmptyDatabase } from "../support/postgres.ts";
import { runLine, runTour, type Shell } from "../support/readme.ts";

const dayMs = 86_400_000;
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** An empty folder of a person who has `starpost` on the path and a screen of 80 columns. */
function openShell(): Shell {
  const cwd = mkdtempSync(join(tmpdir(), "starpost-guide-"));
  folders.push(cwd);
  mkdirSync(join(cwd, ".bin"));
  symlinkSync(resolve("bin/starpost.js"), join(cwd, ".bin", "starpost"));
  const path = [join(cwd, ".bin"), dirname(process.execPath), process.env["PATH"] ?? ""].join(":");
  return {
    cwd,
    env: { PATH: path, HOME: cwd, STARPOST_HOME: join(cwd, "starpost"), STARPOST_BY: "kim", COLUMNS: "80" },
    isInProcess: true,
  };
}

/** Replaces durations and addresses of servers, which differ between runs. */
const normalize = (text: string) =>
  text
    .replaceAll(/\(\d+(?:\.\d+)? m?s\)/g, "(1.2 s)")
    .replaceAll(/\babout [\d.]+ m?s\b/g, "about 0.3 s")
    .replaceAll(/(?<=^duration ms +)\d+/gm, "12")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+(?=\n)/g, "https://crm.shop.example");

interface Changes {
  /** Before the commands run. */
  readonly prepare?: (text: string) => string;
  /** Afterward. */
  readonly change?: (text: string) => string;
}

const keep = (text: string) => text;

async function expectToPrint(page: string, shell: Shell, { prepare = keep, change = keep }: Changes = {}) {
  const path = resolve("docs/guides", page);
  const toured = change(normalize(await runTour(prepare(readFileSync(path, "utf8")), shell)));
  await expect(toured).toMatchFileSnapshot(path);
  return toured;
}

test("the guide to Shopify orders prints what its commands print", async () => {
  const shell = openShell();
  copyFileSync(resolve("fixtures/guides/shopify-orders-gaps.csv"), join(shell.cwd, "orders_export.csv"));
  const toured = await expectToPrint("import-shopify-orders.md", shell);
  expect(toured).toContain("3 rows of 2 orders: Email is missing");
});

test.skipIf(spawnSync("bash", ["-c", "command -v jq && command -v curl"]).status !== 0)(
  "the quickstarts print what their commands print, with at most ten commands each",
  async () => {
    const shell = openShell();
    const port = String(await findFreePort());
    onTestFinished(async () => void (await runLine("kill $(cat serve.pid)", shell)));
    const toured = await expectToPrint("quickstart.md", shell, {
      prepare: (text) => text.replaceAll("8080", port),
      change: (text) =>
        text
          .replaceAll(port, "8080")
          .replaceAll(daysAgo(0), "2026-11-22")
          .replaceAll(/(?<=2026-11-22 )\d\d:\d\d(?=Z)/g, "10:15"),
    });
    for (const role of toured.split(/^## /m).slice(1)) {
      expect(role.match(/^\$ /gm)?.length, role).toBeLessThanOrEqual(10);
    }
    expect(toured).not.toMatch(/^error: /m);
  },
  60_000,
);

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

/** Writes dates as if today were 2026-11-22, and times as 10:15. */
function fixDates(text: string): string {
  const shiftMs = Date.parse("2026-11-22") - Date.parse(daysAgo(0));
  const fixDay = (day: string) => new Date(Date.parse(day) + shiftMs).toISOString().slice(0, 10);
  return text
    .replaceAll(/\b\d{4}-\d\d-\d\d(?=[T\s,.]|$)/gm, fixDay)
    .replaceAll(/(?<=\d{4}-\d\d-\d\d[T ])(?!00:00)\d\d:\d\d(?::\d\d\.\d{3})?(?=Z)/g, "10:15")
    .replaceAll(/\bv1\.[\w-]+\.[\w-]+/g, "v1.1fe0e845.3KWOkO8V");
}

/** Fills a shop with orders, reviews, a question, coupons, emails, and webhook deliveries. */
async function openShop(variables: Readonly<Record<string, string>>): Promise<Shell> {
  const smtp = await startMailServer({
    decide: (step, address) =>
      step === "rcpt" && address.startsWith("cy@") ? { code: 550, text: "5.1.1 unknown user" } : undefined,
  });
  const receiver = await startLoopback((response) => response.writeHead(503).end());
  onTestFinished(async () => {
    await Promise.all([smtp.close(), receiver.close()]);
  });
  const opened = openShell();
  const shell: Shell = {
    ...opened,
    env: {
      ...opened.env,
      ...variables,
      STARPOST_SMTP_HOST: smtp.host,
      STARPOST_SMTP_PORT: String(smtp.port),
      STARPOST_SMTP_TLS: "none",
      STARPOST_MAIL_FROM: "shop@shop.example",
      STARPOST_PUBLIC_URL: "https://reviews.shop.example",
      STARPOST_ALLOW_PRIVATE_WEBHOOKS: "on",
    },
  };
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(shell.cwd, name), `${lines.join("\n")}\n`);
  const lineItem = (id: string, name: string, price: string) => `${id},${name},https://shop.example/${id},${price},EUR`;
  const teapot = lineItem("teapot", "Teapot", "25.00");
  const orderColumns =
    "order_id,email,customer_name,order_date,product_id,product_name,product_url,product_price,currency_iso";
  write("orders.csv", [
    orderColumns,
    `1001,ann@mail.example,Ann Lee,${daysAgo(20)},${teapot}`,
    `1001,ann@mail.example,Ann Lee,${daysAgo(20)},${lineItem("mug", "Mug", "9.00")}`,
    `1002,bo@mail.example,Bo Diaz,${daysAgo(18)},${teapot}`,
    `1003,ann@mail.example,Ann Lee,${daysAgo(2)},${lineItem("samovar", "Samovar", "120.00")}`,
    `1004,cy@mail.example,Cy Weber,${daysAgo(16)},${teapot}`,
  ]);
  write("night.csv", [orderColumns, `1005,dee.mail.example,Dee Roy,${daysAgo(1)},${teapot}`]);
  write("reviews.csv", [
    "product_id,review_title,review_content,review_score,display_name,email,date",
    `teapot,Good,It pours well,5,Bo Diaz,bo@mail.example,${daysAgo(30)}`,
    `teapot,Drips,The spout drips on the table,2,Cy Weber,cy@mail.example,${daysAgo(3)}`,
    `mug,Broken,It arrived with a broken handle,1,Ann Lee,ann@mail.example,${daysAgo(1)}`,
    ...["teapot", "mug"].map((id) => `${id},Win,Win at our casino,5,Max,max@mail.example,${daysAgo(2)}`),
  ]);
  write("codes.csv", ["TEA-10", "TEA-11", "TEA-12"]);
  write("addresses.txt", ["eve@mail.example", "fay@mail.example"]);
  for (const line of [
    "starpost webhooks create $RECEIVER --event question_asked".replace("$RECEIVER", receiver.url),
    "starpost account list --json --jq '.[0].app_key' | xargs starpost account enable-email --yes",
    "starpost orders import orders.csv --send-mail",
    "starpost reviews import reviews.csv --concurrency 1",
    "starpost coupons import codes.csv --action map_review",
    `starpost questions ask --review-content 'Can it go into the dishwasher?' --display-name 'Dee Roy' --email dee@mail.example --product-id mug --product-title Mug --product-url https://shop.example/mug`,
    `starpost reviews create --sku teapot --product-title Teapot --product-url https://shop.example/teapot --display-name Kim --email kim@mail.example --review-title 'Seen on https://tea.example' --review-content 'A lovely pot' --review-score 5`,
    // The store's own reviews are never held.
    "starpost reviews requeue 6 --reason 'contains a link'",
    "starpost questions publish 1",
    "starpost mail run --once",
    "starpost orders import night.csv || test $? = 3",
  ]) {
    const { exitCode, output } = await runLine(line, shell);
    expect(exitCode, output).toBe(0);
  }
  return shell;
}

test.for(["SQLite", "PostgreSQL"] as const)(
  "the guide to a support day prints what its commands print, on %s",
  { timeout: 180_000 },
  async (kind, { skip }) => {
    if (kind === "PostgreSQL" && postgresServer === undefined) skip(postgresSkipped);
    const database = kind === "PostgreSQL" ? await takeEmptyDatabase() : undefined;
    onTestFinished(async () => database?.drop());
    const shell = await openShop(
      database ? { STARPOST_DATABASE: database.url, STARPOST_KEY: randomBytes(32).toString("hex") } : {},
    );
    const toured = await expectToPrint("support-desk.md", shell, { change: fixDates });
    expect(toured.match(/^### \d+\. /gm)).toHaveLength(30);
    for (const [block] of toured.matchAll(/^```console\n.*?^```/gms)) {
      expect(block.match(/^\$ /gm)?.length, block).toBeLessThanOrEqual(2);
    }
    expect(toured).not.toMatch(/^error: /m);
  },
);
