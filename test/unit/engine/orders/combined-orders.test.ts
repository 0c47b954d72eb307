import { expect, it, vi } from "vitest";
import type { OperationName } from "../../../../src/contract/index.ts";
import { findOperation } from "../../../../src/engine/handlers.ts";
import type { InputOf } from "../../../../src/service/transport.ts";
import { SqliteFile } from "../../../../src/storage/sqlite/sqlite-file.ts";
import { describeEngine, type Harness } from "../../../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct } from "../../../support/builders.ts";
import { readRows } from "../../../support/account-rows.ts";

type Create = InputOf<"orders.create">;

const create = (fields: Record<string, unknown>): Create => ({ platform: "general", ...anOrder(fields) });

/** Runs an operation as the engine does for waiting calls of an account. */
async function handle(name: OperationName, inputs: readonly unknown[], accountId: number, { work, database }: Harness) {
  const { prepare = (input: unknown) => Promise.resolve(input), runMany } = await findOperation(name);
  const account = { id: accountId, appKey: "a" };
  return work.write(accountId, async (context) => {
    const prepared = await Promise.all(inputs.map((input) => prepare(input, { ...context, database })));
    return runMany(prepared, { ...context, account }, undefined);
  });
}

const pot = anOrderedProduct({ name: "Pot", price: "3" });

const orderCalls: readonly Create[] = [
  create({ order_id: "1", products: { pot, "a b": pot }, currency_iso: "EUR" }),
  create({ order_id: "2", platform: "shopify", send_mail: false, products: { pan: pot } }),
  create({ order_id: "1", customer_name: "Bea", order_date: "2026-03-02", products: { pot, pan: pot } }),
  create({ order_id: "2", platform: "magento", products: { pan: { ...pot, price: "4" }, lid: pot } }),
  create({ order_id: "1", email: "other@mail.example", validate_data: true }),
  create({ order_id: "3", email: "none", validate_data: true, order_date: undefined }),
  create({ order_id: "3", email: "none" }),
  create({ order_id: "4", products: { "c d": {} } }),
  create({ order_id: "5", products: { pot: { ...pot, name: "Big pot", quantity: 3 } } }),
  create({ order_id: "5", products: { pot: { ...pot, image: "https://shop.example/pot.png", quantity: 1 } } }),
  create({ order_id: "5", email: "ANN@mail.example", send_mail: false, products: { cup: pot } }),
];

describeEngine("calls that are handled together", (harness) => {
  const newId = async () => {
    await harness().newAccount();
    return harness().newestAccountId();
  };

  it.each(["order", "product"])("have the results of calls one after another, with one email per %s", async (per) => {
    for (const stored of [orderCalls.slice(0, 0), orderCalls.slice(0, 2)]) {
      const [together, apart] = [await newId(), await newId()];
      for (const id of [together, apart]) {
        const setting = { account_id: id, name: "one_mail_per", value: JSON.stringify(per), updated_at: 0 };
        await harness().database.db.insertInto("account_settings").values(setting).execute();
        await handle("orders.create", stored, id, harness());
      }
      const results = await handle("orders.create", orderCalls, together, harness());
      const expected: unknown[] = [];
      for (const call of orderCalls) expected.push(...(await handle("orders.create", [call], apart, harness())));
      expect(results).toEqual(expected);
      expect(expected.filter((result) => JSON.stringify(result) !== "{}")).toHaveLength(2);
      expect(await readRows(together, harness())).toEqual(await readRows(apart, harness()));
    }
  });

  it("save products as calls one after another do", async () => {
    const specs = { external_sku: "x" };
    const created = [
      { pot: aProduct({ specs, price: "1" }), "a b": aProduct() },
      { pot: aProduct({ name: "B", specs }) },
      { pan: aProduct() },
    ];
    const updated = [
      { pot: { description: "d" } },
      { pan: { price: "2" }, lid: {} },
      { pot: { description: null, price: "3" } },
    ];
    const [together, apart] = [await newId(), await newId()];
    for (const [save, lists] of [
      ["products.massCreate", created],
      ["products.massUpdate", updated],
    ] as const) {
      const calls = lists.map((products) => ({ products }));
      const results = await handle(save, calls, together, harness());
      const expected: unknown[] = [];
      for (const call of calls) expected.push(...(await handle(save, [call], apart, harness())));
      expect(results).toEqual(expected);
      expect(await readRows(together, harness())).toEqual(await readRows(apart, harness()));
    }
  });

  it("fail if one of them names a SKU of another product", async () => {
    const id = await newId();
    const specs = { external_sku: "x" };
    const products = ["pot", "pan"].map((name) => ({ products: { [name]: aProduct({ specs }) } }));
    await expect(handle("products.massCreate", products, id, harness())).rejects.toThrow("cannot be combined");
    const orders = ["pot", "pan"].map((name) => create({ order_id: name, products: { [name]: { ...pot, specs } } }));
    await expect(handle("orders.create", orders, id, harness())).rejects.toThrow("cannot be combined");
    expect((await readRows(id, harness()))["products"]).toEqual([]);
    const [result] = await handle("products.massCreate", products.slice(0, 1), id, harness());
    expect(result).toEqual({});
  });

  it("take a number of statements that does not depend on the number of calls", async () => {
    const count = async (name: OperationName, inputs: readonly unknown[]) => {
      const id = await newId();
      const ran = [vi.spyOn(SqliteFile.prototype, "run"), vi.spyOn(SqliteFile.prototype, "all")];
      try {
        await handle(name, inputs, id, harness());
        return ran.flatMap(({ mock }) => mock.calls).length;
      } finally {
        vi.restoreAllMocks();
      }
    };
    const list = <Input>(length: number, call: (at: number) => Input) => Array.from({ length }, (_, at) => call(at));
    const anyOrder = (at: number) => create({ order_id: `${at}`, products: { [`p${at}`]: pot, pot } });
    const someProducts = (at: number) => ({ products: { [`p${at}`]: aProduct() } });
    const anAddress = (at: number) => ({ email_list: { "1": [`a${at}@mail.example`] } });
    const counts = [
      [await count("orders.create", list(2, anyOrder)), await count("orders.create", list(50, anyOrder))],
      [
        await count("products.massCreate", list(2, someProducts)),
        await count("products.massCreate", list(50, someProducts)),
      ],
      [
        await count("unsubscribers.massCreate", list(2, anAddress)),
        await count("unsubscribers.massCreate", list(50, anAddress)),
      ],
    ];
    for (const [few, many] of counts) expect(many).toBe(few);
  });

  it("are those that wait at the same time", async () => {
    const { service } = await harness().newAccount();
    const ran = vi.spyOn(SqliteFile.prototype, "run");
    try {
      await Promise.all(Array.from({ length: 24 }, (_, at) => service.orders.create(create({ order_id: `${at}` }))));
      const inserts = ran.mock.calls.filter(([text]) => text.includes("insert into orders"));
      // Calls do not wait while none is being handled.
      expect(inserts.length).toBeLessThan(4);
    } finally {
      vi.restoreAllMocks();
    }
  });
});
