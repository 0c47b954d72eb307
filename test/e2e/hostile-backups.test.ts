import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createManifest, type Manifest } from "../../src/backup/manifest.ts";
import { newestSchema } from "../../src/storage/schema/migrate.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { execute, postgresServer, postgresSkipped, takeEmptyDatabase } from "../support/postgres.ts";
import { hasPeakMemory, recordPeakMemory } from "../support/peak-memory.ts";
import { type Home, Homes } from "../support/starpost.ts";
import { makeTar } from "../support/tar.ts";

const homes = new Homes();
const drops: (() => Promise<void>)[] = [];
afterAll(async () => {
  homes.remove();
  for (const drop of drops) await drop();
});

const sha256 = (data: Buffer) => createHash("sha256").update(data).digest("hex");

/** The database in a backup. */
function readContent(backup: string): Buffer {
  const tar = gunzipSync(readFileSync(backup));
  const sizeAt = (at: number) => Number.parseInt(tar.toString("latin1", at + 124, at + 135), 8);
  const second = 512 + Math.ceil(sizeAt(0) / 512) * 512;
  return tar.subarray(second + 512, second + 512 + sizeAt(second));
}

/** Writes a backup with any content, whose checksum is right. */
function forge(home: Home, content: Buffer, change: Record<string, unknown> = {}, text?: string): string {
  const dialect = content.toString("latin1", 0, 5) === "PGDMP" ? "postgres" : "sqlite";
  const name = dialect === "sqlite" ? "starpost.db" : "starpost.dump";
  const manifest: Manifest = createManifest({
    starpost: "1.0.0",
    created_at: "2026-01-01T00:00:00.000Z",
    database: "the shop",
    dialect,
    database_version: "1",
    schema: newestSchema,
    accounts: 1,
    namespace: dialect === "sqlite" ? null : "public",
    dump_version: dialect === "sqlite" ? null : 9,
    content: { name, bytes: content.length, sha256: sha256(content) },
  });
  const file = join(home.folder, `forged-${randomUUID()}.tar.gz`);
  const about = { name: "manifest.json", content: text ?? JSON.stringify({ ...manifest, ...change }) };
  writeFileSync(file, gzipSync(makeTar([about, { name, content }]), { level: 1 }));
  return file;
}

const listProducts = async (home: Home) => (await home.run(["products", "list", "--json"])).stdout;
const errorOf = ({ stderr }: { stderr: string }) =>
  (JSON.parse(stderr) as { error: { kind: string; message: string; hint?: string } }).error;

/** Neither command accepts the backup, and nothing changes or stays. @returns the message */
async function expectRefused(home: Home, file: string): Promise<string> {
  const [products, files] = [await listProducts(home), readdirSync(home.folder)];
  let shown = "";
  for (const args of [
    ["verify", file],
    ["restore", file, "--yes"],
  ]) {
    const startedAt = performance.now();
    const refused = await home.json(["backup", ...args]);
    expect([refused.exitCode, refused.stdout], refused.stderr).toEqual([1, ""]);
    const { kind, message, hint } = errorOf(refused);
    expect([kind, hint]).toEqual(["failed", expect.any(String)]);
    expect(message).toMatch(new RegExp(`^(?:${file}|pg_restore failed):? `));
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    shown = message;
  }
  expect(await listProducts(home)).toBe(products);
  expect(readdirSync(home.folder)).toEqual(files);
  return shown;
}

async function openShop(env: Record<string, string> = {}): Promise<{ home: Home; content: Buffer }> {
  const home = homes.open(env);
  await home.run(["products", "import", "fixtures/good/products.csv"]);
  const { data } = await home.json<{ file: string }>(["backup", "create"]);
  return { home, content: readContent(data.file) };
}

