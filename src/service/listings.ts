import { purchasePage, endpointOf, type Listing, type OperationName, ServiceError } from "../contract/index.ts";
import { type Service, callOf } from "./service.ts";
import type { CallOptions, OutputOf } from "./transport.ts";

export type ListedProduct = OutputOf<"core.listProducts">["products"][number];
export type ListedPurchase = OutputOf<"orders.list">["purchases"][number];
export type ListedReview = OutputOf<"reviews.list">["reviews"][number];
export type ListedUnsubscriber = OutputOf<"unsubscribers.list">["unsubscribers"][number];

/** Lists all products, page by page, the least recently changed first. */
export function listProducts(
  service: Pick<Service, "core">,
  query: { readonly updated_at_min?: string; readonly details?: boolean },
  options: CallOptions = {},
): AsyncGenerator<readonly ListedProduct[]> {
  return listAll(service, "core.listProducts", { input: query }, options);
}

/**
 * Lists all purchases with an ID above `afterId`, page by page, by ID.
 * Assumed: services differ in whether a list includes `since_id` itself, so duplicates are dropped. A page may have fewer
 * elements than requested, so a short page is the last only if the service's total has been reached.
 */
export async function* listPurchases(
  { orders }: Pick<Service, "orders">,
  afterId = 0,
  options: CallOptions = {},
  asked: { readonly count?: number; readonly since_date?: string; readonly details?: boolean } = {},
): AsyncGenerator<readonly ListedPurchase[]> {
  const { count = purchasePage.max } = asked;
  let [lastId, got, all] = [afterId, 0, -1];
  for (;;) {
    options.signal?.throwIfAborted();
    const query = { ...asked, count, ...(lastId > 0 && { since_id: lastId }) };
    const { purchases, total_purchases: total } = await orders.list(query, options);
    const fresh = purchases.filter(({ id }) => id > lastId);
    if (fresh.length === 0) return;
    yield fresh;
    lastId = fresh.reduce((most, { id }) => Math.max(most, id), lastId);
    got += fresh.length;
    // Only the total of the first page is used: a service may count only the remaining purchases.
    if (all < 0) all = total;
    if (purchases.length < count && got >= all) return;
  }
}

/** Lists all unsubscribers, page by page, beyond the specification's single page of 5,000. */
export function listUnsubscribers(
  service: Pick<Service, "unsubscribers">,
  options: CallOptions = {},
): AsyncGenerator<readonly ListedUnsubscriber[]> {
  return listAll(service, "unsubscribers.list", { input: {} }, options);
}

/** Lists all reviews with an ID above `afterId`, by ID, including unpublished ones. */
export function listReviews(
  service: Pick<Service, "reviews">,
  options: CallOptions = {},
  afterId = 0,
): AsyncGenerator<readonly ListedReview[]> {
  const input = { deleted: true, details: true, ...(afterId > 0 && { since_id: afterId }) };
  return listAll(service, "reviews.list", { input }, options);
}

export type ListedRecord = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, unknown>>;
type Ask = (input: Fields) => Promise<Fields>;

interface Listed {
  readonly listing: Listing;
  readonly input: Fields;
  /** The maximum number of elements (default: all). */
  readonly limit: number | undefined;
  readonly ask: Ask;
}

/**
 * Lists all elements of a list call, page by page, as the contract's `listing` describes.
 * Assumed: if the input selects a page (`page`, `start`, `page_info`), only that page is read.
 * @throws ServiceError also `unexpectedAnswer` if a response does not contain the list
 */
export async function* listAll<T extends object = ListedRecord>(
  service: Partial<Service>,
  operation: OperationName,
  { input, limit }: { readonly input: Fields; readonly limit?: number | undefined },
  options: CallOptions = {},
): AsyncGenerator<readonly T[]> {
  const { listing } = endpointOf(operation);
  if (!listing) throw new Error(`${operation} lists nothing`);
  const call = callOf(service, operation);
  const pages = readList({ listing, input, limit, ask: (asked) => call(asked, options) }, options);
  yield* pages as AsyncGenerator<readonly T[]>;
}

