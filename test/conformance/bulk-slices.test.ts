import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { operations } from "../../src/contract/index.ts";
import type { Service } from "../../src/service/service.ts";
import { engines, type Harness } from "../support/backends.ts";
import { anOrder, anOrderedProduct, aProduct, bulkOrders } from "../support/builders.ts";

const size = 200;

const numbers = Array.from({ length: size }, (_, nth) => nth);
const keyed = <V>(value: V) => Object.fromEntries(numbers.map((nth) => [`p${nth}`, value]));
const email_list = { 1: numbers.map((nth) => `a${nth}@mail.example`) };
const orders = numbers.map((nth) => anOrder({ order_id: `o${nth}` }));
const invalid = anOrderedProduct({ image: 0 });

const calls: Readonly<Record<string, (service: Service) => Promise<unknown>>> = {
  "orders.massCreate": ({ orders: { massCreate } }) => massCreate(bulkOrders(orders)),
  "orders.massCreate of one order": ({ orders: { massCreate } }) =>
    massCreate(bulkOrders([anOrder({ products: keyed(invalid) })])),
  "products.massCreate": ({ products: { massCreate } }) => massCreate({ products: keyed(aProduct()) }),
  "products.massUpdate": ({ products: { massUpdate } }) => massUpdate({ products: keyed(aProduct()) }),
  "unsubscribers.massCreate": ({ unsubscribers: { massCreate } }) => massCreate({ email_list }),
  "unsubscribers.massDelete": ({ unsubscribers: { massDelete } }) => massDelete({ email_list }),
};

it("every bulk call is tested", () => {
  // As many coupon codes as a call may have are checked in less than 1 ms.
  const bulk = [...operations].flatMap(([name, { batch }]) => (batch && name !== "coupons.upload" ? [name] : []));
  expect(Object.keys(calls)).toEqual(expect.arrayContaining(bulk));
});

describe.each(engines)("$name: a bulk call lets others run", ({ open }) => {
  let harness: Harness;
  let [reads, readsInTurn, mostReadsInTurn] = [0, 0, 0];
  let timer: NodeJS.Immediate;

  beforeEach(async () => {
    harness = await open();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    clearImmediate(timer);
    await harness.close();
  });

  /** Each time that the clock is read, which each element does, it is 1 ms later. */
  function slowDown(): void {
    const nextTurn = () => {
      readsInTurn = 0;
      timer = setImmediate(nextTurn);
    };
    nextTurn();
    [reads, mostReadsInTurn] = [0, 0];
    const startMs = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => {
      reads += 1;
      readsInTurn += 1;
      mostReadsInTurn = Math.max(mostReadsInTurn, readsInTurn);
      return startMs + reads;
    });
  }

  it.each(Object.entries(calls))("%s", async (_name, call) => {
    const { service } = await harness.newAccount();
    slowDown();
    await call(service);
    expect(reads).toBeGreaterThan(size);
    expect(mostReadsInTurn).toBeLessThan(20);
  });
});
