import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backends } from "../../../support/backends.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

let pipeline: Pipeline;
afterEach(() => pipeline[Symbol.asyncDispose]());

const header =
  "Name,Email,Financial Status,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Cancelled at\n";

/** A row of a Shopify export; only the first row of an order has the order's own fields. */
const line = (order: number, sku: string, name: string, { status = "paid", canceledAt = "", isFirst = true } = {}) =>
  isFirst
    ? `#${order},ann${order}@shop.example,${status},2026-03-01 10:00:00 +0100,1,${name},5,${sku},Ann,${canceledAt}\n`
    : `#${order},,,,1,${name},5,${sku},,\n`;

const storeUrl = "https://shop.example/";

const listProducts = async () =>
  Object.fromEntries(
    (await pipeline.service.core.listProducts({})).products.map(({ external_id, name, url }) => [
      external_id,
      { name, url },
    ]),
  );

describe.each(backends)("over $name", (backend) => {
  beforeEach(async () => {
    pipeline = await openPipeline([backend]);
  });

  test("--store-url links to a search for the SKU, or for the name if there is none", async () => {
    const rows = line(1, "C-1", "Cup") + line(1, "", "Teapot - Blue / 1 l", { isFirst: false }) + line(2, "", "Mug");
    const { rows: counts } = await pipeline.run("orders", header + rows, { storeUrl });
    expect(counts).toMatchObject({ accepted: 3, rejected: 0 });
    const products = await listProducts();
    const made = Object.keys(products).find((id) => id.startsWith("Teapot-Blue")) ?? "";
    expect(products).toEqual({
      "C-1": { name: "Cup", url: "https://shop.example/search?q=C-1" },
      Mug: { name: "Mug", url: "https://shop.example/search?q=Mug" },
      [made]: { name: "Teapot - Blue / 1 l", url: "https://shop.example/search?q=Teapot%20-%20Blue%20/%201%20l" },
    });
    expect(pipeline.notices().filter((text) => text.includes(made) && text.startsWith("1 ID "))).toHaveLength(1);
    // The same name is the same product in every run.
    await pipeline.run("orders", header + line(3, "", "Teapot - Blue / 1 l"), { storeUrl });
    expect(Object.keys(await listProducts())).toHaveLength(3);
  });

  test("a file without URLs needs none for products that are stored with one", async () => {
    const url = "https://shop.example/products/cup";
    await pipeline.service.products.massCreate({ products: { "C-1": { name: "Cup", url } } });
    const first = await pipeline.run("orders", header + line(1, "C-1", "Blue cup"), { verify: true });
    expect(first).toMatchObject({ state: "finished", rows: { accepted: 1 }, verified: { missing_count: 0 } });
    expect(await listProducts()).toEqual({ "C-1": { name: "Cup", url } });
    const rows = line(2, "C-1", "Cup") + line(3, "P-1", "Pot") + line(4, "P-2", "Pan") + line(5, "P-1", "Pot");
    await expect(pipeline.run("orders", header + rows)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining("2 "),
      hint: expect.stringContaining("--store-url"),
      summary: undefined,
    });
    await expect(pipeline.plan("orders", header + rows)).rejects.toMatchObject({ kind: "usage" });
    const { total_purchases } = await pipeline.service.orders.list({ count: 1 });
    expect(total_purchases).toBe(1);
  });

  test("a dry run cannot know stored URLs", async () => {
    await expect(pipeline.run("orders", header + line(1, "C", "Cup"), { dryRun: true })).rejects.toMatchObject({
      kind: "usage",
      hint: expect.stringContaining("--store-url"),
    });
  });

  const mixed =
    line(1, "A", "A") +
    line(2, "B", "B", { status: "refunded" }) +
    line(3, "C", "C", { status: "partially_refunded" }) +
    line(4, "D", "D", { canceledAt: "2026-03-02 10:00:00 +0100" }) +
    line(4, "E", "E", { isFirst: false }) +
    line(5, "F", "F", { status: "voided" });

  test.each([
    { includeCanceled: false, receivers: ["ann1@shop.example", "ann3@shop.example"] },
    { includeCanceled: true, receivers: [1, 2, 3, 4, 5].map((at) => `ann${at}@shop.example`) },
  ])("with --send-mail, canceled orders cause emails only on request: $includeCanceled", async (expected) => {
    const { includeCanceled, receivers } = expected;
    const options = { storeUrl, sendMail: true, includeCanceled };
    const { rows } = await pipeline.run("orders", header + mixed, options);
    expect(rows).toMatchObject({ accepted: 6 });
    const { mails } = await pipeline.service.emails.list({ count: 100 });
    expect(mails.map(({ email }) => email).toSorted()).toEqual(receivers);
    expect(pipeline.notices().filter((text) => text.includes("--include-canceled"))).toHaveLength(
      includeCanceled ? 0 : 1,
    );
  });

  test("a plan counts the emails without canceled orders, and says how many orders these are", async () => {
    const { mails } = await pipeline.plan("orders", header + mixed, { storeUrl, sendMail: true });
    expect(mails).toMatchObject({ send_mail: true, sent_by_import: 2, if_sent: { mails: 2 } });
    expect(pipeline.notices().find((text) => text.includes("--include-canceled"))).toMatch(/^3 orders/);
  });

  test("rows without an email address are counted in one notice", async () => {
    const nobody = (order: number) => line(order, "A", "A").replace(`ann${order}@shop.example`, "");
    const rows = nobody(1) + line(1, "B", "B", { isFirst: false }) + nobody(2) + line(3, "A", "A");
    await pipeline.run("orders", header + rows, { storeUrl });
    const reasons = pipeline.events.flatMap((event) => (event.type === "rejects" ? event.reasons : []));
    expect(reasons).toMatchObject([{ code: "missing", column: "Email", count: 3, items: "2 orders" }]);
  });
});