describe("a manifest", () => {
  let home: Home;
  let content: Buffer;
  beforeAll(async () => {
    ({ home, content } = await openShop());
  });

  test.each<[string, Record<string, unknown>]>([
    ["a schema that is not a number", { schema: "29; drop table accounts" }],
    ["no schema", { schema: undefined }],
    ["schema 0", { schema: 0 }],
    ["a newer schema", { schema: newestSchema + 1 }],
    ["another schema than its database", { schema: newestSchema - 1 }],
    ["another number of accounts", { accounts: 2 }],
    ["a negative number of accounts", { accounts: -1 }],
    ["an unknown database", { dialect: "mysql" }],
    ["control characters", { database: "\u001B]0;shop\u0007" }],
    ["text of 900 KB", { database_version: "x".repeat(900_000) }],
    ["no date", { created_at: "yesterday" }],
    ["no content", { content: undefined }],
    ["content without a size", { content: { name: "starpost.db", sha256: "" } }],
    ["content elsewhere", { content: { name: "../starpost.db", bytes: 9, sha256: "" } }],
    ["content larger than the disk", { content: { name: "starpost.db", bytes: Number.MAX_SAFE_INTEGER, sha256: "" } }],
    ["a wrong checksum", { content: { name: "starpost.db", bytes: 9_000_000, sha256: "'; drop table accounts" } }],
    ["a newer format with control characters", { format_version: 2, starpost: "\u001B[2J" }],
  ])("with %s is refused", async (_, change) => {
    await expectRefused(home, forge(home, content, change));
  });

  test.each([
    ["nesting of 400,000 levels", `{"format":${"[".repeat(400_000)}${"]".repeat(400_000)}}`],
    ["a list", "[]"],
    ["null", "null"],
    ["2 MB", `{"format":"${"x".repeat(2_000_000)}"}`],
  ])("with %s is refused", async (_, text) => {
    await expectRefused(home, forge(home, content, {}, text));
  });
});

