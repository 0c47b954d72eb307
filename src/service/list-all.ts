import { endpointOf, type Listing, type OperationName } from "../contract/index.ts";
import { callOf, type Service } from "./service.ts";
import type { CallOptions } from "./transport.ts";

export type ListedRecord = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, unknown>>;
type Ask = (input: Fields) => Promise<Fields>;

interface Listed {
  readonly listing: Listing;
  readonly input: Fields;
  /** Elements that are wanted; all where absent. */
  readonly limit: number | undefined;
  readonly ask: Ask;
}

/**
 * The elements of a list call to its end, page by page, as the contract's `listing` says.
 * Assumed: where the input names a page by itself (`page`, `start`, `page_info`), that page alone is meant. A list that
 * begins with the newest is read from the oldest on, unless no more are wanted than one page has.
 * @param limit elements at most
 * @throws ServiceError
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

/** The elements of any list to its end, however its pages are asked for. */
export async function* readList(
  listed: Listed,
  options: CallOptions = {},
): AsyncGenerator<readonly ListedRecord[]> {
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
  const isOnePage =
    by === undefined || (by !== "since_id" && input[by] !== undefined) || isNamed(input, "page");
  if (isOnePage) return readOnePage(listed);
  const room = size ? (numberIn(input[size.field]) ?? size.max) : undefined;
  const count = size && room !== undefined ? { [size.field]: Math.min(room, limit ?? room) } : {};
  const paged = { ...listed, input: { ...input, ...count } };
  if (by === "page") return readNumbered(paged);
  if (by === "start") return readByStart(paged);
  if (by === "page_info") return readByCursor(paged);
  const isLatest = listing.isNewestFirst && !isNamed(input, "since_id") && (limit ?? Infinity) <= (room ?? 0);
  return isLatest ? readOnePage(paged) : readBySinceId(paged);
}

const isNamed = (input: Fields, field: string) => input[field] !== undefined;

function numberIn(value: unknown): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

async function* readOnePage({ listing, input, ask }: Listed) {
  yield elementsOf(await ask(input), listing);
}

/** Assumed: behind the last page comes an empty one, or the last again. */
async function* readNumbered({ listing, input, ask }: Listed) {
  let before = new Set<string>();
  for (let page = 1; ; page++) {
    const found = elementsOf(await ask({ ...input, page }), listing);
    const keys = found.map((element) => JSON.stringify(element));
    const fresh = found.filter((_element, at) => !before.has(keys[at] ?? ""));
    if (fresh.length === 0) return;
    yield fresh;
    before = new Set(keys);
  }
}

async function* readByStart({ listing, input, ask }: Listed) {
  for (let start = 0; ;) {
    const found = elementsOf(await ask({ ...input, start }), listing);
    if (found.length === 0) return;
    yield found;
    start += found.length;
  }
}

/** Assumed: an empty cursor, like none, says that the page is the last. */
async function* readByCursor({ listing, input, ask }: Listed) {
  for (let cursor: Fields | undefined = {}; cursor;) {
    const answer: Fields = await ask({ ...input, ...cursor });
    yield elementsOf(answer, listing);
    const { next_page_info: next } = (answer["pagination"] ?? {}) as { readonly next_page_info?: unknown };
    cursor = typeof next === "string" && next !== "" ? { page_info: next } : undefined;
  }
}

/** Assumed: whether a list begins at `since_id` itself or behind it differs between services: what comes twice is dropped. */
async function* readBySinceId({ listing, input, ask }: Listed) {
  const isFromOldest = listing.isNewestFirst && !isNamed(input, "since_id");
  let since: Fields = isFromOldest ? { since_id: 0 } : {};
  for (let lastId = numberIn(input["since_id"]) ?? 0; ;) {
    const found = elementsOf(await ask({ ...input, ...since }), listing);
    const fresh = found.filter((element) => idOf(element) > lastId);
    if (fresh.length === 0) return;
    yield fresh;
    lastId = Math.max(...fresh.map(idOf));
    since = { since_id: lastId };
  }
}

function idOf(element: ListedRecord): number {
  return Number(element["id"]);
}

function elementsOf(answer: Fields, { items }: Listing): readonly ListedRecord[] {
  const found = answer[items];
  return Array.isArray(found) ? (found as ListedRecord[]) : [];
}