/** Lists all elements, whatever its kind of paging. */
export async function* readList(listed: Listed, options: CallOptions = {}): AsyncGenerator<readonly ListedRecord[]> {
  let left = listed.limit ?? Number.POSITIVE_INFINITY;
  for await (const page of readPages(listed)) {
    options.signal?.throwIfAborted();
    if (page.length > 0) yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}

function readPages(listed: Listed): AsyncIterable<readonly ListedRecord[]> {
  const { listing, input, limit } = listed;
  const { by, size } = listing;
  if (by === undefined || isOnePage(by, input)) return readOnePage(listed);
  const pageSize = size ? (numberIn(input[size.field]) ?? size.max) : undefined;
  // A page from an ID on can begin with the record of that ID, which is dropped.
  const extra = by === "since_id" ? 1 : 0;
  const most = Math.min(Math.max(pageSize ?? 0, 1 + extra), (limit ?? Infinity) + extra);
  const count = size && pageSize !== undefined ? { [size.field]: most } : {};
  const paged = { ...listed, input: { ...input, ...count } };
  if (by === "page" || by === "start") return readByPosition(paged, by);
  if (by === "page_info") return readByCursor(paged);
  return readBySinceId(paged);
}

/** Whether the input names the page to read. */
const isOnePage = (by: string, input: Fields) => (by !== "since_id" && isNamed(input, by)) || isNamed(input, "page");

const isNamed = (input: Fields, field: string) => input[field] !== undefined;

function numberIn(value: unknown): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

async function* readOnePage({ listing, input, ask }: Listed) {
  yield elementsOf(await ask(input), listing);
}

/**
 * Reads by page number or by offset. If an element is removed meanwhile, those after it move forward, the first of the
 * next page to the one that was just read. So that page is read again after the next one.
 * Assumed: the page after the last is empty, or the last page again.
 */
async function* readByPosition({ listing, input, ask }: Listed, by: "page" | "start") {
  const dropKnown = createRepeatFilter();
  const size = numberIn(input[listing.size?.field ?? ""]) ?? 0;
  const read = async (at: number) => elementsOf(await ask({ ...input, [by]: at }), listing);
  let last: { readonly at: number; readonly length: number } | undefined;
  for (let at = by === "page" ? 1 : 0; ;) {
    const found = await read(at);
    const fresh = dropKnown(found);
    // Nothing followed a page that was not full.
    const moved = last && last.length >= size ? dropKnown(await read(last.at)) : [];
    if (fresh.length + moved.length === 0) return;
    yield [...moved, ...fresh];
    last = { at, length: found.length };
    at += by === "page" ? 1 : found.length;
  }
}

/** Drops elements that were also on one of the last pages that were read. */
function createRepeatFilter() {
  let pages: readonly ReadonlySet<string>[] = [];
  return (page: readonly ListedRecord[]): readonly ListedRecord[] => {
    const keys = page.map((element) => JSON.stringify(element));
    const fresh = page.filter((_element, at) => !pages.some((known) => known.has(keys[at] ?? "")));
    pages = [...pages.slice(-pagesToCompare), new Set(keys)];
    return fresh;
  };
}

/** The next page, the one before it read twice, and the one before that. */
const pagesToCompare = 4;

/**
 * Assumed: on the last page, the cursor is empty or missing.
 * @throws ServiceError `unexpectedAnswer` if the cursor of a page points to the same page
 */
async function* readByCursor({ listing, input, ask }: Listed) {
  for (let cursor: { readonly page_info?: string } | undefined = {}; cursor;) {
    const answer: Fields = await ask({ ...input, ...cursor });
    yield elementsOf(answer, listing);
    const { next_page_info: next } = (answer["pagination"] ?? {}) as { readonly next_page_info?: unknown };
    if (typeof next !== "string" || next === "") return;
    if (next === cursor.page_info) throw unlisted(listing, "has a page whose cursor points to the same page");
    cursor = { page_info: next };
  }
}

/** Assumed: services differ in whether a list includes `since_id` itself, so duplicates are dropped. */
async function* readBySinceId({ listing, input, ask }: Listed) {
  let since: Fields = {};
  for (let lastId = numberIn(input["since_id"]) ?? 0; ;) {
    const found = elementsOf(await ask({ ...input, ...since }), listing);
    if (!found.every((element) => Number.isFinite(idOf(element))))
      throw unlisted(listing, "has an element without an ID");
    const fresh = found.filter((element) => idOf(element) > lastId);
    if (fresh.length === 0) return;
    yield fresh;
    lastId = fresh.reduce((most, element) => Math.max(most, idOf(element)), lastId);
    since = { since_id: lastId };
  }
}

function idOf(element: ListedRecord): number {
  return Number(element["id"]);
}

/** @throws ServiceError `unexpectedAnswer` if the list is missing, which is not the same as an empty list */
function elementsOf(answer: Fields, listing: Listing): readonly ListedRecord[] {
  const found = answer[listing.items];
  if (found === undefined && listing.mayBeAbsent) return [];
  if (!Array.isArray(found)) throw unlisted(listing, "is missing");
  if (found.every(isRecord)) return found;
  throw unlisted(listing, "has an element that is not an object");
}

function isRecord(element: unknown): element is ListedRecord {
  return typeof element === "object" && element !== null;
}

function unlisted({ items }: Listing, reason: string): ServiceError {
  return new ServiceError("unexpectedAnswer", `the list ${items} in the response of the service ${reason}`);
}
