import { beforeEach, expect, it } from "vitest";
import type { Service } from "../../src/service/service.ts";
import { describeBackends, describeIsolated, type Harness, startMs, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, aReview, bulkOrders } from "../support/builders.ts";
import {
  readAccountId,
  createWorker,
  evaluateDueEmails,
  recordSent,
  readEmailResults,
  newAccountPerProduct,
} from "../support/due-emails.ts";
import { invalidField } from "../support/service-errors.ts";

const dayMs = 86_400_000;
/** Emails for an order of this day are due on the day of the test clock. */
const dueToday = "2026-03-01";

type Fields = NonNullable<Parameters<typeof anOrder>[0]>;
const orderedProducts = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, anOrderedProduct()]));

describeIsolated("email rules", (harness: () => Harness) => {
  let account: TestAccount;
  let service: Service;

  beforeEach(async () => {
    account = await newAccountPerProduct(harness());
    service = account.service;
  });

  /** Creates orders 1, 2, …, each by another person unless an address is given. */
  const createOrders = (...orders: Fields[]) =>
    service.orders.massCreate(
      bulkOrders(
        orders.map((fields, at) =>
          anOrder({ order_id: `${at + 1}`, email: `p${at + 1}@mail.example`, order_date: dueToday, ...fields }),
        ),
      ),
    );
  const evaluate = () => evaluateDueEmails(harness());
  const set = (name: Parameters<Service["emailRules"]["set"]>[0]["name"], value: boolean | number | string | null) =>
    service.emailRules.set({ name, value });

  it("suppress emails for orders older than six months to the day, or than the setting", async () => {
    const old = [{ order_date: "2025-09-15" }, { order_date: "2025-09-14" }];
    await createOrders(...old);
    expect(await evaluate()).toEqual({ "1/teapot": "leased", "2/teapot": "order_too_old" });
    await set("oldest_order_months", 3);
    await createOrders({}, {}, { order_date: "2025-12-15" }, { order_date: "2025-12-14" });
    expect(await evaluate()).toMatchObject({ "3/teapot": "leased", "4/teapot": "order_too_old" });
    await set("order_too_old", false);
    await createOrders({}, {}, {}, {}, { order_date: "2020-01-01" });
    expect(await evaluate()).toMatchObject({ "5/teapot": "leased" });
  });

  it("suppress emails to an invalid address", async () => {
    await createOrders({}, {});
    const db = harness().database.db;
    await db.updateTable("mails").set({ email: "nobody" }).where("email", "=", "p2@mail.example").execute();
    expect(await evaluate()).toEqual({ "1/teapot": "leased", "2/teapot": "bad_address" });
  });

  it("suppress an email for a product that was blacklisted after the email was queued, but no other", async () => {
    await createOrders({ products: orderedProducts("teapot", "pan") });
    await service.products.massUpdate({ products: { teapot: aProduct({ blacklisted: true }) } });
    expect(await evaluate()).toEqual({ "1/teapot": "product_blacklisted", "1/pan": "leased" });
  });

  it("suppress emails canceled after they were queued, for an order or one of its products", async () => {
    await createOrders(
      { products: orderedProducts("teapot", "pan") },
      { products: orderedProducts("teapot", "pan") },
      {},
    );
    await service.orders.cancelEmails({ orders: [{ order_id: "1" }, { order_id: "2", skus: ["pan"] }] });
    expect(await evaluate()).toEqual({
      "1/teapot": "mails_stopped",
      "1/pan": "mails_stopped",
      "2/teapot": "leased",
      "2/pan": "mails_stopped",
      "3/teapot": "leased",
    });
  });

  it("suppress emails to an unsubscribed address in any spelling, for that email type only", async () => {
    await createOrders({ email: "Ann@Mail.example" }, { email: "bo@mail.example" });
    await service.unsubscribers.massCreate({ email_list: { 1: ["ANN@mail.example"], 2: ["bo@mail.example"] } });
    expect(await evaluate()).toEqual({ "1/teapot": "unsubscribed", "2/teapot": "leased" });
  });

  it("suppress emails for a product that the person reviewed within twelve months, to the day", async () => {
    const review = (email: string, created_at: string, more = {}) => {
      const past = { created_at, reviewer_type: "verified_buyer" as const };
      return service.reviews.createNow(aReview({ email, past, ...more }));
    };
    await review("p1@mail.example", "2025-03-15");
    await review("p2@mail.example", "2025-03-14");
    await service.reviews.createNow(aReview({ email: "p3@mail.example" }));
    await createOrders({ products: orderedProducts("teapot", "pan") }, {}, {});
    const results = await evaluate();
    // The address of the third review was never verified.
    expect(results).toEqual({
      "1/teapot": "reviewed_lately",
      "1/pan": "leased",
      "2/teapot": "leased",
      "3/teapot": "leased",
    });
    await set("reviewed_within_months", 13);
    await createOrders({}, {}, {}, { email: "p2@mail.example" });
    expect(await evaluate()).toMatchObject({ "4/teapot": "reviewed_lately" });
    await set("reviewed_lately", false);
    await createOrders({}, {}, {}, {}, { email: "p2@mail.example" });
    expect(await evaluate()).toMatchObject({ "5/teapot": "leased" });
  });

  it("allow a person five emails in 30 days, those that are due first", async () => {
    const ids = ["a", "b", "c", "d", "e", "f"];
    await createOrders(
      { products: orderedProducts(...ids) },
      { email: "P1@mail.example", order_date: "2026-02-20" },
      {},
    );
    expect(await evaluate()).toEqual({
      "1/a": "leased",
      "1/b": "leased",
      "1/c": "leased",
      "1/d": "leased",
      "1/e": "too_many_to_person",
      "1/f": "too_many_to_person",
      "2/teapot": "leased",
      "3/teapot": "leased",
    });
  });

  it("count emails of the last 30 days and those leased by another worker", async () => {
    const id = await readAccountId(harness(), account);
    for (const daysAgo of [30, 29, 29, 29]) {
      await recordSent(harness(), id, "p1@mail.example", startMs - daysAgo * dayMs);
    }
    await createOrders({ products: orderedProducts("a") });
    // Emails of another store to the same person do not count, nor do those without an order.
    const other = await newAccountPerProduct(harness());
    const foreign = anOrder({ order_id: "9", email: "p1@mail.example", order_date: dueToday });
    await other.service.orders.massCreate(bulkOrders([foreign]));
    await service.emails.sendTest({ email: "p1@mail.example" });
    await createWorker(harness(), "another").claim(4);
    await createOrders({ products: orderedProducts("a", "b", "c") });
    const expected = { "9/teapot": "leased", "1/a": "leased", "1/b": "leased", "1/c": "too_many_to_person" };
    expect(await evaluate()).toEqual(expected);
  });

  it("allow a person as many emails in as many days as the settings say, or an unlimited number", async () => {
    const id = await readAccountId(harness(), account);
    await set("most_mails_to_person", 1);
    await set("most_mails_days", 2);
    await recordSent(harness(), id, "p1@mail.example", startMs - dayMs);
    await recordSent(harness(), id, "p2@mail.example", startMs - 2 * dayMs);
    await createOrders({}, { products: orderedProducts("a", "b") });
    expect(await evaluate()).toEqual({
      "1/teapot": "too_many_to_person",
      "2/a": "leased",
      "2/b": "too_many_to_person",
    });
    await set("too_many_to_person", false);
    await createOrders({}, {}, { email: "p1@mail.example", products: orderedProducts("a", "b", "c") });
    expect(await evaluate()).toMatchObject({ "3/a": "leased", "3/b": "leased", "3/c": "leased" });
  });

  it("suppress emails to an address that bounced or reported spam", async () => {
    const account_id = await readAccountId(harness(), account);
    const other = await readAccountId(harness(), await newAccountPerProduct(harness()));
    const suppress = (email_key: string, kind: string, of = account_id) =>
      harness()
        .database.db.insertInto("mail_suppressions")
        .values({ account_id: of, email_key, kind, mail_row: 1, created_at: startMs })
        .execute();
    await suppress("p1@mail.example", "bounces");
    await suppress("p2@mail.example", "spamreports");
    await suppress("p3@mail.example", "bounces", other);
    await createOrders({}, {}, {});
    expect(await evaluate()).toEqual({
      "1/teapot": "bounced_before",
      "2/teapot": "reported_spam",
      "3/teapot": "leased",
    });
    await set("bounced_before", false);
    await createOrders({}, {}, {}, { email: "p1@mail.example" }, { email: "p2@mail.example" });
    expect(await evaluate()).toMatchObject({ "4/teapot": "leased", "5/teapot": "reported_spam" });
  });

  it("suppress all review requests while they are disabled, but no other emails", async () => {
    await set("send_review_requests", false);
    await createOrders({});
    await service.emails.sendTest({ email: "p1@mail.example" });
    const { emails, notSent } = await createWorker(harness()).claim(10);
    expect([emails.length, notSent.map(({ rule }) => rule)]).toEqual([1, ["requests_off"]]);
    await set("send_review_requests", null);
    await createOrders({}, {});
    expect(await evaluate()).toMatchObject({ "2/teapot": "leased" });
  });

  it("apply the first matching rule", async () => {
    await createOrders({ order_date: "2025-01-01" }, {});
    await service.unsubscribers.massCreate({ email_list: { 1: ["p1@mail.example", "p2@mail.example"] } });
    await service.products.massUpdate({ products: { teapot: aProduct({ blacklisted: true }) } });
    expect(await evaluate()).toEqual({ "1/teapot": "order_too_old", "2/teapot": "product_blacklisted" });
  });

  it("suppress an email without an order only for unsubscribed, spam-reporting, or bounced addresses", async () => {
    await set("most_mails_to_person", 1);
    for (const email of ["a", "a", "b", "c"]) await service.emails.sendTest({ email: `${email}@mail.example` });
    await service.unsubscribers.massCreate({ email_list: { 1: ["b@mail.example"] } });
    const account_id = await readAccountId(harness(), account);
    const values = { account_id, email_key: "c@mail.example", kind: "bounces", mail_row: 1, created_at: 1 };
    await harness().database.db.insertInto("mail_suppressions").values(values).execute();
    const { emails, notSent } = await createWorker(harness()).claim(10);
    expect([emails.map(({ email }) => email.to.address), notSent.map(({ rule }) => rule)]).toEqual([
      ["a@mail.example", "a@mail.example"],
      ["unsubscribed", "bounced_before"],
    ]);
  });

  it("drop products from an email that covers a complete order, and suppress it if none remain", async () => {
    await set("one_mail_per", "order");
    await createOrders({ products: orderedProducts("teapot", "pan", "cup") }, {}, {});
    await service.products.massUpdate({ products: { teapot: aProduct({ blacklisted: true }) } });
    await service.orders.cancelEmails({ orders: [{ order_id: "1", skus: ["cup"] }, { order_id: "3" }] });
    const { emails } = await createWorker(harness()).claim(10);
    const [products] = emails.map(({ email }) => email.data["products"] as { product_id: string }[]);
    expect(products?.map(({ product_id }) => product_id)).toEqual(["pan"]);
    expect(await readEmailResults(harness())).toEqual({
      "1/*": "leased",
      "2/*": "product_blacklisted",
      "3/*": "product_blacklisted",
    });
  });

  it("apply per account", async () => {
    const other = await newAccountPerProduct(harness());
    await other.service.emailRules.set({ name: "oldest_order_months", value: 1 });
    await createOrders({ order_date: "2025-12-01" });
    expect(await evaluate()).toEqual({ "1/teapot": "leased" });
  });
});