describe("a SQLite file", () => {
  let home: Home;
  let content: Buffer;
  beforeAll(async () => {
    ({ home, content } = await openShop());
  });

  /** A copy of the database in which the statements have been executed. */
  function change(sql: string): Buffer {
    const path = join(homes.open().folder, "changed.db");
    writeFileSync(path, content);
    const file = new SqliteFile(path);
    file.execute(`pragma foreign_keys = off; pragma journal_mode = delete; ${sql}`);
    file.close();
    return readFileSync(path);
  }
  const endless = "with recursive n (i) as (select 1 union all select i + 1 from n) select i as id from n";

  test.each([
    ["a trigger", "create trigger t after insert on reviews begin delete from accounts; end", "trigger t"],
    [
      "a changed trigger",
      "drop trigger review_words_added; create trigger review_words_added after insert on review_words begin delete from accounts; end",
      "trigger review_words_added",
    ],
    ["an endless view", `alter table accounts rename to x; create view accounts as ${endless}`, "view accounts"],
    ["a changed view", `drop view public_ids; create view public_ids as ${endless}`, "view public_ids"],
    ["a virtual table", "create virtual table f using fts5 (a, content = 'accounts')", "table f"],
    ["a check that uses memory", "create table c (a check (length(zeroblob(1000000000)) > a))", "table c"],
    ["a computed column", "create table c (a, b as (hex(a)))", "table c"],
    ["a default", "create table c (a default (randomblob(9)))", "table c"],
    ["an index with a function", "create index i on products (hex(name))", "index i"],
    ["a partial index with a function", "create index i on products (name) where abs(id) > 0", "index i"],
    ["a query behind a comment", `create view v as /* " */ ${endless} -- "`, "view v"],
  ])("with %s is refused unless it is trusted", async (_, sql, object) => {
    expect(await expectRefused(home, forge(home, change(sql)))).toContain(object);
  });

  test("that is trusted is restored with its views", async () => {
    const other = homes.open();
    const file = forge(home, change("create view v as select lower(name) as n from products"));
    expect((await other.runProcess(["backup", "restore", file, "--trusted"])).exitCode).toBe(0);
    const restored = new SqliteFile(join(other.folder, "starpost.db"));
    expect(restored.all("select count(*) as count from v")).toEqual([{ count: 5 }]);
    restored.close();
  });

  test.each([
    ["a table", "drop table missed_products", "missed_products"],
    ["a column", "alter table products drop column brand", "brand"],
    ["its schema", "delete from starpost_migrations", "manifest.json"],
    ["its accounts", "delete from accounts", "manifest.json"],
  ])("without %s is refused", async (_, sql, missing) => {
    expect(await expectRefused(home, forge(home, change(sql)))).toContain(missing);
  });

  test.each([
    ["of a newer version", `insert into starpost_migrations values (${newestSchema + 1}, 'x', 1)`],
    ["of no version", "drop table starpost_migrations"],
  ])("%s is refused", async (_, sql) => {
    await expectRefused(home, forge(home, change(sql)));
  });

  test.each([
    ["that is not SQL", 'CREATE TABLE "coupons"', 'CREATE TABLX "coupons"'],
    ["of another table", 'CREATE TABLE "coupons"', 'CREATE TABLE "couponz"'],
    ["that calls a function", "coalesce(moderation, 'held')", "sqlite_version() || ' held'".padEnd(28)],
  ])("with a definition %s is refused", async (_, before, after) => {
    const changed = content.toString("latin1").replaceAll(before, () => after.slice(0, before.length));
    expect(changed).not.toBe(content.toString("latin1"));
    await expectRefused(home, forge(home, Buffer.from(changed, "latin1")));
  });

  test("that is not a database is refused", async () => {
    await expectRefused(home, forge(home, Buffer.alloc(100_000)));
    await expectRefused(home, forge(home, Buffer.concat([content.subarray(0, 100), Buffer.alloc(100_000, 7)])));
  });

  test("with other tables, and with values of other types, is restored, and calls end with errors", async () => {
    const other = homes.open();
    const changed = change(
      "create table notes (a text, b integer default 7, primary key (a)); create index by_b on notes (b) where b > 1;" +
        "update products set created_at = 'never', name = x'00ff', updated_at = 1.5 where id = 1",
    );
    expect((await other.runProcess(["backup", "restore", forge(home, changed)])).exitCode).toBe(0);
    const listed = await other.runProcess(["products", "list", "--json"]);
    expect(listed.stderr).not.toMatch(/\n\s+at /);
    expect([0, 1]).toContain(listed.exitCode);
  });

  test.skipIf(!hasPeakMemory)("that expands to 300 MB does not use much memory", async () => {
    const file = forge(home, Buffer.concat([content, Buffer.alloc(300_000_000)]));
    const { env, read } = recordPeakMemory(home);
    await home.runProcess(["backup", "verify", file], { env });
    expect(read()).toBeLessThan(300_000_000);
  });
});

const isOnPostgres = postgresServer !== undefined && spawnSync("pg_dump", ["--version"]).status === 0;

