import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { indexNextBlock } from "../../../src/engine/kernel/lists/part-index.ts";
import { blockSize, blocksPerSegment, writeIds, writeSections } from "../../../src/engine/kernel/lists/postings.ts";
import { batchRows } from "../../../src/storage/batch.ts";
import { runInSlices } from "../../../src/storage/loop-turn.ts";
import { engines, type Harness, openEngine, type TestAccount } from "../../support/backends.ts";
import { anOrder, bulkOrders } from "../../support/builders.ts";
import { placeOnPartitions } from "../../support/databases.ts";
import { postgresServer } from "../../support/postgres.ts";

/** Two blocks, and a rest. */
const count = 2 * blockSize + 500;

const names = ["Ann Lee", "Zoë Nováková", "王伟", "Bo O'Neil_50%", "SÖREN ÅBERG"];
const nameOf = (at: number) => `${names[at % names.length] ?? ""} ${at % 977}`;
const emailOf = (at: number) => `p${at % 4_001}@${at % 3 === 0 ? "mail" : "post"}.example`;
const orderIdOf = (at: number) => `#${100_000 + at}`;

/** Stores orders and emails about every third one. */
async function fill({ database: { db, dialect } }: Harness, accountId: number, length = count): Promise<void> {
  const orders = Array.from({ length }, (_, at) => [1_000 + at, orderIdOf(at), emailOf(at), nameOf(at)]);
  const columns = { id: "integer", order_id: "text", email: "text", customer_name: "text" } as const;
  const batch = batchRows(columns, orders, dialect);
  await sql`insert into products (id, account_id, product_id, name, url, created_at, updated_at)
    values (1, ${accountId}, 'teapot', 'Teapot', '', 0, 0)`.execute(db);
  await sql`insert into orders (id, account_id, order_id, email, customer_name, platform, order_date, created_at)
    select id, ${accountId}, order_id, email, customer_name, 'general', 0, id from ${batch} where true`.execute(db);
  await sql`insert into purchases (id, account_id, order_row, product_row, unit, created_at)
    select id, ${accountId}, id, 1, 1, id from ${batch} where true`.execute(db);
  await sql`insert into order_emails (account_id, order_row, email_key)
    select ${accountId}, id, email from ${batch} where true`.execute(db);
  await sql`insert into mails (id, account_id, category, email_type_id, email, email_key, name, data, state, due_at, created_at,
      order_row, product_row)
    select id, ${accountId}, 'map', 1, email, email, customer_name, '{}', 'sent', 0, 0, id, 0
    from ${batch} where id % 3 = 0`.execute(db);
  // As autovacuum does some time later.
  if (dialect.name === "postgres") await sql`analyze`.execute(db);
}

/** Replaces the index of orders by one of smaller blocks, which are more segments. */
async function indexInSegments({ database: { db, dialect } }: Harness, accountId: number): Promise<void> {
  const size = 400;
  const postings = new Map<string, string>();
  const blocks: unknown[][] = [];
  for (let block = 0; (block + 1) * size <= count; block++) {
    const own = Array.from({ length: size }, (_, at) => block * size + at);
    const ids = own.map((at) => 1_000 + at);
    const texts = own.map((at) => `${orderIdOf(at)}\n${emailOf(at)}\n${nameOf(at)}`);
    blocks.push([block, ids[0], ids.at(-1), writeIds(ids)]);
    for (const [bucket, section] of (await runInSlices(writeSections(block, texts))).entries()) {
      const key = `${bucket} ${Math.floor(block / blocksPerSegment)}`;
      postings.set(key, (postings.get(key) ?? "") + section);
    }
  }
  await removeIndex(db, accountId);
  const blockColumns = { block: "integer", first_row: "integer", last_row: "integer", rows: "text" } as const;
  await sql`insert into search_blocks (account_id, kind, block, first_row, last_row, rows, is_current)
    select ${accountId}, 'orders', block, first_row, last_row, rows, 1
    from ${batchRows(blockColumns, blocks, dialect)} where true`.execute(db);
  const rows = Array.from(postings, ([key, text]) => [...key.split(" ").map(Number), text]);
  const columns = { bucket: "integer", segment: "integer", postings: "text" } as const;
  await sql`insert into search_postings (account_id, kind, bucket, segment, postings)
    select ${accountId}, 'orders', bucket, segment, postings from ${batchRows(columns, rows, dialect)} where true`.execute(
    db,
  );
}

/** The next search indexes all records again. */
async function removeIndex(db: Harness["database"]["db"], accountId: number): Promise<void> {
  for (const table of ["search_blocks", "search_postings"] as const) {
    await db.deleteFrom(table).where("account_id", "=", accountId).execute();
  }
}

const isIn = (search: string) => (at: number) => {
  const fold = (text: string) => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return [orderIdOf(at), emailOf(at), nameOf(at)].some((text) => fold(text).includes(fold(search)));
};
const all = Array.from({ length: count }, (_, at) => at);

const searches = [
  "p17@",
  "PAIL.EX",
  "mail.example",
  "novak",
  "Nováková 9",
  "王伟",
  "o'neil_50% 3",
  "#1081",
  "100_",
  "sören åberg 976",
  "zzz",
];

