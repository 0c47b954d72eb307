import { writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { afterAll, afterEach, expect, it } from "vitest";
import { describeInBrowser, findAccessibilityIssues, takeScreenshot, viewports } from "../support/browser.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { type Home, Homes } from "../support/starpost.ts";
import { signatureOf } from "../support/webhook-receiver.ts";

const homes = new Homes();
afterAll(() => homes.remove());
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A shop's receiver of review webhooks. */
async function startReceiver(): Promise<{ readonly url: string; readonly received: ReceivedRequest[] }> {
  const received: ReceivedRequest[] = [];
  const server: Server = createServer((request, response) => {
    void readText(request).then((body) => {
      received.push({ headers: request.headers, body });
      response.end("ok");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

/** A home that sends emails through a mail server, and webhooks to this machine. */
async function setUp(): Promise<{ home: Home; mailServer: MailServer }> {
  const home = homes.open();
  const mailServer = await startMailServer();
  closing.push(() => mailServer.close());
  const smtpFlags = ["--host", mailServer.host, "--port", String(mailServer.port), "--tls", "none"];
  const configured = await home.run(["mail", "configure", ...smtpFlags, "--from", "Tea & Cups <reviews@shop.example>"]);
  expect(configured).toMatchObject({ exitCode: 0 });
  expect(await home.run(["webhooks", "configure", "--allow-private", "on"])).toMatchObject({ exitCode: 0 });
  return { home, mailServer };
}

/** Imports an order that is old enough for a review request. */
async function importOrder(home: Home, orderId: string, product: string): Promise<void> {
  const orderDate = new Date(Date.now() - 14 * 24 * 60 * 60 * 1_000).toISOString().slice(0, 10);
  const path = join(home.folder, `${orderId}.csv`);
  const header = "order_id,email,customer_name,order_date,product_id,product_name,product_url";
  const row = [
    orderId,
    "zoe@mail.example",
    "Zoë Müller",
    orderDate,
    product,
    `The ${product}`,
    `https://shop.example/${product}`,
  ];
  writeFileSync(path, `${header}\n${row.join(",")}\n`);
  const { exitCode, stderr } = await home.run(["orders", "import", path, "--send-mail", "--yes"]);
  expect([exitCode, stderr]).toEqual([0, stderr]);
}

interface Explanation {
  readonly decisions: readonly { readonly state: string; readonly decided_by: string | null }[];
}

const explain = async (home: Home, orderId: string) => (await home.json<Explanation>(["mail", "why", orderId])).data;

/** The URL in an email for a path of the server. */
function findUrl(mail: string | undefined, path: string): string {
  const found = new RegExp(`https?://[^\\s"<>]+${path}/[^\\s"<>)]+`).exec(mail ?? "")?.[0];
  if (found === undefined) throw new Error(`the email contains no URL for ${path}`);
  return found;
}

const selectedRatings = (page: Page) =>
  page
    .locator("input[name=score]:checked")
    .evaluateAll((options) => options.map((option) => option.getAttribute("value")));

describeInBrowser("a review request", (browser) => {
  it("leads from an order to an email, a review, and a webhook, and to no further email", async () => {
    const { home, mailServer } = await setUp();
    const receiver = await startReceiver();
    const server = await home.serve();
    closing.push(() => server.stop());
    const subscribed = await home.json<readonly { readonly secret: string }[] | { readonly secret: string }>([
      "webhooks",
      "create",
      receiver.url,
    ]);
    expect(subscribed.exitCode).toBe(0);
    const { secret = "" } = [subscribed.data].flat()[0] ?? {};

    await importOrder(home, "1001", "teapot");
    await expect.poll(() => mailServer.received.length, { interval: 200 }).toBe(1);
    const mail = mailServer.received[0]?.parsed;
    expect(mail?.to).toEqual([expect.objectContaining({ address: "zoe@mail.example", name: "Zoë Müller" })]);

    const inText = findUrl(mail?.text, "/starpost/v1/r");
    expect(inText).toMatch(new RegExp(`^${server.url}/.*\\?score=5$`));
    const { page, context, complaints } = await browser.open(inText, { javaScript: false });
    expect(await selectedRatings(page)).toEqual(["5"]);
    const { page: scripted } = await browser.open(inText);
    expect(await findAccessibilityIssues(scripted)).toEqual([]);

    // One click, two fields, and one button.
    const mailbox = "https://mail.example/";
    await context.route(mailbox, (route) => route.fulfill({ contentType: "text/html", body: mail?.html ?? "" }));
    await page.goto(mailbox);
    await takeScreenshot(page, "review-request-phone-email");
    await page.getByRole("link", { name: "4 ★" }).click();
    await page.getByRole("heading", { name: "Your review of The teapot" }).waitFor();
    expect(await selectedRatings(page)).toEqual(["4"]);
    for (const [name, size] of Object.entries(viewports)) {
      await page.setViewportSize(size);
      await takeScreenshot(page, `review-request-${name}-form`);
    }
    expect(await page.locator("input[type=text]:visible, textarea:visible").count()).toBe(2);
    await page.getByLabel("Title").fill("Pours <b>well</b>");
    await page.getByLabel("Your review", { exact: true }).fill("No drips.\nNone.");
    await page.getByRole("button", { name: "Submit my review" }).click();
    expect(await page.getByRole("article").innerText()).toContain("By Zoë M. · verified buyer");
    for (const [name, size] of Object.entries(viewports)) {
      await page.setViewportSize(size);
      await takeScreenshot(page, `review-request-${name}-done`);
    }

    const widget = await fetch(`${server.url}/v1/widget/${server.app_key}/products/teapot/reviews.json`);
    expect(await widget.json()).toMatchObject({
      response: {
        bottomline: { total_review: 1, average_score: 4 },
        reviews: [{ title: "Pours <b>well</b>", score: 4, verified_buyer: true, user: { display_name: "Zoë M." } }],
      },
    });

    await expect.poll(() => receiver.received.length, { interval: 200 }).toBe(1);
    const [{ headers, body } = { headers: {}, body: "" }] = receiver.received;
    expect(headers["webhook-signature"]).toBe(signatureOf(headers, body, secret));
    expect(Math.abs(Number(headers["webhook-timestamp"]) * 1_000 - Date.now())).toBeLessThan(120_000);
    expect(JSON.parse(body)).toMatchObject({
      event: "review_create",
      data: { title: "Pours <b>well</b>", verified_buyer: true, customer_email: "zoe@mail.example", order_id: "1001" },
    });

    const header = mail?.headers.find(({ key }) => key === "list-unsubscribe")?.value;
    await page.setViewportSize(viewports.phone);
    await page.goto(findUrl(header, "/starpost/v1/l"));
    await takeScreenshot(page, "review-request-phone-unsubscribe");
    await page.getByRole("button", { name: "Unsubscribe" }).click();
    await page.getByRole("heading", { name: "You are unsubscribed" }).waitFor();

    await importOrder(home, "1002", "pan");
    await expect
      .poll(async () => (await explain(home, "1002")).decisions[0]?.state, { interval: 500 })
      .toBe("not_sent");
    expect((await explain(home, "1002")).decisions).toMatchObject([{ decided_by: "unsubscribed" }]);
    expect((await explain(home, "1001")).decisions).toMatchObject([{ state: "sent", decided_by: null }]);
    expect([mailServer.received.length, receiver.received.length]).toEqual([1, 1]);
    expect(complaints).toEqual([]);
  });
});
