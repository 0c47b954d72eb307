import { sql } from "kysely";
import type * as z from "zod";
import { type contract, emailKeyOf, type FoundCustomer, searchPage } from "../../contract/index.ts";
import { accountOf, type HandlerContext } from "../kernel/handler.ts";
import { type Course, findByPart, SearchedText } from "../kernel/lists/part-search.ts";
import { iso } from "../kernel/times.ts";

type Query = z.output<typeof contract.customers.find.input>;
interface Found extends Omit<FoundCustomer, "created_at"> {
  readonly id: number;
  readonly created_at: number;
}

/** The records by which customers are found, and the columns of each. */
const columns = {
  orders: sql`customer_name as name, order_id`,
  users: sql`display_name as name, null as order_id`,
  unsubscribers: sql`'' as name, null as order_id`,
};
export const customerTables = Object.keys(columns) as readonly (keyof typeof columns)[];

/**
 * Finds customers by part of a name, an address, or an order ID: the buyers of orders, the authors of texts, and
 * unsubscribers, the newest first.
 */
export async function findCustomers(
  { search, limit = searchPage.default }: Query,
  context: HandlerContext,
): Promise<FoundCustomer[]> {
  const count = Math.min(limit, searchPage.max);
  const searched = new SearchedText(search);
  // The newest may be spread evenly.
  const course = { direction: "down", count: Math.ceil(count / customerTables.length) } as const;
  const sources = customerTables.map((table) => new Source(findPeople({ table, searched, course }, context)));
  const people = new Map<string, Found>();
  await context.dialect.runAll(sources.map((source) => () => source.readMore()));
  while (people.size < count) {
    const [newest] = sources.filter(({ next }) => next).toSorted((a, b) => timeOf(b) - timeOf(a));
    if (!newest?.next) break;
    const key = emailKeyOf(newest.next.email);
    if (!people.has(key)) people.set(key, newest.next);
    await newest.advance();
  }
  return Array.from(people.values(), ({ email, name, order_id, created_at }) => ({
    email,
    name,
    order_id,
    created_at: iso(created_at),
  }));
}

const timeOf = ({ next }: Source) => next?.created_at ?? 0;

/** The records of a table, the newest first, of which only as many are read as are needed. */
class Source {
  readonly #batches: AsyncIterator<readonly Found[]>;
  #read: readonly Found[] = [];

  constructor(batches: AsyncIterable<readonly Found[]>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  get next(): Found | undefined {
    return this.#read[0];
  }

  async advance(): Promise<void> {
    this.#read = this.#read.slice(1);
    if (this.#read.length === 0) await this.readMore();
  }

  async readMore(): Promise<void> {
    const { value, done } = await this.#batches.next();
    if (done) return;
    this.#read = value;
    if (this.#read.length === 0) await this.readMore();
  }
}

/** Finds records, some at a time. */
async function* findPeople(
  { table, searched, course }: { table: keyof typeof columns; searched: SearchedText; course: Course },
  context: HandlerContext,
): AsyncGenerator<readonly Found[]> {
  for await (const ids of findByPart(table, searched, course, context)) {
    const { rows } = await sql<Found>`select id, email, created_at, ${columns[table]} from ${sql.table(table)}
      where account_id = ${accountOf(context).id} and id in (${sql.join(ids)})`.execute(context.transaction);
    yield rows.toSorted((a, b) => b.id - a.id);
  }
}
