import { expect, test } from "vitest";
import type { OperationName } from "../../../src/contract/index.ts";
import { listAll, listProducts, listPurchases, listUnsubscribers } from "../../../src/service/listings.ts";
import type { Service } from "../../../src/service/service.ts";

/** Services end lists in different ways. None of them may lose a record or cause an endless loop. */
const people = Array.from({ length: 12 }, (_, at) => ({
  id: at + 1,
  user_email: `p${at}@shop.example`,
  email_type_id: 1,
  unsubscirbed_by_name: "MODERATOR",
}));

async function take<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) {
    all.push(...page);
    if (all.length > 100) throw new Error("the list has no end");
  }
  return all;
}

const mailing = (list: (page: number) => typeof people) =>
  ({
    unsubscribers: { list: async ({ page }: { page: number }) => ({ unsubscribers: list(page) }) },
  }) as unknown as Service;

test("people are listed completely if a service returns smaller pages than requested", async () => {
  const service = mailing((page) => people.slice((page - 1) * 5, page * 5));
  expect(await take(listUnsubscribers(service))).toEqual(people);
});

test("people are listed once if a service ignores page numbers", async () => {
  expect(await take(listUnsubscribers(mailing(() => people)))).toEqual(people);
});

test("products end at an empty cursor", async () => {
  for (const end of [null, ""]) {
    const cursors = ["next", end];
    const service = {
      core: {
        listProducts: async () => ({
          products: [{ external_id: String(cursors.length) }],
          pagination: { next_page_info: cursors.shift() },
        }),
      },
    } as unknown as Service;
    expect(await take(listProducts(service, {}))).toHaveLength(2);
  }
});

test("purchases are listed once, whether a page includes the last ID or starts after it, for any page size", async () => {
  const ids = [1, 2, 3, 5, 8, 13, 21];
  for (const begins of ["at", "behind"]) {
    const service = {
      orders: {
        list: async ({ since_id = 0 }: { since_id?: number }) => {
          const rest = ids.filter((id) => (begins === "at" ? id >= since_id : id > since_id));
          return { purchases: rest.slice(0, 3).map((id) => ({ id })), total_purchases: rest.length };
        },
      },
    } as unknown as Service;
    expect((await take(listPurchases(service))).map(({ id }) => id)).toEqual(ids);
  }
});

/** Creates a service that answers one call; a large number of calls means an endless loop. */
function answering(operation: OperationName, answer: object): Service {
  const [group = "", verb = ""] = operation.split(".");
  let calls = 0;
  const call = async () => {
    calls += 1;
    if (calls > 20) throw new Error("the list has no end");
    return answer;
  };
  return { [group]: { [verb]: call } } as unknown as Service;
}

test("missed products are listed once if a service ignores positions", async () => {
  const missed = [{ id: 1 }, { id: 2 }];
  const service = answering("products.missed", { missed_products: missed });
  expect(await take(listAll(service, "products.missed", { input: {} }))).toEqual(missed);
});

test("a cursor that refers to its own page is an error, not an endless list", async () => {
  const service = answering("core.listProducts", { products: [], pagination: { next_page_info: "same" } });
  await expect(take(listAll(service, "core.listProducts", { input: {} }))).rejects.toMatchObject({
    kind: "unexpectedAnswer",
    message: expect.stringContaining("products") as unknown,
  });
});

test("a response without the list, or with elements without an ID, is an error, not an empty list", async () => {
  for (const answer of [{}, { purchases: null }, { purchases: [null] }, { purchases: [{ name: "none" }] }]) {
    const pages = listAll(answering("orders.list", answer), "orders.list", { input: {} });
    await expect(take(pages)).rejects.toMatchObject({ kind: "unexpectedAnswer" });
  }
});

test("a page with more elements than a function call can take arguments is listed completely", async () => {
  const purchases = Array.from({ length: 200_000 }, (_, at) => ({ id: at + 1 }));
  const service = answering("orders.list", { purchases });
  let count = 0;
  for await (const page of listAll(service, "orders.list", { input: {} })) count += page.length;
  expect(count).toBe(purchases.length);
});
