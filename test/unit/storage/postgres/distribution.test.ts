import { Kysely, sql } from "kysely";
import { afterEach, describe, expect, it } from "vitest";
import { planDistribution } from "../../../../src/storage/postgres/distribute-database.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { dialects } from "../../../../src/storage/dialects.ts";
import { inspectDatabase } from "../../../../src/storage/inspect-database.ts";
import {
  distributeTables,
  findCitus,
  isDistributed,
  listUndistributed,
} from "../../../../src/storage/postgres/distribution.ts";
import * as columns from "../../../../src/storage/tables/columns.ts";
import { addLockable } from "../../../support/databases.ts";
import { execute, postgresServer, postgresSkipped, takeEmptyDatabase } from "../../../support/postgres.ts";

/** Functions and a catalog that stand in for those of Citus, and record the calls. */
const standIns = `
  create schema stand_in;
  create table stand_in.pg_dist_partition (position serial, logicalrelid regclass, partmethod "char",
    colocation text, repmodel "char" default 's');
  create function stand_in.create_reference_table(name text) returns void language plpgsql as $$ begin
      insert into stand_in.pg_dist_partition (logicalrelid, partmethod, repmodel) values (name::regclass, 'n', 't');
      if exists (select from pg_attribute where attrelid = name::regclass and attidentity <> '') then
        execute format('alter table %I alter column id restart', name);
      end if;
    end $$;
  create function stand_in.create_distributed_table(name text, key text, colocate_with text) returns void
    language plpgsql as $$ begin
      if key <> 'account_id' then raise 'distributed by %', key; end if;
      delete from stand_in.pg_dist_partition where logicalrelid = name::regclass and partmethod = 'n';
      insert into stand_in.pg_dist_partition (logicalrelid, partmethod, colocation) values (name::regclass, 'h', colocate_with);
    end $$;
  create function stand_in.create_known() returns event_trigger language plpgsql as $$ begin
      -- Citus knows tables that refer to a reference table, and alters those that it knows only in some ways.
      if tg_tag = 'CREATE TABLE' and current_query() ~ 'references "accounts"' then
        insert into stand_in.pg_dist_partition (logicalrelid, partmethod)
          select objid, 'n' from pg_event_trigger_ddl_commands() where object_type = 'table';
      end if;
      if tg_tag = 'ALTER TABLE' and current_query() ~ 'drop identity|set statistics' and exists (
        select from pg_event_trigger_ddl_commands() join stand_in.pg_dist_partition on objid = logicalrelid) then
        raise 'alter table command is currently unsupported';
      end if;
    end $$;
  create event trigger known on ddl_command_end execute function stand_in.create_known();
  do $$ begin
    execute format('alter database %I set search_path = public, stand_in', current_database());
  end $$;`;

const reference = ["accounts"];
const local = new Set(["starpost_migrations", "token_buckets", "invitations", "public_ids", "elected_work"]);

