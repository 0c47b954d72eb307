import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NotNewError } from "../../../../src/engine/orders/new-orders.ts";
import { newOrdersOf, ShortFormReader, ShortFormWriter } from "../../../../src/engine/orders/short-form.ts";
import { readRows } from "../../../support/account-rows.ts";
import { describeEngine, type TestAccount } from "../../../support/backends.ts";
import { anOrder, anOrderedProduct } from "../../../support/builders.ts";
import { countRuns } from "../../../support/suite-size.ts";

type Input = Parameters<ShortFormWriter["write"]>[0];

const call = (orders: readonly object[], fields: Partial<Input> = {}): Input => ({
  platform: "general",
  validate_data: true,
  send_mail: false,
  details: true,
  orders: orders as Input["orders"],
  ...fields,
});

const pot = anOrderedProduct({ name: "Pot", price: 3 });

const anyPrice = fc.constantFrom(undefined, null, "", "1.50", 2, "007.10");
const anyText = fc.constantFrom(undefined, null, "", 'a "quote"', "tëxt 👍");
/** Some products are frozen, and then shared by orders, as an import does. */
const products = fc.array(
  fc
    .record({
      name: fc.constantFrom("Pot", "Pan"),
      url: fc.constant("https://shop.example/pot"),
      image: fc.constantFrom("", "https://shop.example/pot.png"),
      description: anyText,
      price: anyPrice,
      product_tags: anyText,
      quantity: fc.constantFrom(undefined, 1, 3),
      unit_prices: fc.constantFrom(undefined, ["1", null], []),
      specs: fc.constantFrom(undefined, null, { upc: "1", sku: "a" }),
    })
    .chain((product) => fc.constantFrom(product, Object.freeze(product))),
  { minLength: 1, maxLength: 4 },
);

