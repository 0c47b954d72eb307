import { isDeepStrictEqual } from "node:util";
import { type Kysely, sql } from "kysely";
import { expect, it, onTestFinished } from "vitest";
import type { ServiceError } from "../../../src/contract/index.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { inspectDatabase } from "../../../src/storage/inspect-database.ts";
import { newestSchema } from "../../../src/storage/schema/migrate.ts";
import { addColumn, migrations } from "../../../src/storage/schema/migrations.ts";
import { type Harness, openEngine } from "../../support/backends.ts";
import { anOrder, aReview } from "../../support/builders.ts";
import { changeDatabase, describeOldDatabases, oldShop, setSchemaVersion } from "../../support/old-databases.ts";
import { takeEmptyDatabase } from "../../support/postgres.ts";
import { findStaleWords } from "../../support/search-index.ts";

/** Everything that a schema consists of, without the order in which it was created. */
const definitions = {
  sqlite: sql<{ definition: string }>`
    select type || ' ' || tbl_name || ': ' || coalesce(sql, name) as definition from sqlite_master
    where name <> 'sqlite_sequence'`,
  postgres: sql<{ definition: string }>`
    select format('%s %s %s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
      attcollation::regcollation, attstattarget) || ' ' || attidentity::text || ' ' ||
      coalesce(pg_get_expr(adbin, adrelid), '') as definition
    from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'S') and attnum > 0 and not attisdropped
    union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'`,
} as const;

async function readSchema({ db, dialect }: Pick<Harness["database"], "db" | "dialect">): Promise<string[]> {
  const { rows } = await definitions[dialect.name].execute(db);
  // Columns that are added to a table are its last ones; in a new table, they may be others.
  const normalize = (text: string) => text.replaceAll('"', "").replaceAll(/\s+/g, " ").toLowerCase();
  return rows
    .map(({ definition }) =>
      normalize(definition)
        .split(/, |(?<=\()(?=id )/)
        .toSorted()
        .join(", "),
    )
    .toSorted();
}

async function readMaxIds(db: Kysely<never>): Promise<Record<string, number>> {
  const ids: Record<string, number> = {};
  for (const { name, columns } of await db.introspection.getTables()) {
    if (!columns.some((column) => column.name === "id") || name === "public_ids") continue;
    const { rows } = await sql<{ id: number | null }>`select max(id) as id from ${sql.table(name)}`.execute(db);
    ids[name] = rows[0]?.id ?? 0;
  }
  return ids;
}

/** Names of fields that have changed since, and the names of now. */
const renamed: Readonly<Record<string, string>> = { says: "description", left_out_by: "dropped_by" };

/** Renames fields of a recorded answer. */
function rename(recorded: unknown): unknown {
  return JSON.parse(JSON.stringify(recorded), (_, value: unknown) =>
    value === null || typeof value !== "object" || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).map(([name, field]) => [renamed[name] ?? name, field])),
  );
}

const recordedText = JSON.stringify(rename(oldShop.answers));

/** Fields of answers that have been added since, with a value. */
const added: ReadonlySet<string> = new Set(["last_id", "my_reviews_url"]);

/** Fields that have been added to the answer of one call. */
const addedTo: Readonly<Record<string, ReadonlySet<string>>> = {
  "seo.page": new Set(
    (
      "ask_url overview page_url pagination photos questions sort star_distribution stars takes_questions votes_down " +
      "votes_up write_url"
    ).split(" "),
  ),
};

/** Values of fields that have been added to some answers since: there are no coupons, and no further pages. */
const addedEmpty: Readonly<Record<string, readonly string[]>> = {
  coupons: ["[]", "0"],
  pagination: ['{"next_page_info":null}'],
};

/** Removes fields that no recorded answer has: those that have been added, and those of new columns, which are null. */
function removeAdded(name: string, value: unknown): unknown {
  if (added.has(name) || addedEmpty[name]?.includes(JSON.stringify(value))) return undefined;
  return value === null && /^[a-z]/.test(name) && !recordedText.includes(`"${name}":`) ? undefined : value;
}

/** The second account has no template of its own: its emails are written as this version writes them. */
const isBuiltIn = (account: number, name: string) => account === 1 && name.startsWith("emailTemplates.");

/** Lists to which later versions add templates and settings, and HTML that they write differently. */
const growing: ReadonlySet<string> = new Set(["emailTemplates.list", "emailRules.list", "batch.run"]);

