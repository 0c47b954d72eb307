import { describe, expect, it } from "vitest";
import { maxQuantity, orderProduct } from "../../../../src/contract/index.ts";
import { engines } from "../../../support/backends.ts";
import { anOrder, anOrderedProduct, bulkOrders } from "../../../support/builders.ts";

describe.each(engines)("orders over $name", ({ open }) => {
  it("limits the units of a product even if the caller has validated the order", async () => {
    const harness = await open();
    try {
      const { caller, service } = await harness.newAccount();
      const products = { cup: anOrderedProduct({ quantity: maxQuantity + 1 }) };
      const input = bulkOrders([anOrder({ products })]);
      await harness.transport.call("orders.massCreate", input, caller, { engine: { inputStage: "checked" } });
      expect((await service.orders.list({})).total_purchases).toBe(1_000);
    } finally {
      await harness.close();
    }
  });
});

it.each([-1, 0.5, 1e9, "2", Number.NaN])("reports the invalid quantity %s once", (quantity) => {
  const { error } = orderProduct().safeParse(anOrderedProduct({ quantity }));
  expect(error?.issues.map(({ path, message }) => [path, message.includes(String(maxQuantity))])).toEqual([
    [["quantity"], true],
  ]);
});