describe.skipIf(!isOnPostgres)("a PostgreSQL dump", () => {
  let home: Home;
  let source: string;
  /** As long as the statement that replaces it. */
  const filler = "f".repeat(300);
  beforeAll(async () => {
    for (const name of ["victim", "attacker"] as const) {
      const { url, drop } = await takeEmptyDatabase();
      drops.push(drop);
      const opened = homes.open({ STARPOST_DATABASE: url });
      await opened.run(["products", "import", "fixtures/good/products.csv"]);
      if (name === "victim") home = opened;
      else source = url;
    }
  }, 60_000);

  /** The dump of a database, after a statement that is undone in the database. */
  async function dump(sql: string, undo: string): Promise<Buffer> {
    await execute(sql, source);
    try {
      const { stdout, status } = spawnSync("pg_dump", ["--format=custom", "--schema=public", source], {
        maxBuffer: 50_000_000,
      });
      expect(status).toBe(0);
      return stdout;
    } finally {
      await execute(undo, source);
    }
  }

  test.each([
    ["a view", "create view v as select pg_sleep(9) is null as a", "drop view v"],
    ["a function", "create function f() returns int language sql as 'select 1'", "drop function f"],
    ["a default", "create table c (a text default pg_read_file('/etc/passwd'))", "drop table c"],
    ["a check", "create table c (a text check (pg_sleep(9) is null))", "drop table c"],
    ["a computed column", "create table c (a text, b text generated always as (upper(a)) stored)", "drop table c"],
    ["an index with a function", "create index i on products (upper(name))", "drop index i"],
    ["a policy", "create policy p on products using (true)", "drop policy p on products"],
    ["a rule", "create rule r as on delete to products do instead nothing", "drop rule r on products"],
    ["a type", "create type t as enum ('a')", "drop type t"],
  ])("with %s is refused unless it is trusted", async (_, sql, undo) => {
    expect(await expectRefused(home, forge(home, await dump(sql, undo)))).toContain("CREATE");
  });

  test.each([
    ["a program", "copy public.products from program 'touch PROOF'"],
    ["a program of psql", "select 1 \\! touch PROOF"],
    ["the end of the transaction", "commit"],
    ["a table of others", "copy pg_catalog.pg_authid (rolname) from stdin"],
    ["a variable of psql", "set client_min_messages = :'HOME'"],
    ["a role", "set role = postgres"],
    ["a block of code", "do $$ begin perform pg_sleep(9); end $$"],
    ["a hidden function", `create table public.h (a text default "or" ('x'))`],
  ])("with %s in a statement is refused", async (_, statement) => {
    const proof = join(homes.open().folder, "proof");
    const content = await dump(`create table filler (a text default '${filler}')`, "drop table filler");
    // The statement begins after the semicolon of the one before, and hides the rest of that one.
    const attack = `x'); ${statement.replace("PROOF", proof)};\n--`;
    const changed = Buffer.from(
      content.toString("latin1").replaceAll(filler, () => attack.padEnd(filler.length, "-")),
      "latin1",
    );
    expect(changed.equals(content)).toBe(false);
    await expectRefused(home, forge(home, changed));
    expect(existsSync(proof)).toBe(false);
  });

  test.each([
    [
      "a newer version",
      `insert into starpost_migrations values (${newestSchema + 1}, 'x', 1)`,
      `delete from starpost_migrations where version > ${newestSchema}`,
    ],
    ["no version", "alter table starpost_migrations rename to m", "alter table m rename to starpost_migrations"],
    ["no table of coupons", "alter table coupons rename to c", "alter table c rename to coupons"],
    ["no brands", "alter table products rename brand to b", "alter table products rename b to brand"],
  ])("with %s changes nothing", async (_, sql, undo) => {
    const file = forge(home, await dump(sql, undo));
    const products = await listProducts(home);
    const refused = await home.runProcess(["backup", "restore", file, "--yes", "--json"]);
    expect([refused.exitCode, errorOf(refused).kind]).toEqual([1, "failed"]);
    expect(await listProducts(home)).toBe(products);
  });

  test("that is damaged is refused", async () => {
    const content = await dump("select 1", "select 1");
    for (const at of [20, 400, content.length - 2_000]) {
      const changed = Buffer.from(content);
      changed.fill(0xff, at, at + 60);
      await expectRefused(home, forge(home, changed));
    }
  });

  test("with a view is restored if it is trusted", async () => {
    const content = await dump("create view v as select lower(name) as n from products", "drop view v");
    const file = forge(home, content);
    const { exitCode, stderr } = await home.runProcess(["backup", "restore", file, "--yes", "--trusted"]);
    expect(exitCode, stderr).toBe(0);
    expect(await execute("select count(*)::int as count from v", home.env["STARPOST_DATABASE"])).toEqual([
      { count: 5 },
    ]);
  });
});

if (!isOnPostgres) test.skip(`hostile dumps on ${postgresSkipped}`);