/** Repeats the recorded calls and returns those with another answer. */
async function findChangedAnswers({ transport }: Harness): Promise<unknown[]> {
  const changed: unknown[] = [];
  for (const [account, name, input, recorded] of oldShop.answers) {
    if (isBuiltIn(account, name) || growing.has(name)) continue;
    const remove = (field: string, value: unknown) =>
      addedTo[name]?.has(field) ? undefined : removeAdded(field, value);
    const answer: unknown = JSON.parse(JSON.stringify(rename(recorded)), remove);
    const output = await transport
      .call(name, input, oldShop.accounts[account] ?? {})
      .catch(({ kind, message, field, record, position, hint }: ServiceError) => ({
        kind,
        message,
        field,
        record,
        position,
        hint,
      }));
    const { bytes, ...others } = output as { readonly bytes?: Uint8Array };
    const text = bytes && { base64: Buffer.from(bytes).toString("base64") };
    const now: unknown = JSON.parse(JSON.stringify({ ...others, ...text }), remove);
    if (!isDeepStrictEqual(now, answer)) changed.push({ name, input, answer, now });
  }
  return changed;
}

describeOldDatabases("a database of the first schema", (place) => {
  it("gets the schema of a new database", async () => {
    const url = await place();
    await changeDatabase(url, `update mails set data = '{"left_out":{"7":"unsubscribed"}}' where id = 1`);
    const upgraded = await openDatabase(url, { nowMs: 0 });
    onTestFinished(() => upgraded.db.destroy());
    const { data } = await upgraded.db.selectFrom("mails").select("data").where("id", "=", 1).executeTakeFirstOrThrow();
    expect(data).toBe('{"dropped":{"7":"unsubscribed"}}');
    const fresh = upgraded.dialect.name === "postgres" ? await takeEmptyDatabase() : undefined;
    const database = await openDatabase(fresh?.url ?? ":memory:", { nowMs: 0 });
    expect(await readSchema(upgraded)).toEqual(await readSchema(database));
    await database.db.destroy();
    await fresh?.drop();
    expect(await inspectDatabase(url, { clock: () => 0, busyTimeoutMs: 1_000 })).toMatchObject({
      facts: { schema: newestSchema, pendingMigrations: [] },
    });
  });

  it("responds as before, and continues its IDs", async () => {
    const url = await place();
    const harness = await openEngine(
      async () => ({ url, remove: async () => {} }),
      Buffer.from(oldShop.sealingKey, "base64"),
    );
    onTestFinished(harness.close);
    harness.clock.set(oldShop.nowMs);
    const db = harness.database.db as unknown as Kysely<never>;
    const oldIds = await readMaxIds(db);
    const { checked, stale } = await findStaleWords(harness.database);
    expect([checked, stale]).toEqual([7, []]);
    expect(await findChangedAnswers(harness)).toEqual([]);
    const { service } = await harness.newAccount();
    await service.orders.create({ ...anOrder(), platform: "general" });
    await service.reviews.create(aReview());
    const newIds = await readMaxIds(db);
    for (const table of ["accounts", "users", "products", "orders", "purchases", "reviews", "mails"]) {
      expect([table, newIds[table]]).not.toEqual([table, oldIds[table]]);
    }
  });

  it("compares its addresses by their keys", async () => {
    const url = await place();
    const [unicode, ascii] = ["zoë@bücher.example", "zoë@xn--bcher-kva.example"];
    const listed = "account_id, email_type_id, email, email_key, by_name, created_at";
    const user = "account_id, email, email_key, display_name, slug, kind, password_hash, url, created_at";
    const missed = "account_id, order_id, product_sku, product_name, user_email, user_name, order_date, created_at";
    for (const statement of [
      `insert into unsubscribers (${listed}) values (1, 11, 'Zoë@bücher.example', '${unicode}', 'USER', 1),
        (1, 11, '${ascii}', '${ascii}', 'MODERATOR', 2), (1, 12, 'Zoë@bücher.example', '${unicode}', 'MODERATOR', 3)`,
      `insert into mail_suppressions (account_id, email_key, kind, mail_row, created_at)
        values (1, '${unicode}', 'bounces', 1, 1), (1, '${unicode}', 'spamreports', 2, 2), (1, '${ascii}', 'bounces', 3, 3)`,
      `insert into test_recipients (account_id, email_key, created_at) values (1, '${unicode}', 1), (1, '${ascii}', 2)`,
      `insert into order_emails (account_id, order_row, email_key) values (1, 900001, 'ann@ｍail.example')`,
      `insert into users (${user}) values (1, '${ascii}', '${ascii}', 'Zoë', 'zoe-1', 'shopper', '', '', 1),
        (1, 'Zoë@bücher.example', '${unicode}', 'Zoë', 'zoe-2', 'shopper', '', '', 2),
        (1, 'Ann@Mail.example', null, 'Ann', 'ann-9', 'shopper', '', '', 3)`,
      `insert into missed_products (${missed}) values (1, 'm1', 'p 1', 'Pot', 'ZOË@bücher.example', 'Zoë', 0, 0),
        (1, 'm2', 'p 1', 'Pot', 'Ann@Mail.example', 'Ann', 0, 0)`,
    ]) {
      await changeDatabase(url, statement);
    }
    const { db } = await openDatabase(url, { nowMs: 0 });
    onTestFinished(() => db.destroy());
    const unsubscribers = db.selectFrom("unsubscribers").select(["email_type_id", "email", "email_key", "by_name"]);
    expect(await unsubscribers.where("email_type_id", "in", [11, 12]).orderBy("email_type_id").execute()).toEqual([
      { email_type_id: 11, email: ascii, email_key: ascii, by_name: "USER" },
      { email_type_id: 12, email: "Zoë@bücher.example", email_key: ascii, by_name: "MODERATOR" },
    ]);
    const suppressions = db.selectFrom("mail_suppressions").select(["kind", "mail_row"]).where("email_key", "=", ascii);
    expect(await suppressions.orderBy("kind").execute()).toEqual([
      { kind: "bounces", mail_row: 3 },
      { kind: "spamreports", mail_row: 2 },
    ]);
    const recipients = await db.selectFrom("test_recipients").select("email_key").execute();
    expect(recipients.filter(({ email_key }) => email_key.startsWith("zoë"))).toEqual([{ email_key: ascii }]);
    const order = db.selectFrom("order_emails").select("email_key").where("order_row", "=", 900_001);
    expect(await order.execute()).toEqual([{ email_key: "ann@mail.example" }]);
    const users = db
      .selectFrom("users")
      .select(["email_key", "address_key"])
      .where("slug", "in", ["zoe-1", "zoe-2", "ann-9"]);
    expect(await users.orderBy("created_at").execute()).toEqual([
      { email_key: ascii, address_key: ascii },
      { email_key: null, address_key: ascii },
      { email_key: null, address_key: "ann@mail.example" },
    ]);
    const skipped = db.selectFrom("missed_products").select("email_key").where("order_id", "in", ["m1", "m2"]);
    expect((await skipped.orderBy("order_id").execute()).map(({ email_key }) => email_key)).toEqual([
      ascii,
      "ann@mail.example",
    ]);
    const everyone = await db.selectFrom("users").select("email").where("address_key", "=", "").execute();
    expect(everyone.map(({ email }) => email).filter((email) => email !== "")).toEqual([]);
  });

  it("can get columns that tables of new databases have", async () => {
    const { db, dialect } = await openDatabase(await place(), { nowMs: 0 });
    onTestFinished(() => db.destroy());
    const untyped = db as unknown as Kysely<never>;
    const before = await db.introspection.getTables();
    await sql`alter table mails drop column attempts`.execute(db);
    await addColumn("mails", "attempts", { db: untyped, dialect });
    const after = await db.introspection.getTables();
    const describe = (tables: typeof before) =>
      tables.find(({ name }) => name === "mails")?.columns.toSorted((one, other) => one.name.localeCompare(other.name));
    expect(describe(after)).toEqual(describe(before));
    await sql`alter table reviews drop column domain`.execute(db);
    await addColumn("reviews", "domain", { db: untyped, dialect });
    expect(await readSchema({ db, dialect })).toContainEqual(
      expect.stringMatching(/reviews domain text f c|domain text\)/),
    );
  });

  it("is refused if it is older or newer", async () => {
    const url = await place();
    await setSchemaVersion(url, 22);
    const open = () => openDatabase(url, { nowMs: 0 });
    await expect(open()).rejects.toMatchObject({
      problem: "notOurs",
      message: expect.stringContaining("schema 22; this version supports 23 and later"),
      hint: expect.stringContaining("af372b16"),
    });
    await setSchemaVersion(url, newestSchema + 1);
    await expect(open()).rejects.toMatchObject({
      problem: "notOurs",
      message: expect.stringContaining("newer starpost"),
    });
  });
});

it("the migrations are numbered", () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, at) => 23 + at));
});
