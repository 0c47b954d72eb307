import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orderHead, orderProduct } from "../../../../src/contract/index.ts";
import { checkOrder } from "../../../../src/engine/orders/order-check.ts";
import { runInSlices } from "../../../../src/storage/loop-turn.ts";
import { toOrderedProductRow } from "../../../../src/engine/products/product-row.ts";
import { countRuns } from "../../../support/suite-size.ts";

const rules = { isValidating: true, needsImage: false };

const anyText = fc.oneof(
  fc.constantFrom(undefined, null, "", "a", "\u0000", "\ud800", "https://a.example", 1, true, [], {}),
  fc.string({ maxLength: 5 }),
);
const anyPrice = fc.oneof(anyText, fc.double(), fc.constantFrom(0, -1, 12.5, 1e21, 1e-7, "12.50", ".5", "1,5"));
const anyQuantity = fc.constantFrom(undefined, null, 1, 2, 0, 1.5, "1");

const anyProduct = fc.record(
  {
    name: fc.oneof(fc.constant("Chair"), anyText),
    url: fc.oneof(fc.constant("https://a.example"), anyText),
    image: anyText,
    description: anyText,
    price: anyPrice,
    product_tags: anyText,
    specs: fc.oneof(anyText, fc.record({ sku: anyText, upc: anyText }, { requiredKeys: [] })),
    quantity: anyQuantity,
    other: anyText,
  },
  { requiredKeys: [] },
);

const sureHead = { email: "a@b", customer_name: "Ann", order_id: "1", order_date: "2026-01-02" };

describe("an order is checked as its schema does", () => {
  test("its products", async () => {
    const check = async (raw: unknown) => {
      const { items, errors } = await runInSlices(checkOrder({ ...sureHead, products: { p1: raw } }, rules));
      const parsed = orderProduct().safeParse(raw);
      if (!parsed.success) {
        expect(errors.length).toBeGreaterThan(0);
        return;
      }
      // Specs are also normalized.
      expect(errors.filter(({ field }) => !field.startsWith("products.p1.specs."))).toEqual([]);
      if (errors.length > 0) return;
      const { quantity, price } = parsed.data;
      expect(items).toEqual([
        {
          product: toOrderedProductRow("p1", parsed.data, null, () => {}),
          price: price === undefined || price === null || price === "" ? null : price,
          quantity,
          unitPrices: undefined,
        },
      ]);
    };
    await fc.assert(fc.asyncProperty(fc.oneof(anyProduct, anyText), check), { numRuns: countRuns(500) });
  });

  test("its own fields", async () => {
    const fields = ["email", "customer_name", "order_id", "order_date", "currency_iso", "user_reference"] as const;
    const values = fc.oneof(fc.constantFrom("a@b", "2026-02-28", "2026-02-30", "EUR"), anyText);
    const change = fc.record({ name: fc.constantFrom(...fields), value: values });
    const check = async ({ name, value }: { readonly name: string; readonly value: unknown }) => {
      const raw = { ...sureHead, [name]: value };
      const product = { name: "Chair", url: "https://a.example" };
      const lenient = { ...rules, isValidating: false };
      const { head, errors } = await runInSlices(checkOrder({ ...raw, products: { p1: product } }, lenient));
      const parsed = orderHead().safeParse(raw);
      const isOptional = name === "currency_iso" || name === "user_reference";
      if (!parsed.success && !isOptional) {
        expect([head, errors.length]).toEqual([undefined, parsed.error.issues.length]);
      }
      if (parsed.success) expect(head).toMatchObject(parsed.data);
      if (!parsed.success && isOptional) expect(Object.hasOwn(head ?? {}, name)).toBe(false);
    };
    await fc.assert(fc.asyncProperty(change, check), { numRuns: countRuns(500) });
  });
});