describe.each(engines)("search for parts of texts on $name", ({ open }) => {
  let harness: Harness;
  let account: TestAccount;
  let accountId: number;

  beforeAll(async () => {
    harness = await open();
    account = await harness.newAccount();
    accountId = await harness.newestAccountId();
    await fill(harness, accountId);
  }, 60_000);
  afterAll(() => harness.close());

  const findOrders = async (search: string, query: object = {}) =>
    (await account.service.orders.search({ search, limit: 1_000, ...query })).purchases.map(({ order_id }) => order_id);
  const readBlocks = () =>
    harness.database.db
      .selectFrom("search_blocks")
      .select(["kind", "block", "is_current"])
      .where("account_id", "=", accountId)
      .orderBy("block")
      .execute();

  it("finds the same with the index as without it, in both directions", async () => {
    for (const search of searches) {
      const expected = all.filter(isIn(search)).map(orderIdOf);
      expect(await findOrders(search)).toEqual(expected.toReversed().slice(0, 1_000));
      expect(await findOrders(search, { sort: "oldest" })).toEqual(expected.slice(0, 1_000));
      const { mails } = await account.service.emails.list({ search, count: 1_000 });
      const mailed = all.filter((at) => (1_000 + at) % 3 === 0).filter(isIn(search));
      expect(mails.map(({ order_id }) => order_id)).toEqual(mailed.map(orderIdOf).toReversed().slice(0, 1_000));
    }
    expect(await readBlocks()).toEqual([0, 1].map((block) => ({ kind: "orders", block, is_current: 1 })));
  });

  it("finds the same in several segments, in both directions", async () => {
    await indexInSegments(harness, accountId);
    for (const search of [...searches, "SÖREN ÅBERG 1", "p17@mail", "#10812"]) {
      const expected = all.filter(isIn(search)).map(orderIdOf);
      expect(await findOrders(search)).toEqual(expected.toReversed().slice(0, 1_000));
      expect(await findOrders(search, { sort: "oldest" })).toEqual(expected.slice(0, 1_000));
    }
    await removeIndex(harness.database.db, accountId);
  });

  it("returns pages that together are the list", async () => {
    const pages: string[] = [];
    for (let page_info: string | null | undefined; page_info !== null;) {
      const page = await account.service.orders.search({
        search: "novakova 5",
        limit: 7,
        ...(page_info && { page_info }),
      });
      pages.push(...page.purchases.map(({ order_id }) => order_id));
      page_info = page.pagination.next_page_info;
    }
    expect(pages).toEqual(all.filter(isIn("novakova 5")).map(orderIdOf).toReversed());
  });

  it("combines a text with other filters", async () => {
    const email = emailOf(17);
    const expected = all.filter((at) => emailOf(at) === email && isIn("王伟")(at));
    expect(await findOrders("王伟", { email })).toEqual(expected.map(orderIdOf).toReversed());
    expect(await findOrders("王伟", { product_id: "teapot", until_date: new Date(1_050).toISOString() })).toEqual(
      all.slice(0, 50).filter(isIn("王伟")).map(orderIdOf).toReversed(),
    );
  });

  it("finds a customer by the new name, and not by the old one", async () => {
    const stored = { order_id: orderIdOf(5), email: emailOf(5) };
    await account.service.orders.massCreate(bulkOrders([anOrder({ ...stored, customer_name: "Renamed Person" })]));
    expect(await readBlocks()).toContainEqual({ kind: "orders", block: 0, is_current: 0 });
    for (const isIndexed of [false, true]) {
      if (isIndexed) while ((await indexNextBlock(accountId, harness.work)) > 0);
      const found = await account.service.customers.find({ search: "renamed per" });
      expect(found.customers.map(({ email, name }) => ({ email, name }))).toEqual([
        { email: emailOf(5), name: "Renamed Person" },
      ]);
      expect(await findOrders(nameOf(5))).not.toContain(orderIdOf(5));
    }
    expect((await readBlocks()).every(({ is_current }) => is_current === 1)).toBe(true);
  });

  it("removes an erased customer from the index", async () => {
    const email = emailOf(9);
    const readSizes = async () => {
      const { rows } = await sql<{ bytes: number | bigint }>`select coalesce(sum(length(postings)), 0) as bytes
        from search_postings where account_id = ${accountId} and kind = 'orders'`.execute(harness.database.db);
      return Number(rows[0]?.bytes);
    };
    const before = await readSizes();
    await account.service.customers.erase({ email });
    expect(await readSizes()).toBeLessThan(before / 2);
    expect((await account.service.customers.find({ search: email })).customers).toEqual([]);
    expect((await account.service.customers.find({ search: "王伟 1" })).customers).not.toEqual([]);
    expect(await readSizes()).toBeGreaterThan(before / 2);
  });
});

it.skipIf(postgresServer === undefined)("touches one partition of each table in every statement", async () => {
  const harness = await openEngine(placeOnPartitions);
  const { service } = await harness.newAccount();
  await fill(harness, await harness.newestAccountId(), blockSize + 1);
  expect((await service.orders.search({ search: "p17@" })).purchases).not.toEqual([]);
  expect((await service.emails.list({ search: "p17@" })).mails).not.toEqual([]);
  await service.customers.erase({ email: emailOf(17) });
  expect((await service.orders.search({ search: emailOf(17) })).purchases).toEqual([]);
  // Fails for every other statement.
  await harness.close();
});
