import { sql } from "kysely";
import { expect, it } from "vitest";
import { describeIsolated, type Harness, type TestAccount } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct } from "../support/builders.ts";

const numbers = Array.from({ length: 24 }, (_, at) => at);

const order = (at: number, fields: object = {}) => ({
  platform: "shopify" as const,
  ...anOrder({ order_id: `o${at}`, email: `buyer${at}@mail.example`, ...fields }),
});

/** Makes a statement fail that repeats a value of a column of an account. */
async function withUnique(table: string, column: string, { database }: Harness, test: () => Promise<void>) {
  const { db } = database;
  await sql`create unique index test_unique on ${sql.table(table)} (account_id, ${sql.ref(column)})`.execute(db);
  try {
    await test();
  } finally {
    await sql`drop index test_unique`.execute(db);
  }
}

async function listOrderIds({ service }: TestAccount): Promise<string[]> {
  const { purchases } = await service.orders.list({ count: 100 });
  return purchases.map(({ order_id }) => order_id).toSorted();
}

describeIsolated("simultaneous calls that create orders", (harness) => {
  it("each return their own errors, and store their own order", async () => {
    const account = await harness().newAccount();
    const isInvalid = (at: number) => at % 6 === 5;
    const results = await Promise.all(
      numbers.map((at) =>
        account.service.orders.create(order(at, { validate_data: true, ...(isInvalid(at) && { email: "none" }) })),
      ),
    );
    for (const [at, { errors = [] }] of results.entries()) {
      expect(errors.map(({ order_id, field }) => [order_id, field])).toEqual(
        isInvalid(at) ? [[`o${at}`, "email"]] : [],
      );
    }
    const stored = numbers.filter((at) => !isInvalid(at)).map((at) => `o${at}`);
    expect(await listOrderIds(account)).toEqual(stored.toSorted());
    const { mails } = await account.service.emails.list({ count: 100 });
    expect(new Set(mails.map(({ order_id }) => order_id))).toEqual(new Set(stored));
  });

  it("with the same order ID become one order with one email and all products", async () => {
    const account = await harness().newAccount();
    const products = (at: number) => ({ [`p${at}`]: anOrderedProduct({ price: "5" }), teapot: anOrderedProduct() });
    const shared = (at: number) => order(1, { products: products(at) });
    await Promise.all([...numbers, ...numbers].map((at) => account.service.orders.create(shared(at))));
    const { purchases, total_purchases } = await account.service.orders.list({ count: 100 });
    expect([new Set(purchases.map(({ order_id }) => order_id)), total_purchases]).toEqual([new Set(["o1"]), 25]);
    expect(new Set(purchases.map(({ product_sku }) => product_sku)).size).toBe(25);
    expect((await account.service.emails.list({})).mails).toHaveLength(1);
  });

  it("do not fail together with one of them", async () => {
    const account = await harness().newAccount();
    await withUnique("orders", "email", harness(), async () => {
      const email = "same@mail.example";
      const results = await Promise.allSettled(
        numbers.map((at) => account.service.orders.create(order(at, at === 7 || at === 15 ? { email } : {}))),
      );
      const failed = results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []));
      expect([[7], [15]]).toContainEqual(failed);
      const stored = numbers.filter((at) => at !== failed[0]).map((at) => `o${at}`);
      expect(await listOrderIds(account)).toEqual(stored.toSorted());
    });
  });

  it("do not fail together with one whose idempotency key belongs to another input", async () => {
    const account = await harness().newAccount();
    const create = (at: number, key: string) => account.service.orders.create(order(at), { idempotencyKey: key });
    await create(100, "key 7");
    const results = await Promise.allSettled(numbers.map((at) => create(at, `key ${at}`)));
    expect(results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []))).toEqual([7]);
    expect(results[7]).toMatchObject({ reason: { kind: "invalidIdempotencyKey" } });
    expect(await listOrderIds(account)).toHaveLength(numbers.length);
  });
});

describeIsolated("simultaneous calls that save products", (harness) => {
  it("each return their own errors", async () => {
    const { service } = await harness().newAccount();
    const create = (at: number) => {
      const [id, fields] = at % 4 === 3 ? [`p ${at}`, {}] : [`p${at}`, { name: `Pot ${at}` }];
      return service.products.massCreate({ products: { [id]: aProduct(fields) } });
    };
    const created = await Promise.all(numbers.map(create));
    expect(created.flatMap(({ errors }, at) => (errors ? [at] : []))).toEqual(numbers.filter((at) => at % 4 === 3));
    const updated = await Promise.all(
      numbers.map((at) => service.products.massUpdate({ products: { [`p${at}`]: { price: `${at}` } } })),
    );
    expect(updated.map(({ errors }) => errors?.["0"]?.product_id)).toEqual(
      numbers.map((at) => (at % 4 === 3 ? `p${at}` : undefined)),
    );
    const { products } = await service.core.listProducts({});
    const stored = products.map(({ external_id, name, price }) => [external_id, name, price]);
    const expected = numbers.filter((at) => at % 4 !== 3).map((at) => [`p${at}`, `Pot ${at}`, `${at}`]);
    expect(new Set(stored)).toEqual(new Set(expected));
  });

  it("report a SKU that another of them takes", async () => {
    const { service } = await harness().newAccount();
    const specs = { external_sku: "x" };
    const results = await Promise.all(
      numbers.map((at) => service.products.massCreate({ products: { [`p${at}`]: aProduct(at < 3 ? { specs } : {}) } })),
    );
    const reported = results.filter(({ errors }) => errors?.["0"]?.field === "specs.external_sku");
    expect(reported).toHaveLength(2);
    const { products } = await service.core.listProducts({ details: true });
    expect([products.length, products.filter(({ external_sku }) => external_sku === "x").length]).toEqual([24, 1]);
  });
});

describeIsolated("simultaneous unsubscriptions", (harness) => {
  it("each return the records of their own addresses", async () => {
    const { service } = await harness().newAccount();
    const emailsOf = (at: number) => [`Person${at % 12}@mail.example`, `own${at}@mail.example`, "none"];
    const results = await Promise.all(
      numbers.map((at) =>
        service.unsubscribers.massCreate({ email_list: { "1": emailsOf(at), x: [] }, details: true }),
      ),
    );
    for (const [at, { unsubscribers = [], outcomes = [] }] of results.entries()) {
      expect(unsubscribers.map(({ user_email }) => user_email).toSorted()).toEqual(emailsOf(at).slice(0, 2).toSorted());
      expect(outcomes.filter(({ outcome }) => outcome === "dropped")).toHaveLength(1);
    }
    expect((await service.unsubscribers.list({})).unsubscribers).toHaveLength(36);
  });

  it("do not fail together with one of them", async () => {
    const { service } = await harness().newAccount();
    await withUnique("unsubscribers", "email_key", harness(), async () => {
      const create = (at: number) =>
        service.unsubscribers.massCreate({
          email_list: {
            [at === 7 ? "2" : "1"]: [at === 7 || at === 15 ? "same@mail.example" : `own${at}@mail.example`],
          },
        });
      const results = await Promise.allSettled(numbers.map(create));
      const failed = results.flatMap(({ status }, at) => (status === "rejected" ? [at] : []));
      expect([[7], [15]]).toContainEqual(failed);
      expect((await service.unsubscribers.list({})).unsubscribers).toHaveLength(23);
    });
  });
});
