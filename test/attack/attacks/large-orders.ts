import type { Attack } from "../attack.ts";

interface Size {
  readonly orders: number;
  readonly products: number;
  readonly quantity: number;
}

function createOrders({ orders, products, quantity }: Size) {
  const product = { name: "Pot", url: "https://shop.example/pot", image: "https://shop.example/pot.jpg", quantity };
  const lines = Object.fromEntries(Array.from({ length: products }, (_, n) => [`large-${n}`, product]));
  return Array.from({ length: orders }, (_, n) => ({
    email: "ann@mail.example",
    customer_name: "Ann",
    order_id: `large-${quantity}-${products}-${n}`,
    order_date: "2026-03-15",
    products: lines,
  }));
}

/** Sends orders in one call. The service may refuse them. */
function sendOrders(name: string, size: Size, isRegular = false): Attack {
  return {
    name,
    run: async ({ send, account: { appKey, utoken } }) => {
      const body = { utoken, platform: "general", validate_data: true, orders: createOrders(size) };
      const refused = { status: 413, text: "" };
      const path = `/apps/${appKey}/purchases/mass_create`;
      // The server may close the connection before it has received a large body.
      const { status, text } = await send("POST", path, body).catch(() => refused);
      const isStored = status === 200 && !text.includes("errors");
      return { result: isStored ? "stored" : `refused with ${status}`, held: isStored === isRegular };
    },
  };
}

export const millionsOfUnits = sendOrders("Orders of 5 million units", { orders: 10, products: 500, quantity: 1_000 });
export const manyLines = sendOrders("200 orders of 500 products", { orders: 200, products: 500, quantity: 1 });
export const manyOrders = sendOrders("50,000 orders", { orders: 50_000, products: 1, quantity: 1 });
export const regularOrders = sendOrders("200 regular orders", { orders: 200, products: 5, quantity: 2 }, true);