describe.skipIf(postgresServer === undefined)("distribution of tables", () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  async function take() {
    const { url, drop } = await takeEmptyDatabase();
    closing.push(drop);
    const connect = async () => {
      const db = new Kysely<never>({ dialect: await dialects.postgres.createDriver(url, {}) });
      closing.push(() => db.destroy());
      return db;
    };
    return { url, connect };
  }

  const calls = (url: string) =>
    execute(
      `select logicalrelid::text as name, partmethod as method, colocation from stand_in.pg_dist_partition order by position`,
      url,
    );

  it("covers every table but counters and the list of migrations, with the account's version first", async () => {
    const { url, connect } = await take();
    await (await openDatabase(url, { nowMs: 1 })).db.destroy();
    const db = await connect();
    const tables = await dialects.postgres.readTableNames(db);
    const plan = await listUndistributed(db);
    expect(plan.reference).toEqual(reference);
    expect(plan.distributed[0]).toBe("account_versions");
    expect(plan.distributed).toEqual(expect.arrayContaining(["orders", "reviews", "users", "mails"]));
    expect([...plan.reference, ...plan.distributed].toSorted()).toEqual(
      tables.filter((name) => !local.has(name)).toSorted(),
    );
    expect([
      await isDistributed(db),
      await inspectDatabase(url, { clock: Date.now, busyTimeoutMs: 100 }),
    ]).toMatchObject([false, { facts: { cluster: null } }]);
  });

  it("makes tables reference tables, then distributes the others by account, each once", async () => {
    const { url, connect } = await take();
    await (await openDatabase(url, { nowMs: 1 })).db.destroy();
    await execute(standIns, url);
    const db = await connect();
    expect(await isDistributed(db)).toBe(false);
    const done = await db.transaction().execute((transaction) => distributeTables(transaction));
    const made = await calls(url);
    expect(made.map(({ name }) => name)).toEqual([...reference, ...done.distributed]);
    expect(made.slice(0, 3)).toMatchObject([
      ...reference.map(() => ({ method: "n", colocation: null })),
      { name: "account_versions", method: "h", colocation: "none" },
      { method: "h", colocation: "account_versions" },
    ]);
    expect(await db.transaction().execute((transaction) => distributeTables(transaction))).toEqual({
      local: [],
      reference: [],
      distributed: [],
    });
    expect(await calls(url)).toEqual(made);
    expect(await isDistributed(db)).toBe(true);
  });

  it("continues the IDs of tables that Citus creates again", async () => {
    const { url, connect } = await take();
    const { db: migrated } = await openDatabase(url, { nowMs: 1 });
    const ids = [await addLockable({ db: migrated }, "a"), await addLockable({ db: migrated }, "b")];
    await migrated.destroy();
    await execute(standIns, url);
    const db = await connect();
    await db.transaction().execute((transaction) => distributeTables(transaction));
    const [account] = await execute(
      "insert into accounts (app_key, secret_sealed, created_at) values ('c', 's', 0) returning id::int",
      url,
    );
    const [token] = await execute(
      "insert into utokens (account_id, token_hash, created_at, expires_at) values (1, 'h', 0, 0) returning id::int",
      url,
    );
    expect([...ids, account?.["id"], token?.["id"]]).toEqual([1, 2, 3, 1]);
  });

  it("lets a migration change distributed and reference tables in one transaction", async () => {
    const { connect } = await take();
    const db = await connect();
    const readMode = async (transaction: Kysely<never>) => {
      const { rows } = await sql<{ mode: string | null }>`
        select current_setting('citus.multi_shard_modify_mode', true) as mode`.execute(transaction);
      return rows[0]?.mode;
    };
    const mode = await db.transaction().execute(async (transaction) => {
      await dialects.postgres.lockDatabase(transaction);
      return readMode(transaction);
    });
    expect([mode, await readMode(db)]).toEqual(["sequential", ""]);
  });

  it("is completed by migrations that add tables", async () => {
    const { url, connect } = await take();
    await (await openDatabase(url, { nowMs: 1 })).db.destroy();
    await execute(standIns, url);
    const db = await connect();
    await db.transaction().execute((transaction) => distributeTables(transaction));
    const made = await calls(url);
    const table = { columns: { id: columns.rowId, account_id: columns.account } };
    await db.transaction().execute(async (transaction) => {
      await dialects.postgres.createTables({ added: table }, transaction);
      await dialects.postgres.distributeNewTables?.(transaction);
    });
    expect(await calls(url)).toEqual([...made, { name: "added", method: "h", colocation: "account_versions" }]);
  });

  it("requires that the server has and loads Citus, and changes nothing otherwise", async () => {
    const { url, connect } = await take();
    await expect(planDistribution(url)).rejects.toMatchObject({ problem: "missing" });
    expect(await dialects.postgres.readTableNames(await connect())).toEqual([]);
    await (await openDatabase(url, { nowMs: 1 })).db.destroy();
    expect(await findCitus(await connect())).toEqual({ problem: expect.stringContaining("Citus") });
    expect(await planDistribution(url)).toEqual({ problem: expect.stringContaining("Citus") });
  });
});

it("a file cannot be distributed", async () => {
  expect(await planDistribution("package.json")).toEqual({ problem: expect.stringContaining("SQLite") });
});

if (postgresServer === undefined) it.skip(postgresSkipped);