describeBackends("email settings", (harness: () => Harness) => {
  it("report which rules are on, which can be turned off, and when they apply", async () => {
    const { service } = await newAccountPerProduct(harness());
    await service.emailRules.set({ name: "reviewed_lately", value: "off" });
    await service.emailRules.set({ name: "oldest_order_months", value: "9" });
    const { rules } = await service.emailRules.list({});
    expect(rules.map(({ name }) => name)).toEqual([
      "past_order",
      "requests_off",
      "stopped_by_hand",
      "held_too_long",
      "order_too_old",
      "bad_address",
      "product_blacklisted",
      "mails_stopped",
      "unsubscribed",
      "reported_spam",
      "bounced_before",
      "nothing_written",
      "reviewed_lately",
      "too_many_to_person",
    ]);
    const canBeOff = rules.filter(({ can_be_off }) => can_be_off).map(({ name, on }) => [name, on]);
    expect(canBeOff).toEqual([
      ["order_too_old", true],
      ["bounced_before", true],
      ["reviewed_lately", false],
      ["too_many_to_person", true],
    ]);
    expect(rules.find(({ name }) => name === "order_too_old")?.description).toContain("9 months");
  });

  it("reject invalid values without changing anything", async () => {
    const { service } = await harness().newAccount();
    const setInvalid = (name: string, value: unknown) =>
      service.emailRules.set({ name, value } as Parameters<typeof service.emailRules.set>[0]);
    await expect(setInvalid("due_after_days", 366)).rejects.toMatchObject(
      invalidField("value of due_after_days", 0, 365),
    );
    await expect(setInvalid("due_after_days", 1.5)).rejects.toMatchObject({ kind: "invalidParams" });
    await expect(setInvalid("due_after_days", "soon")).rejects.toMatchObject({ kind: "invalidParams" });
    await expect(setInvalid("track_opens", "maybe")).rejects.toMatchObject(
      invalidField("value of track_opens", "on", "off"),
    );
    await expect(setInvalid("one_mail_per", "unit")).rejects.toMatchObject(
      invalidField("value of one_mail_per", "product, order"),
    );
    await expect(setInvalid("unsubscribed", false)).rejects.toMatchObject({ kind: "invalidParams" });
    const { settings } = await service.emailRules.list({});
    expect(settings.filter(({ changed }) => changed)).toEqual([]);
  });
});
