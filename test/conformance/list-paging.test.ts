import { expect, it } from "vitest";
import type { OperationName } from "../../src/contract/index.ts";
import { listAll, listReviews, listUnsubscribers } from "../../src/service/listings.ts";
import type { Service } from "../../src/service/service.ts";
import { describeIsolated, type TestAccount } from "../support/backends.ts";
import { anOrder, aReview, bulkOrders } from "../support/builders.ts";
import { chooseSize, isSlowSuite } from "../support/suite-size.ts";

const records = chooseSize(150, 5_000);
/** A writer with 50 changes per second, and pages that take 160 ms. */
const [updatesPerPage, removalsPerPage] = [5, 3];
const seed = 7;

type Records = AsyncIterable<readonly object[]>;

interface PagedList {
  readonly name: string;
  readonly keyOf: (record: object) => string;
  readonly read: (service: Service, size: number) => Records;
}

const field = (name: string) => (record: object) => String((record as Readonly<Record<string, unknown>>)[name]);

const list = (operation: OperationName, input: object, size: string, key: string): PagedList => ({
  name: `${operation} ${JSON.stringify(input)}`,
  keyOf: field(key),
  read: (service, most) => listAll(service, operation, { input: { ...input, [size]: most } }),
});

/** Every list in which records change or disappear while its pages are read. */
const lists: readonly PagedList[] = [
  list("reviews.list", {}, "count", "id"),
  list("reviews.list", { since_updated_at: "2026-01-01" }, "count", "id"),
  list("reviews.list", { since_date: "2026-01-01" }, "count", "id"),
  list("reviews.listByUser", {}, "count", "id"),
  list("reviews.search", {}, "limit", "id"),
  list("reviews.widget", { product_id: "teapot" }, "per_page", "id"),
  list("unsubscribers.list", {}, "count", "id"),
  list("unsubscribers.search", {}, "limit", "id"),
  list("orders.list", {}, "count", "id"),
  list("core.listProducts", {}, "limit", "external_id"),
  { name: "the export of reviews", keyOf: field("id"), read: (service) => listReviews(service) },
  { name: "the export of unsubscribers", keyOf: field("id"), read: (service) => listUnsubscribers(service) },
];

/** Small numbers in an order that only looks random. */
function createRandom(): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
}

/** Records of a test, of which a writer changes and removes some. */
interface Shop {
  readonly reviews: number[];
  readonly addresses: string[];
}

async function fill({ service }: TestAccount): Promise<Shop> {
  const past = { created_at: "2026-02-01T00:00:00Z" };
  const reviews: number[] = [];
  for (let from = 0; from < records; from += 50) {
    const made = await Promise.all(
      Array.from({ length: Math.min(50, records - from) }, (_, at) =>
        service.reviews.createNow(aReview({ email: `r${from + at}@mail.example`, past })),
      ),
    );
    reviews.push(...made.map(({ reviews: [review] }) => review?.id ?? 0));
  }
  const addresses = Array.from({ length: records }, (_, at) => `u${at}@mail.example`);
  for (let from = 0; from < records; from += 5_000)
    await service.unsubscribers.massCreate({ email_list: { 1: addresses.slice(from, from + 5_000) } });
  const orders = Array.from({ length: records }, (_, at) =>
    anOrder({ order_id: `o${at}`, products: { [`p${at}`]: { name: "P", url: "https://shop.example/p", image: "" } } }),
  );
  for (let from = 0; from < records; from += 1_000)
    await service.orders.massCreate(bulkOrders(orders.slice(from, from + 1_000)));
  return { reviews, addresses };
}

describeIsolated("every list", (harness) => {
  it.each(isSlowSuite ? [20, 50, 100] : [20])(
    "contains each record that exists while its pages of %i are read",
    async (size) => {
      const account = await harness().newAccount();
      const { service } = account;
      const shop = await fill(account);
      const random = createRandom();
      const gone = new Set<string>();
      const change = async (): Promise<void> => {
        harness().clock.advance(1_000);
        for (let at = 0; at < updatesPerPage; at++) {
          const review_id = shop.reviews[random(shop.reviews.length)] ?? 0;
          if (!gone.has(`review ${review_id}`)) await service.reviews.comment({ review_id, content: `Thanks ${at}` });
          const id = `p${random(records)}`;
          await service.products.massUpdate({ products: { [id]: { name: `P ${random(1_000)}` } } });
        }
        for (let at = 0; at < removalsPerPage; at++) {
          // Mostly early ones, which move all others.
          const index = random(2) === 0 ? random(size) : random(shop.reviews.length);
          const review_id = shop.reviews[index] ?? 0;
          const [address = ""] = [shop.addresses[index]];
          if (gone.has(`review ${review_id}`)) continue;
          gone.add(`review ${review_id}`).add(address);
          await service.reviews.setPublished({ review_id, published: false, reason: "hidden" });
          await service.unsubscribers.massDelete({ email_list: { 1: [address] } });
        }
      };
      for (const { name, keyOf, read } of lists) {
        const collect = async (each: () => Promise<void>) => {
          const found = new Set<string>();
          for await (const page of read(service, size)) {
            for (const record of page) found.add(keyOf(record));
            await each();
          }
          return found;
        };
        const found = await collect(change);
        // What is listed afterward existed all the time.
        const missed = [...(await collect(async () => {}))].filter((key) => !found.has(key));
        expect(missed, name).toEqual([]);
      }
    },
    chooseSize(60_000, 1_800_000),
  );
});
