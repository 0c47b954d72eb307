import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresServer, takeEmptyDatabase } from "../support/postgres.ts";
import { type Home, Homes, writeInto } from "../support/starpost.ts";

interface Made {
  readonly file: string;
  readonly encrypted: boolean;
  readonly sealing_key_file: string | null;
}
type ErrorOutput = { error: { kind: string; message: string; hint?: string } };

const homes = new Homes();
const drops: (() => Promise<void>)[] = [];
afterAll(async () => {
  homes.remove();
  for (const drop of drops) await drop();
});

const errorOf = ({ stderr }: { stderr: string }) => (JSON.parse(stderr) as ErrorOutput).error;
const listProducts = async (home: Home) => (await home.run(["products", "list", "--json"])).stdout;
const hasDump = spawnSync("pg_dump", ["--version"]).status === 0;
const hasAge = spawnSync("age", ["--version"]).status === 0;

/** Writes a new secret key to a file. */
async function createKey(home: Home, name: string): Promise<{ identity: string; recipient: string }> {
  const key = await generateX25519Identity();
  const identity = writeInto(home, name, `${key}\n`);
  chmodSync(identity, 0o600);
  return { identity, recipient: await identityToRecipient(key) };
}

async function openHome(dialect: string): Promise<Home> {
  if (dialect === "SQLite") return homes.open();
  const { url, drop } = await takeEmptyDatabase();
  drops.push(drop);
  return homes.open({ STARPOST_DATABASE: url });
}

describe.each(["SQLite", ...(postgresServer !== undefined && hasDump ? ["PostgreSQL"] : [])])("on %s", (dialect) => {
  let home: Home;
  let made: Made;
  let products: string;
  let own: { identity: string; recipient: string };
  let other: { identity: string; recipient: string };
  const names = new Set<string>();
  beforeAll(async () => {
    home = await openHome(dialect);
    [own, other] = [await createKey(home, "own.txt"), await createKey(home, "other.txt")];
    await home.run(["products", "import", "fixtures/good/products.csv"]);
    products = await listProducts(home);
    const folder = join(home.folder, "disk");
    mkdirSync(folder);
    const watcher = watch(folder, (_event, name) => names.add(name ?? ""));
    const recipients = [own, other].flatMap(({ recipient }) => ["--recipient", recipient]);
    ({ data: made } = await home.json<Made>(["backup", "create", folder, "--with-sealing-key", ...recipients]));
    watcher.close();
  }, 60_000);

  test("is an age file that only its owner can access", async () => {
    expect(made).toMatchObject({ encrypted: true, file: expect.stringMatching(/\/starpost-\w+\.tar\.gz\.age$/) });
    expect(made.sealing_key_file).toBe(`${made.file}.key.age`);
    for (const file of [made.file, made.sealing_key_file ?? ""]) {
      expect(readFileSync(file, "latin1")).toMatch(/^age-encryption\.org\/v1\n(?:-> X25519 .+\n.+\n){2}--- /);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
    expect((await home.json<Made[]>(["backup", "list"])).data).toMatchObject([{ file: made.file, encrypted: true }]);
    expect((await home.run(["backup", "list"])).stdout).toContain("kept, encrypted");
  });

  test("leaves nothing behind, and writes no copy of a SQLite file to the folder of the backup", () => {
    expect(readdirSync(join(home.folder, "disk"))).toHaveLength(2);
    expect(readdirSync(home.folder).filter((name) => /content|draft/.test(name))).toEqual([]);
    expect([...names].some((name) => name.endsWith(".draft"))).toBe(true);
    expect([...names].some((name) => name.endsWith(".content"))).toBe(dialect === "PostgreSQL");
  });

  test("is verified and restored with the secret key of each recipient, and not without it", async () => {
    const another = await openHome(dialect);
    const stranger = await createKey(another, "stranger.txt");
    const commands = [
      ["backup", "verify", made.file],
      ["backup", "restore", made.file, "--yes"],
    ];
    for (const command of commands) {
      const without = await another.json(command);
      expect([without.exitCode, errorOf(without)]).toMatchObject([2, { hint: expect.stringContaining("--identity") }]);
      const wrong = await another.json([...command, "--identity", stranger.identity]);
      expect([wrong.exitCode, errorOf(wrong)]).toMatchObject([1, { message: expect.stringContaining("stranger.txt") }]);
    }
    expect(existsSync(join(another.folder, "starpost.db"))).toBe(false);
    const [verify = [], restore = []] = commands;
    const verified = await another.json([...verify, "--identity", other.identity]);
    expect([verified.exitCode, verified.data]).toMatchObject([0, { encrypted: true, accounts: 1 }]);
    const key = ["--sealing-key", made.sealing_key_file ?? "", "--identity", own.identity];
    const restored = await another.json<{ opens_secrets: boolean }>([...restore, ...key]);
    expect([restored.exitCode, restored.data]).toMatchObject([0, { opens_secrets: true }]);
    expect(await listProducts(another)).toBe(products);
    expect(readdirSync(join(home.folder, "disk"))).toHaveLength(2);
  });

  test("that is damaged changes nothing", async () => {
    const bytes = readFileSync(made.file);
    const damaged = join(home.folder, "damaged.age");
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bytes.length - 500) ^ 1, bytes.length - 500);
    for (const content of [bytes.subarray(0, -500), changed]) {
      writeFileSync(damaged, content);
      for (const command of [["verify"], ["restore", "--yes"]]) {
        const refused = await home.json(["backup", ...command, damaged, "--identity", own.identity]);
        expect([refused.exitCode, errorOf(refused).kind]).toEqual([1, "failed"]);
        expect(errorOf(refused).message).toMatch(/damaged\.age: the backup is damaged or incomplete/);
      }
    }
    expect(await listProducts(home)).toBe(products);
    expect(readdirSync(home.folder).filter((name) => /\.(?:content|restored)/.test(name))).toEqual([]);
  });

  test("is never read with an identity that others can read", async () => {
    const exposed = writeInto(home, "exposed.txt", readFileSync(own.identity, "utf8"));
    chmodSync(exposed, 0o644);
    for (const command of [["verify"], ["restore", "--yes"]]) {
      const refused = await home.json(["backup", ...command, made.file, "--identity", exposed]);
      expect([refused.exitCode, errorOf(refused).message]).toEqual([1, expect.stringContaining("0644")]);
    }
  });

  test.skipIf(!hasAge)("is decrypted by age, and one that age has encrypted is verified", async () => {
    const folder = homes.open().folder;
    const plain = join(folder, "plain.tar.gz");
    expect(spawnSync("age", ["--decrypt", "-i", other.identity, "-o", plain, made.file]).status).toBe(0);
    expect(spawnSync("tar", ["tzf", plain]).stdout.toString()).toMatch(/^manifest\.json\nstarpost\.(?:db|dump)\n$/);
    const encrypted = join(folder, "plain.tar.gz.age");
    expect(spawnSync("age", ["--encrypt", "-r", own.recipient, "-o", encrypted, plain]).status).toBe(0);
    const verified = await home.json(["backup", "verify", encrypted, "--identity", own.identity]);
    expect([verified.exitCode, verified.data]).toMatchObject([0, { encrypted: true }]);
  });
});

