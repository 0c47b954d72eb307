import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { listUnsubscribers } from "../../../../src/service/listings.ts";
import { backends, type TestAccount } from "../../../support/backends.ts";
import { openPipeline, type Pipeline } from "../../../support/pipeline.ts";

const fixture = (name: string) => readFileSync(`fixtures/consent/${name}.csv`, "utf8");

describe.each(backends)("customers and contacts that are imported as unsubscribers, over $name", (backend) => {
  let pipeline: Pipeline;
  let account: TestAccount;
  beforeAll(async () => {
    pipeline = await openPipeline([backend]);
  });
  afterAll(() => pipeline[Symbol.asyncDispose]());
  beforeEach(async () => {
    account = await pipeline.harness.newAccount();
    pipeline.events.length = 0;
  });

  const run = (content: string, options: Partial<ImportOptions> & Readonly<Record<string, unknown>> = {}) => {
    const opened = { service: account.service, concurrency: 1, keepsOrder: true, close: async () => {} };
    const more = { openService: async () => opened, target: account.caller.appKey };
    return pipeline.run("unsubscribers", content, { emailType: "1", verify: true, ...options }, more);
  };
  const unsubscribed = async () => {
    const found: string[] = [];
    for await (const page of listUnsubscribers(account.service)) found.push(...page.map((one) => one.user_email));
    return found.toSorted();
  };
  /** The numbers of skipped rows that notices report. */
  const skipped = () =>
    pipeline
      .notices()
      .flatMap((notice) => / skipped (\d+) rows? /.exec(notice)?.[1] ?? [])
      .map(Number);

  test.each([
    ["shopify-customers", ["bob@mail.example"], [1, 1, 1]],
    ["shopify-customers-2019", ["bob@mail.example"], [1]],
    ["matrixify-customers", ["bob@mail.example"], [1, 2]],
    ["klaviyo-profiles", ["bob@mail.example", "dee@mail.example"], [1, 1]],
    ["mailchimp-unsubscribed", ["bob@mail.example"], [1]],
    ["woocommerce-customers", ["bob@mail.example"], [1, 2]],
  ])("%s: only those who said no", async (name, expected, counts) => {
    const summary = await run(fixture(name));
    const accepted = expected.length;
    expect(summary.rows).toEqual({ read: accepted, accepted, rejected: 0, failed: 0 });
    expect(summary.verified).toMatchObject({ missing: [] });
    expect(await unsubscribed()).toEqual(expected);
    expect(skipped()).toEqual(counts);
  });

  test.each([
    ["unknown values", "Email,Accepts Email Marketing\nann@mail.example,yes\nbob@mail.example,maybe\n", "maybe"],
    ["an unknown column", "Email,Agreed to Newsletter\nann@mail.example,yes\n", "Agreed to Newsletter"],
    ["a status of a subscription", "Email,Status\nann@mail.example,Subscribed\n", "Status"],
    [
      "a column of refusals",
      "Email,Unsubscribed from all email\nann@mail.example,false\n",
      "Unsubscribed from all email",
    ],
    ["customers without answers", "Name,Email,Orders,Total Spend,AOV\nAnn,ann@mail.example,1,5,5\n", "Orders"],
    ["a Mailchimp list of subscribers", "Email Address,MEMBER_RATING,LEID\nann@mail.example,2,1\n", "MEMBER_RATING"],
  ])("%s are refused before anything is sent", async (_name, content, named) => {
    const refused = { kind: "usage", message: expect.stringContaining(named) };
    const map: Record<string, string> = content.startsWith("Email Address") ? { email: "Email Address" } : {};
    await expect(run(content, { map })).rejects.toMatchObject(refused);
    expect(await unsubscribed()).toEqual([]);
    const forced = await run(content.replace("maybe", "no"), { map, force: true });
    expect(forced.rows.rejected).toBe(0);
    expect(await unsubscribed()).toHaveLength(1);
  });

  test("a column that is mapped to the answer is read as its name says", async () => {
    const rows = "ann@mail.example,yes\nbob@mail.example,no\ncai@mail.example,\ndee@mail.example,Unsubscribed\n";
    await run(`Email,Newsletter\n${rows}`, { map: { consent: "Newsletter" } });
    expect(await unsubscribed()).toEqual(["bob@mail.example", "dee@mail.example"]);
    await run(`Email,Opted out\n${rows}`, { map: { consent: "Opted out" }, emailType: "2" });
    expect(await unsubscribed()).toEqual([
      "ann@mail.example",
      "bob@mail.example",
      "dee@mail.example",
      "dee@mail.example",
    ]);
  });

  test("orders are not taken for customers", async () => {
    const orders = readFileSync("fixtures/exports/shopify-orders-export.csv", "utf8");
    expect(orders).toContain("Accepts Marketing");
    await expect(run(orders)).rejects.toMatchObject({ kind: "usage", hint: expect.stringContaining("orders import") });
  });

  test("are not resubscribed, whatever they said", async () => {
    await run("email\nbob@mail.example\n");
    await expect(run(fixture("shopify-customers"), { remove: true })).rejects.toMatchObject({ kind: "usage" });
    expect(await unsubscribed()).toEqual(["bob@mail.example"]);
  });

  test("lists of addresses are imported as they are", async () => {
    await run("email,email_type_id,unsubscribed_by,First Name\nann@mail.example,1,MODERATOR,Ann\n");
    await run("Subscriber email,Date\nbob@mail.example,2024-01-31\n", { map: { email: "Subscriber email" } });
    expect(await unsubscribed()).toEqual(["ann@mail.example", "bob@mail.example"]);
    expect(skipped()).toEqual([]);
  });

  test("none of whom said no change nothing", async () => {
    const { rows, state } = await run("Email,Accepts Email Marketing\nann@mail.example,yes\n", { verify: false });
    expect([state, rows]).toEqual(["finished", { read: 0, accepted: 0, rejected: 0, failed: 0 }]);
  });
});