const calls = products.chain((list) =>
  fc.array(
    fc.array(
      fc.record({
        order_date: fc.constantFrom("2026-03-01", "2015-12-31"),
        currency_iso: fc.constantFrom(undefined, null, "EUR", "USD"),
        user_reference: anyText,
        email: fc.constantFrom("ann@mail.example", "BEA@mail.example"),
        customer_name: fc.constantFrom("Ann", "Béa"),
        products: fc.dictionary(fc.constantFrom("a", "b", "c-1"), fc.constantFrom(...list), { minKeys: 1 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    { minLength: 1, maxLength: 3 },
  ),
);

describeEngine("orders in the short form", (harness) => {
  const massCreate = (input: unknown, { caller }: TestAccount, idempotencyKey?: string) =>
    harness().transport.call("orders.massCreate", input as never, caller, {
      idempotencyKey,
      engine: { isChecked: true, inputText: idempotencyKey },
    });

  it("are stored as complete orders are", async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(calls, fc.constantFrom("general", "shopify"), async (batches, platform) => {
        const short = await harness().newAccount();
        const shortId = await harness().newestAccountId();
        const complete = await harness().newAccount();
        const completeId = await harness().newestAccountId();
        const [writer, reader] = [new ShortFormWriter(), new ShortFormReader()];
        for (const orders of batches) {
          const input = call(
            orders.map((order) => Object.assign({}, order, { order_id: `${++number}` })),
            { platform: platform as Input["platform"] },
          );
          const form = writer.write(input) ?? expect.unreachable();
          const answer = await massCreate(reader.read(structuredClone(form)), short);
          const { uuid: _, ...expected } = await massCreate(input, complete);
          expect(answer).toMatchObject(expected);
        }
        expect(await readRows(shortId, harness())).toEqual(await readRows(completeId, harness()));
      }),
      { numRuns: countRuns(40) },
    );
  });

  it("are refused completely if one is stored already, and so are all that follow", async () => {
    const account = await harness().newAccount();
    const id = await harness().newestAccountId();
    const [writer, reader] = [new ShortFormWriter(), new ShortFormReader()];
    const send = (...ids: readonly string[]) => {
      const form = writer.write(call(ids.map((order_id) => anOrder({ order_id, products: { pot } }))));
      return massCreate(reader.read(form ?? expect.unreachable()), account);
    };
    await send("1", "2");
    const before = await readRows(id, harness());
    await expect(send("3", "2")).rejects.toThrow(NotNewError);
    await expect(send("4")).rejects.toThrow(NotNewError);
    expect(await readRows(id, harness())).toEqual(before);
  });

  it("are refused if a call names an order twice", async () => {
    const account = await harness().newAccount();
    const form = new ShortFormWriter().write(call([anOrder({ products: { pot } }), anOrder({ products: { pot } })]));
    const input = new ShortFormReader().read(form ?? expect.unreachable());
    await expect(massCreate(input, account)).rejects.toThrow(NotNewError);
  });

  it("are stored once under an idempotency key, also if they are repeated completely", async () => {
    const account = await harness().newAccount();
    const input = call([anOrder({ products: { pot } })]);
    const send = async () => {
      const form = new ShortFormWriter().write(input) ?? expect.unreachable();
      return massCreate(new ShortFormReader().read(form), account, "key");
    };
    const first = await send();
    expect(await send()).toEqual(first);
    expect(await massCreate(input, account, "key")).toEqual(first);
  });
});

describe("the short form", () => {
  it.each<[string, object, Partial<Input>]>([
    ["an order without a date", anOrder({ order_date: undefined }), {}],
    ["an order without products", anOrder({ products: {} }), {}],
    ["an invalid product ID", anOrder({ products: { "a b": pot } }), {}],
    ["a missing image in a validated call", anOrder({ products: { pot: { ...pot, image: undefined } } }), {}],
    ["an invalid spec", anOrder({ products: { pot: { ...pot, specs: { upc: "a b" } } } }), {}],
    ["a SKU that must be unique", anOrder({ products: { pot: { ...pot, specs: { external_sku: "x" } } } }), {}],
    ["too many units in an order", anOrder({ products: manyProducts(6, 1_000) }), {}],
    ["too many products in an order", anOrder({ products: manyProducts(1_001, 1) }), {}],
    ["a call with emails", anOrder({ products: { pot } }), { send_mail: true }],
    ["a call with emails by default", anOrder({ products: { pot } }), { send_mail: undefined }],
    ["a call without details", anOrder({ products: { pot } }), { details: undefined }],
  ])("does not exist for %s", (_, order, fields) => {
    expect(new ShortFormWriter().write(call([anOrder({ order_id: "0", products: { pot } }), order], fields))).toBe(
      undefined,
    );
  });

  it("does not exist for too many units in a call", () => {
    const orders = [1, 2, 3].map((n) => anOrder({ order_id: `${n}`, products: manyProducts(4, 1_000) }));
    expect(new ShortFormWriter().write(call(orders.slice(0, 2)))).toBeDefined();
    expect(new ShortFormWriter().write(call(orders))).toBeUndefined();
  });

  it("contains the row of a frozen product once, unless its currency differs", () => {
    const frozen = Object.freeze({ ...pot });
    const [writer, reader] = [new ShortFormWriter(), new ShortFormReader()];
    const write = (order_id: string, fields: object) =>
      writer.write(call([anOrder({ order_id, products: { pot: frozen }, ...fields })])) ?? expect.unreachable();
    const forms = [write("1", {}), write("2", {}), write("3", { currency_iso: "EUR" }), write("4", {})];
    const rowsOf = (text: string) => (JSON.parse(text) as readonly unknown[]).length;
    expect(forms.map(({ remembered, rows }) => [rowsOf(remembered), rowsOf(rows)])).toEqual([
      [1, 0],
      [0, 0],
      [0, 1],
      [0, 0],
    ]);
    const currencies = forms.map((form) => newOrdersOf(reader.read(form))?.products[0]?.[5]);
    expect(currencies).toEqual([null, null, "EUR", null]);
  });

  it("does not remember rows of a call that has none", () => {
    const frozen = Object.freeze({ ...pot });
    const writer = new ShortFormWriter();
    const invalid = anOrder({ order_id: "2", order_date: undefined });
    expect(writer.write(call([anOrder({ products: { pot: frozen } }), invalid]))).toBeUndefined();
    const form = writer.write(call([anOrder({ products: { pot: frozen } })])) ?? expect.unreachable();
    expect(newOrdersOf(new ShortFormReader().read(form))?.products[0]?.slice(0, 2)).toEqual(["pot", "Pot"]);
  });
});

function manyProducts(count: number, quantity: number): Record<string, object> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, { ...pot, quantity }]));
}