test("a server makes encrypted backups that it cannot read, and deletes old ones", async () => {
  const home = homes.open();
  const { recipient } = await createKey(home, "own.txt");
  await home.init();
  const list = async () => (await home.json<{ file: string; exists: boolean }[]>(["backup", "list"])).data;
  const schedule = ["--no-worker", "--backup-every", "1h", "--backup-keep", "1", "--recipient", recipient];
  const first = await home.serve(schedule);
  await expect.poll(() => list()).toHaveLength(1);
  expect(await first.stop()).toBe(0);
  const [made] = await list();
  expect(made).toMatchObject({ scheduled: true, encrypted: true, exists: true });
  expect(readFileSync(made?.file ?? "", "latin1")).toMatch(/^age-encryption\.org\/v1\n/);
  // As if it had been made two hours ago.
  const records = join(home.folder, "backups.json");
  const old = new Date(Date.now() - 7_200_000).toISOString();
  writeFileSync(records, readFileSync(records, "utf8").replaceAll(/"created_at": "[^"]+"/g, `"created_at": "${old}"`));
  // Names have a resolution of one second.
  await setTimeout(1_000);
  const { stop } = await home.serve(schedule);
  await expect.poll(async () => (await list()).map(({ file }) => file), { timeout: 60_000 }).not.toEqual([made?.file]);
  await expect.poll(() => existsSync(made?.file ?? ""), { timeout: 60_000 }).toBe(false);
  await stop();
  expect(await list()).toMatchObject([{ encrypted: true, exists: true }]);
}, 120_000);

test.each([
  [["backup", "create", "--recipient", "ann@mail.example"]],
  [["backup", "create", "--recipient", ""]],
  [["serve", "--port", "0", "--backup-every", "1h", "--recipient", "age1qqq"]],
  [["serve", "--port", "0", "--recipient", "age1qqq"]],
])("%j is refused", async (args) => {
  const home = homes.open();
  await home.init();
  const refused = await home.json(args);
  expect([refused.exitCode, errorOf(refused).kind]).toEqual([2, "usage"]);
  expect(existsSync(join(home.folder, "backups"))).toBe(false);
});
