import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeArchive } from "../../src/backup/archive.ts";
import { execute, postgresServer, postgresSkipped, takeEmptyDatabase } from "../support/postgres.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { aReview } from "../support/builders.ts";
import { takePhoto } from "../support/photos.ts";
import { type Home, Homes, type RunOptions, writeInto } from "../support/starpost.ts";

interface Made {
  readonly file: string;
  readonly created_at: string;
  readonly database: string;
  readonly sealing_key_file: string | null;
}
type ListedBackup = { file: string; scheduled: boolean; exists: boolean };
type Restored = { accounts: number; replaced_file: string | null; opens_secrets: boolean };
type ErrorOutput = { error: { kind: string; message: string; hint?: string } };

const homes = new Homes();
const drops: (() => Promise<void>)[] = [];
afterAll(async () => {
  homes.remove();
  for (const drop of drops) await drop();
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Restores a backup. Databases that earlier commands have opened in this process are closed when they are collected. */
function restore(home: Home, args: readonly string[], options: RunOptions = {}) {
  collectGarbage();
  return home.json<Restored>(["backup", "restore", ...args], options);
}

const errorOf = ({ stderr }: { stderr: string }) => (JSON.parse(stderr) as ErrorOutput).error;

const listProducts = async (home: Home) =>
  (await home.json<{ products: { external_id: string }[] }>(["products", "list"])).stdout;

/** The entries of a backup: the manifest, and the database. */
function readManifest(file: string): Record<string, unknown> {
  const tar = gunzipSync(readFileSync(file));
  return JSON.parse(tar.toString("utf8", 512, 512 + Number.parseInt(tar.toString("latin1", 124, 135), 8))) as Record<
    string,
    unknown
  >;
}

/** Writes a backup with a changed manifest. */
async function forge(home: Home, file: string, change: Record<string, unknown>): Promise<string> {
  const data = join(home.folder, "data");
  writeFileSync(data, "nothing");
  const forged = join(home.folder, `forged-${randomUUID()}.tar.gz`);
  await writeArchive(forged, {
    text: { name: "manifest.json", content: JSON.stringify({ ...readManifest(file), ...change }) },
    file: { name: "starpost.db", path: data, bytes: 7 },
    modifiedMs: 0,
    isCompressed: false,
  });
  return forged;
}

async function openHome(dialect: string): Promise<{ home: Home; database: string }> {
  if (dialect === "SQLite") {
    const home = homes.open();
    return { home, database: join(home.folder, "starpost.db") };
  }
  const { url, drop } = await takeEmptyDatabase();
  drops.push(drop);
  const address = new URL(url);
  address.password ||= "a password";
  return { home: homes.open({ STARPOST_DATABASE: address.href }), database: url };
}

async function readRows(query: string, database: string): Promise<Record<string, unknown>[]> {
  if (database.startsWith("postgres:")) return execute(query, database);
  const file = new SqliteFile(database, { isReadOnly: true });
  try {
    return file.all(query);
  } finally {
    file.close();
  }
}

const hasDump = spawnSync("pg_dump", ["--version"]).status === 0;
const isOnPostgres = postgresServer !== undefined && hasDump;

describe.each(["SQLite", ...(isOnPostgres ? ["PostgreSQL"] : [])])("on %s", (dialect) => {
  let home: Home;
  let database: string;
  let made: Made;
  let products: string;
  beforeAll(async () => {
    ({ home, database } = await openHome(dialect));
    await home.run(["products", "import", "fixtures/good/products.csv"]);
    products = await listProducts(home);
    ({ data: made } = await home.json<Made>(["backup", "create", "--with-sealing-key"]));
  }, 60_000);

  test("describes itself, and is private", async () => {
    expect(readManifest(made.file)).toMatchObject({
      format: "starpost-backup",
      format_version: 1,
      created_at: made.created_at,
      dialect: dialect === "SQLite" ? "sqlite" : "postgres",
      accounts: 1,
      content: { name: dialect === "SQLite" ? "starpost.db" : "starpost.dump" },
    });
    for (const file of [made.file, made.sealing_key_file ?? ""]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(made.sealing_key_file ?? "")).toEqual(readFileSync(join(home.folder, "starpost.key")));
    expect(JSON.stringify(readManifest(made.file))).not.toContain("a password");
    const { data } = await home.json<Record<string, unknown>[]>(["backup", "list"]);
    expect(data).toMatchObject([{ file: made.file, database: made.database, scheduled: false, exists: true }]);
    expect(readdirSync(join(home.folder, "backups"))).toHaveLength(2);
  });

  test("is verified, also without a database", async () => {
    const { data, exitCode } = await homes.open().json(["backup", "verify", made.file]);
    expect([exitCode, data]).toMatchObject([0, { created_at: made.created_at, accounts: 1 }]);
    expect(readdirSync(join(home.folder, "backups"))).toHaveLength(2);
  });

  test("replaces a database only after a confirmation, and restores what was stored", async () => {
    await home.run(["products", "import", "fixtures/good/orders.csv", "--set", "url=https://shop.example", "--update"]);
    await home.run(["orders", "import", "fixtures/good/orders.csv", "--update-products"]);
    const refused = await restore(home, [made.file]);
    expect([refused.exitCode, errorOf(refused).kind]).toEqual([2, "usage"]);
    expect(await listProducts(home)).not.toBe(products);
    const { data, exitCode } = await restore(home, [made.file, "--yes"]);
    expect([exitCode, data]).toMatchObject([0, { accounts: 1, replaced_file: null, opens_secrets: true }]);
    expect(await listProducts(home)).toBe(products);
    // The tables can be written to.
    await home.run(["products", "import", "fixtures/good/products.csv", "--update"]);
    expect((await home.json(["orders", "import", "fixtures/good/orders.csv"])).exitCode).toBe(0);
    expect(readdirSync(home.folder).filter((name) => name.startsWith("starpost.db."))).toEqual([]);
  });

  test("does not replace a database in use", async () => {
    const { stop } = await home.serve(["--no-worker"]);
    try {
      const refused = await restore(home, [made.file, "--yes"]);
      expect([refused.exitCode, errorOf(refused).message]).toEqual([1, expect.stringContaining("is in use")]);
    } finally {
      await stop();
    }
  });

  test("a damaged backup changes nothing", async () => {
    const bytes = readFileSync(made.file);
    const damaged = join(home.folder, "damaged.tar.gz");
    const before = await listProducts(home);
    for (const content of [bytes.subarray(0, -9), bytes.subarray(0, bytes.length / 2), Buffer.from("none")]) {
      writeFileSync(damaged, content);
      for (const refused of [await home.json(["backup", "verify", damaged]), await restore(home, [damaged, "--yes"])]) {
        expect([refused.exitCode, errorOf(refused).kind]).toEqual([1, "failed"]);
        expect(errorOf(refused).message).toMatch(/^\S+damaged\.tar\.gz: /);
      }
    }
    expect(await listProducts(home)).toBe(before);
    expect(readdirSync(home.folder).filter((name) => /\.(?:content|restored)/.test(name))).toEqual([]);
  });

  test("a file that does not exist is a usage error", async () => {
    for (const args of [
      ["verify", "none.tar.gz"],
      ["verify", home.folder],
      ["restore", "none.tar.gz", "--yes"],
      ["restore", made.file, "--sealing-key", "none.key", "--yes"],
    ]) {
      const refused = await home.json(["backup", ...args]);
      expect([refused.exitCode, errorOf(refused).kind]).toEqual([2, "usage"]);
    }
  });

  test("a sealing key is never replaced, and one that does not open the secrets is not copied", async () => {
    const file = join(home.folder, "keyed.tar.gz");
    writeFileSync(`${file}.key`, "another key");
    const refused = await home.json(["backup", "create", file, "--with-sealing-key"]);
    expect([refused.exitCode, errorOf(refused).message]).toEqual([1, `${file}.key already exists`]);
    expect([existsSync(file), readFileSync(`${file}.key`, "utf8")]).toEqual([false, "another key"]);
    rmSync(`${file}.key`);
    const wrong = await home.json(["backup", "create", file, "--with-sealing-key"], {
      env: { STARPOST_KEY: "7".repeat(64) },
    });
    expect([wrong.exitCode, errorOf(wrong).message]).toEqual([1, expect.stringContaining("does not open")]);
    expect([existsSync(file), existsSync(`${file}.key`)]).toEqual([false, false]);
  });

  test.skipIf(!existsSync("/proc/self"))("an error of the target names the target", async () => {
    const refused = await home.json(["backup", "create", "/proc/shop.tar.gz"]);
    expect([refused.exitCode, errorOf(refused).message]).toEqual([1, "/proc/shop.tar.gz: does not exist"]);
  });

  test("refuses backups of newer versions, of other formats, and of the other database", async () => {
    const other = dialect === "SQLite" ? "postgres" : "sqlite";
    for (const change of [{ schema: 9_999 }, { format_version: 2 }, { dialect: other }, { format: "another" }]) {
      const forged = await forge(home, made.file, change);
      const refused = await restore(home, [forged, "--yes"]);
      expect([refused.exitCode, errorOf(refused).kind]).toEqual([1, "failed"]);
    }
  });

  test("refuses backups of older versions, and names the commit that can upgrade them", async () => {
    const forged = await forge(home, made.file, { schema: 22 });
    for (const refused of [await restore(home, [forged, "--yes"]), await home.json(["backup", "verify", forged])]) {
      expect([refused.exitCode, errorOf(refused)]).toMatchObject([1, { hint: expect.stringContaining("af372b16") }]);
    }
  });

  test("a database with other tables is not replaced", async () => {
    const { home: another, database: place } = await openHome(dialect);
    if (dialect === "SQLite") {
      const file = new SqliteFile(place);
      file.execute("create table notes (text text)");
      file.close();
    } else await execute("create table notes (text text)", place);
    const refused = await restore(another, [made.file, "--yes"]);
    expect([refused.exitCode, errorOf(refused).message]).toEqual([1, expect.stringContaining("other tables")]);
    expect((await another.json(["backup", "create"])).exitCode).toBe(1);
  });

  test("restores to an empty place, with the sealing key", async () => {
    const { home: another } = await openHome(dialect);
    const without = await restore(another, [made.file]);
    expect([without.exitCode, without.data.opens_secrets]).toEqual([0, false]);
    const args = [made.file, "--sealing-key", made.sealing_key_file ?? "", "--yes"];
    const { data, exitCode } = await restore(another, args);
    expect([exitCode, data.opens_secrets]).toEqual([0, true]);
    expect(statSync(join(another.folder, "starpost.key")).mode & 0o777).toBe(0o600);
    expect(await listProducts(another)).toBe(products);
    // The keys of this machine stay.
    const third = homes.open();
    await third.init();
    const [own] = readFileSync(join(third.folder, "starpost.key"), "utf8").split("\n");
    const withKey = await restore(third, args, {
      env: { STARPOST_DATABASE: another.env["STARPOST_DATABASE"] ?? join(third.folder, "starpost.db") },
    });
    expect(withKey.data.opens_secrets).toBe(true);
    expect(readFileSync(join(third.folder, "starpost.key"), "utf8").split("\n")[0]).toBe(own);
  });

  test("keeps photos with their bytes, sizes, and thumbnails", async () => {
    const [{ home: shop, database: source }, { home: another, database: target }] = [
      await openHome(dialect),
      await openHome(dialect),
    ];
    const review = writeInto(shop, "review.json", JSON.stringify(aReview()));
    const { data } = await shop.json<{ image_upload_token: string }>(["reviews", "create", "--input", review]);
    const photo = join(shop.folder, "photo.jpg");
    writeFileSync(photo, await takePhoto());
    const upload = ["images", "upload", "--image-upload-token", data.image_upload_token, "--image-file", photo];
    expect((await shop.run(upload)).exitCode).toBe(0);
    const { data: kept } = await shop.json<Made>(["backup", "create"]);
    expect((await restore(another, [kept.file])).exitCode).toBe(0);
    const readPhotos = (from: string) => readRows("select * from review_images", from);
    const photos = await readPhotos(source);
    expect(photos).toEqual([expect.objectContaining({ photo_type: "image/webp" })]);
    expect(await readPhotos(target)).toEqual(photos);
    const account = "select photo_bytes from account_versions";
    expect(await readRows(account, target)).toEqual(await readRows(account, source));
  });

  test("never replaces a file, and writes to a folder", async () => {
    expect((await home.json(["backup", "create", made.file])).exitCode).toBe(1);
    const folder = join(home.folder, "imports");
    const { data } = await home.json<Made>(["backup", "create", folder]);
    expect(data.file.startsWith(`${folder}/starpost-`)).toBe(true);
    rmSync(data.file);
    const { data: created } = await home.json<Made>(["backup", "create", join(folder, "new/")]);
    expect(created.file.startsWith(`${folder}/new/starpost-`)).toBe(true);
    rmSync(join(folder, "new"), { recursive: true });
    const { data: listed } = await home.json<{ exists: boolean }[]>(["backup", "list"]);
    expect(listed.map(({ exists }) => exists)).toEqual([false, false, true]);
  });

  test("the database is named without its password", async () => {
    const { stdout } = await home.run(["backup", "list"]);
    expect(`${stdout}${readFileSync(join(home.folder, "backups.json"), "utf8")}`).not.toContain("password");
    expect(database).toBeTruthy();
  });
});

if (!isOnPostgres)
  test.skip(`backups on ${hasDump ? postgresSkipped : "PostgreSQL: skipped because pg_dump is not installed"}`);

test("a damaged database is replaced, and can be kept", async () => {
  const home = homes.open();
  await home.run(["products", "import", "fixtures/good/products.csv"]);
  const products = await listProducts(home);
  const { data: made } = await home.json<Made>(["backup", "create", join(home.folder, "shop.tar.gz")]);
  const path = join(home.folder, "starpost.db");
  const bytes = readFileSync(path).fill(1, 0, 4_096);
  writeFileSync(path, bytes);
  writeFileSync(`${path}-wal`, "a log of the damaged database");
  expect((await home.json(["backup", "create"])).exitCode).not.toBe(0);
  expect((await restore(home, [made.file])).exitCode).toBe(2);
  const { data } = await restore(home, [made.file, "--yes", "--keep-replaced"]);
  expect(readFileSync(data.replaced_file ?? "")).toEqual(bytes);
  expect(await listProducts(home)).toBe(products);
});

test("a database that does not exist has no backup", async () => {
  const home = homes.open();
  const { exitCode } = await home.json(["backup", "create"]);
  expect([exitCode, existsSync(join(home.folder, "starpost.db"))]).toEqual([1, false]);
  expect((await home.json<unknown[]>(["backup", "list"])).data).toEqual([]);
});

test("backups of PostgreSQL need its programs", async () => {
  const home = homes.open({ STARPOST_DATABASE: "postgres://user:secret@127.0.0.1:1/shop" });
  const refused = await home.json(["backup", "create"]);
  expect([refused.exitCode, refused.stderr.includes("secret")]).toEqual([5, false]);
});

test("a moved backup is restored from its new place", async () => {
  const home = homes.open();
  await home.init();
  const { data: made } = await home.json<Made>(["backup", "create"]);
  const moved = join(home.folder, "moved.tar.gz");
  renameSync(made.file, moved);
  expect((await restore(home, [moved, "--yes"])).exitCode).toBe(0);
});

test("a server makes backups, and reports them", async () => {
  const home = homes.open();
  // Created if it does not exist.
  const folder = join(home.folder, "disk", "kept");
  const list = async () => (await home.json<ListedBackup[]>(["backup", "list"])).data;
  const { stop } = await home.serve(["--no-worker", "--backup-every", "1h", "--backup-folder", folder]);
  await expect.poll(() => list()).toHaveLength(1);
  const [made] = await list();
  expect(made).toMatchObject({ scheduled: true, exists: true });
  expect(await stop()).toBe(0);
  expect((await home.json(["backup", "verify", made?.file ?? ""])).exitCode).toBe(0);
  expect(readdirSync(folder)).toHaveLength(1);
}, 120_000);

test("a schedule deletes what a killed process of it has left behind, and nothing else", async () => {
  const home = homes.open();
  await home.run(["products", "list"]);
  const folder = join(home.folder, "backups");
  mkdirSync(folder);
  const schedule = [hostname(), home.folder, join(home.folder, "starpost.db")].join("\n");
  const mark = `scheduled-${createHash("sha256").update(schedule).digest("hex").slice(0, 12)}`;
  const others = ["starpost-20260101T000000Z.tar.gz.0123456789ab.content", `starpost.${mark}.tar.gz`];
  const left = ["content", "content-journal", "draft"].map(
    (name) => `starpost-20260101T000000Z.tar.gz.${mark}.${name}`,
  );
  for (const name of [...others, ...left]) writeFileSync(join(folder, name), "");
  const { stop } = await home.serve(["--no-worker", "--backup-every", "1h"]);
  await expect.poll(() => existsSync(join(home.folder, "backups.json")), { timeout: 60_000 }).toBe(true);
  await stop();
  const made = expect.stringMatching(/^starpost-\d+T\d+Z\.tar\.gz$/);
  expect(readdirSync(folder).toSorted()).toEqual([others[0], made, others[1]]);
}, 120_000);

test.each([
  [["--backup-keep", "3"], 2],
  [["--backup-folder", "x"], 2],
  [["--backup-every", "0h"], 2],
  [["--backup-every", "1 hour"], 2],
])("serve %j is refused", async (flags, status) => {
  expect((await homes.open().run(["serve", "--port", "0", ...flags])).exitCode).toBe(status);
});
