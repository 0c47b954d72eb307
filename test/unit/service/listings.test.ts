import { expect, test } from "vitest";
import type { OperationName } from "../../../src/contract/index.ts";
import { listAll } from "../../../src/service/list-all.ts";
import { listProducts, listPurchases, listUnsubscribers } from "../../../src/service/listings.ts";
import type { Service } from "../../../src/service/service.ts";

/** Services elsewhere differ in how they end a list: none of these may lose a record, or go on for ever. */
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

test("people come from all pages of a service that gives fewer than were asked for", async () => {
  const service = mailing((page) => people.slice((page - 1) * 5, page * 5));
  expect(await take(listUnsubscribers(service))).toEqual(people);
});

test("people come once from a service that knows no pages", async () => {
  expect(await take(listUnsubscribers(mailing(() => people)))).toEqual(people);
});

test("products end where the cursor is empty", async () => {
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

test("purchases come once, whether a page begins at the last one or behind it, and however few it has", async () => {
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

/** A service that answers one call, however often it is made; many times is for ever. */
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

test("missed products come once from a service that knows no positions", async () => {
  const missed = [{ id: 1 }, { id: 2 }];
  const service = answering("products.missed", { missed_products: missed });
  expect(await take(listAll(service, "products.missed", { input: {} }))).toEqual(missed);
});

test("a cursor that leads to its own page is an error, and no list without an end", async () => {
  const service = answering("core.listProducts", { products: [], pagination: { next_page_info: "same" } });
  await expect(take(listAll(service, "core.listProducts", { input: {} }))).rejects.toMatchObject({
    kind: "unexpectedAnswer",
    message: expect.stringContaining("same page again") as string,
  });
});

test("an answer without the list, or with what has no id, is an error, and no empty list", async () => {
  for (const answer of [{}, { purchases: null }, { purchases: [null] }, { purchases: [{ name: "none" }] }]) {
    const pages = listAll(answering("orders.list", answer), "orders.list", { input: {} });
    await expect(take(pages)).rejects.toMatchObject({ kind: "unexpectedAnswer" });
  }
});

test("a page of more elements than a call takes arguments is listed whole", async () => {
  const purchases = Array.from({ length: 200_000 }, (_, at) => ({ id: at + 1 }));
  const service = answering("orders.list", { purchases });
  let count = 0;
  for await (const page of listAll(service, "orders.list", { input: {} })) count += page.length;
  expect(count).toBe(purchases.length);
});
