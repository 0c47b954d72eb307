import { expect, it } from "vitest";
import { newAccountPerProduct } from "../support/due-emails.ts";
import { emailPage, type EmailState } from "../../src/contract/index.ts";
import { describeBackends, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct } from "../support/builders.ts";
import { invalidField, mentioning } from "../support/service-errors.ts";

const dayMs = 24 * 3_600_000;

describeBackends("emails", (harness) => {
  /** Creates orders with these dates, each with a teapot and a pan. */
  const createOrders = async ({ service }: TestAccount, orders: Readonly<Record<string, string>>) => {
    for (const [order_id, order_date] of Object.entries(orders)) {
      const products = { teapot: anOrderedProduct(), pan: anOrderedProduct() };
      await service.orders.create({
        ...anOrder({ order_id, order_date, email: `${order_id}@mail.example`, products }),
        platform: "general",
        send_mail: true,
      });
    }
  };
  const setState = ({ database }: Harness, mailId: number, state: EmailState, fields: object = {}) =>
    database.db
      .updateTable("mails")
      .set({ state, ...fields })
      .where("id", "=", mailId)
      .execute();
  const idsOf = ({ mails }: { readonly mails: readonly { readonly id: number }[] }) => mails.map(({ id }) => id);

  it("lists the newest emails first, or the oldest first from an ID", async () => {
    const account = await newAccountPerProduct(harness());
    await createOrders(account, { a: "2026-03-01", b: "2026-03-02" });
    const { service } = account;
    const all = idsOf(await service.emails.list({}));
    expect(all).toHaveLength(4);
    expect(all).toEqual(all.toSorted((one, other) => other - one));
    const [, second = 0, third = 0] = all.toReversed();
    expect(idsOf(await service.emails.list({ since_id: second, count: 2 }))).toEqual([second, third]);
    expect(idsOf(await service.emails.list({ since_id: third, sort: "newest", count: 1 }))).toEqual([all[0]]);
    for (const count of [0, -1]) expect(idsOf(await service.emails.list({ count }))).toEqual([all[0]]);
    expect(idsOf(await service.emails.list({ count: emailPage.max + 1 }))).toEqual(all);
  });

  it("lists by due date, regardless of state", async () => {
    const account = await newAccountPerProduct(harness());
    const { service } = account;
    await createOrders(account, { late: "2026-03-09", soon: "2026-03-02", next: "2026-03-05" });
    const due = async (sort: "soonest" | "latest", state?: string) => {
      const { mails } = await service.emails.list({ sort, ...(state !== undefined && { state }) });
      return mails.map(({ order_id, product_id }) => `${order_id} ${product_id}`);
    };
    const soonest = await due("soonest");
    expect(soonest.map((shown) => shown.split(" ")[0])).toEqual(["soon", "soon", "next", "next", "late", "late"]);
    const { mails } = await service.emails.list({ order_id: "next" });
    await setState(harness(), mails[0]?.id ?? 0, "sent");
    await setState(harness(), mails[1]?.id ?? 0, "leased");
    expect(await due("soonest")).toEqual(soonest);
    expect(await due("latest")).toEqual(soonest.toReversed());
    expect(await due("soonest", "queued,leased")).toHaveLength(5);
    expect(await due("latest", "sent, bounced")).toEqual([`next ${mails[0]?.product_id}`]);
  });

  it("filters by state, order, address, and category, within the account", async () => {
    const [account, other] = [await newAccountPerProduct(harness()), await newAccountPerProduct(harness())];
    await createOrders(account, { a: "2026-03-01", b: "2026-03-02" });
    await createOrders(other, { a: "2026-03-01" });
    await account.service.emails.sendTest({ email: "B@mail.example" });
    const list = async (query: Parameters<typeof account.service.emails.list>[0]) => {
      const { mails } = await account.service.emails.list(query);
      return mails.map(({ order_id, is_test }) => order_id ?? (is_test ? "test" : "")).toSorted();
    };
    expect(await list({})).toEqual(["a", "a", "b", "b", "test"]);
    expect(await list({ order_id: "a" })).toEqual(["a", "a"]);
    expect(await list({ order_id: "none" })).toEqual([]);
    expect(await list({ email: "b@MAIL.example" })).toEqual(["b", "b", "test"]);
    expect(await list({ category: "map", email: "a@mail.example" })).toEqual(["a", "a"]);
    expect(await list({ category: "reminder" })).toEqual([]);
    expect(await list({ email_type_id: 1, order_id: "a" })).toEqual(["a", "a"]);
    expect(await list({ email_type_id: 5 })).toEqual([]);
    expect(await list({ email_type_id: 17 })).toEqual([]);
    expect(await list({ state: "sent" })).toEqual([]);
    expect(await list({ state: "queued,sent", order_id: "b", sort: "soonest" })).toEqual(["b", "b"]);
  });

  it("filters by creation time and product", async () => {
    const account = await newAccountPerProduct(harness());
    const { clock } = harness();
    const firstMs = clock();
    await createOrders(account, { a: "2026-03-02" });
    clock.advance(dayMs);
    await createOrders(account, { b: "2026-03-01" });
    clock.advance(dayMs);
    await createOrders(account, { c: "2026-03-03" });
    const at = (days: number) => new Date(firstMs + days * dayMs).toISOString();
    const list = async (query: Parameters<typeof account.service.emails.list>[0]) => {
      const { mails } = await account.service.emails.list(query);
      return mails.map(({ order_id, product_id }) => `${order_id} ${product_id}`);
    };
    const teapots = ["c teapot", "b teapot", "a teapot"];
    expect(await list({ product_id: "teapot" })).toEqual(teapots);
    expect(await list({ product_id: "teapot", sort: "oldest" })).toEqual(teapots.toReversed());
    expect(await list({ product_id: "teapot", sort: "soonest" })).toEqual(["b teapot", "a teapot", "c teapot"]);
    expect(await list({ product_id: "teapot", since_id: 1 })).toEqual(teapots.toReversed());
    expect(await list({ product_id: "teapot", count: 1 })).toEqual(["c teapot"]);
    expect(await list({ product_id: "teapot", state: "sent" })).toEqual([]);
    expect(await list({ product_id: "teapot", state: "queued,sent", since_date: at(1) })).toEqual(teapots.slice(0, 2));
    expect(await list({ product_id: "lid" })).toEqual([]);
    expect(await list({ product_id: "pan", order_id: "a" })).toEqual(["a pan"]);
    expect(await list({ product_id: "pan", email: "b@mail.example" })).toEqual(["b pan"]);
    const ordersIn = async (query: Parameters<typeof list>[0]) =>
      (await list(query)).map((shown) => shown.split(" ")[0]).join(" ");
    expect(await ordersIn({ since_date: at(1) })).toBe("c c b b");
    expect(await ordersIn({ since_date: at(1), sort: "oldest" })).toBe("b b c c");
    expect(await ordersIn({ since_date: at(0.5), until_date: at(2) })).toBe("b b");
    expect(await ordersIn({ until_date: at(2), sort: "soonest" })).toBe("b b a a");
    expect(await ordersIn({ until_date: at(1), state: "queued" })).toBe("a a");
    expect(await ordersIn({ since_date: at(1), count: 3 })).toBe("c c b");
    expect(await ordersIn({ since_date: at(1), since_id: 1 })).toBe("b b c c");
    expect(await ordersIn({ since_date: at(1), email: "a@mail.example" })).toBe("");
    expect(await ordersIn({ until_date: at(1), email: "a@mail.example" })).toBe("a a");
  });

  it.each([
    [{ since_date: "soon" }, mentioning("since_date")],
    [{ state: "gone" }, mentioning("state", "queued")],
    [{ state: " , " }, mentioning("state", "queued")],
    [{ category: "letters" }, mentioning("category", "map")],
    [{ email_type_id: 18 }, mentioning("email_type_id", "17")],
    [{ sort: "random" }, mentioning("sort", "newest, oldest, soonest, latest")],
    [{ email: "x" }, mentioning("email")],
    [{ since_id: "x" }, mentioning("since_id")],
  ])("rejects %j", async (query, message) => {
    const { service } = await newAccountPerProduct(harness());
    await expect(service.emails.list(query as object)).rejects.toMatchObject({ kind: "invalidParams", message });
  });

  it("shows what an email is about, its message, and its events", async () => {
    const account = await newAccountPerProduct(harness(), "Tea Shop");
    await createOrders(account, { a: "2026-03-10" });
    const { mails } = await account.service.emails.list({ sort: "oldest" });
    const mail = mails.find(({ product_id }) => product_id === "teapot");
    const shown = await account.service.emails.get({ mail_id: mail?.id ?? 0 });
    expect(shown.mail).toEqual({
      id: mail?.id,
      category: "map",
      email: "a@mail.example",
      name: anOrder().customer_name,
      state: "queued",
      reason: null,
      created_at: "2026-03-15T12:00:00.000Z",
      due_at: "2026-03-24T00:00:00.000Z",
      sent_at: null,
      attempts: 0,
      is_test: false,
      order_id: "a",
      product_id: "teapot",
    });
    const { name } = anOrderedProduct();
    expect(shown.message?.subject).toContain(name);
    expect(shown.message?.text).toContain("Tea Shop");
    expect(shown.message?.text).toMatch(/5 ★ http\S+/);
    expect(shown.message?.html).toContain("<a ");
    expect(shown.events).toEqual([]);
    await account.service.emails.sendTest({});
    const [test] = (await account.service.emails.list({ count: 1 })).mails;
    const shownTest = await account.service.emails.get({ mail_id: test?.id ?? 0 });
    expect(shownTest.mail).toMatchObject({ is_test: true, order_id: null, product_id: null });
    expect(shownTest.message?.text).toContain("This is a test email");
    expect(shownTest.events).toEqual([
      {
        event: "requested",
        occurred_at: "2026-03-15T12:00:00.000Z",
        noted_at: "2026-03-15T12:00:00.000Z",
        detail: null,
      },
    ]);
  });

  it("mentions every product in an email that covers a complete order", async () => {
    const account = await newAccountPerProduct(harness());
    await account.service.emailRules.set({ name: "one_mail_per", value: "order" });
    await createOrders(account, { a: "2026-03-10" });
    const { mails } = await account.service.emails.list({});
    expect(mails).toMatchObject([{ order_id: "a", product_id: null }]);
    const { message } = await account.service.emails.get({ mail_id: mails[0]?.id ?? 0 });
    expect(message?.text.match(/^5 ★ /gm)).toHaveLength(2);
  });

  it("cancels a queued email, and rejects canceling others", async () => {
    const account = await newAccountPerProduct(harness());
    const { service } = account;
    await service.emails.sendTest({});
    const mail_id = (await service.emails.list({})).mails[0]?.id ?? 0;
    harness().clock.advance(dayMs);
    const canceled = { state: "not_sent", reason: "stopped_by_hand" };
    expect((await service.emails.cancel({ mail_id })).mail).toMatchObject(canceled);
    expect((await service.emails.cancel({ mail_id })).mail).toMatchObject(canceled);
    const { mail, events } = await service.emails.get({ mail_id });
    expect(mail).toMatchObject(canceled);
    expect(events).toMatchObject([
      { event: "requested" },
      { event: "not_sent", detail: "stopped_by_hand", occurred_at: "2026-03-16T12:00:00.000Z" },
    ]);
    for (const state of ["sending", "sent", "bounced", "failed", "not_sent"] as const) {
      await setState(harness(), mail_id, state, { reason: "x" });
      await expect(service.emails.cancel({ mail_id })).rejects.toMatchObject(invalidField("mail_id", mail_id));
    }
    await setState(harness(), mail_id, "leased", { worker: "w", leased_until: harness().clock() + dayMs });
    expect((await service.emails.cancel({ mail_id })).mail).toMatchObject(canceled);
    const lease = await harness()
      .database.db.selectFrom("mails")
      .select(["worker", "leased_until"])
      .where("id", "=", mail_id)
      .executeTakeFirstOrThrow();
    expect(lease).toEqual({ worker: null, leased_until: null });
  });
});
