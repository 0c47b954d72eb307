import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createSealer } from "../../src/engine/kernel/sealer.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { type Home, Homes } from "../support/starpost.ts";
import { chooseSize } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const readKeys = (home: Home) =>
  readFileSync(join(home.folder, "starpost.key"), "utf8")
    .trim()
    .split("\n")
    .map((line) => Buffer.from(line, "hex"));

const accounts = chooseSize(4_000, 10_000);

/** Adds accounts whose secrets are their numbers. */
async function addAccounts(home: Home): Promise<void> {
  const database = await openDatabase(join(home.folder, "starpost.db"), { nowMs: 1 });
  const sealer = createSealer(Buffer.concat(readKeys(home)));
  for (let start = 0; start < accounts; start += 1_000) {
    const rows = Array.from({ length: 1_000 }, (_, at) => ({
      app_key: `key${start + at}`,
      secret_sealed: sealer.seal(String(start + at)),
      created_at: 1,
    }));
    await database.db.insertInto("accounts").values(rows).execute();
  }
  await database.db.destroy();
}

/** Opens the secret of every added account with the keys of the file. Returns the number sealed with the current one. */
async function openAll(home: Home): Promise<number> {
  const database = await openDatabase(join(home.folder, "starpost.db"), { nowMs: 1 });
  const sealer = createSealer(Buffer.concat(readKeys(home)));
  const rows = await database.db.selectFrom("accounts").selectAll().where("created_at", "=", 1).execute();
  await database.db.destroy();
  expect(rows.map((row) => `key${sealer.open(row.secret_sealed)}`)).toEqual(rows.map((row) => row.app_key));
  return rows.filter((row) => row.secret_sealed.startsWith(sealer.prefix())).length;
}

test("a rotation that is killed loses nothing and is continued with the same key", async () => {
  const home = homes.open();
  await home.init();
  await addAccounts(home);
  const killed = home.start(["sealing-key", "rotate"]);
  while (readKeys(home).length === 1) await setTimeout(5);
  await setTimeout(randomBytes(1).readUInt8() % 50);
  killed.kill("SIGKILL");
  await killed;
  const current = readKeys(home)[0];
  const done = await openAll(home);
  const { data, exitCode } = await home.json<{ is_new_key: boolean; resealed: number }>(["sealing-key", "rotate"]);
  if (done < accounts) {
    expect([exitCode, data]).toMatchObject([0, { is_new_key: false, unreadable: 0 }]);
    expect(readKeys(home)[0]).toEqual(current);
  }
  expect(await openAll(home)).toBe(accounts);
  expect((await home.json(["sealing-key", "retire", "--yes"])).exitCode).toBe(0);
  expect(readKeys(home)).toHaveLength(1);
  expect(await openAll(home)).toBe(accounts);
});

test("a running server follows a rotation, and old keys are deleted only when they are not needed", async () => {
  const home = homes.open();
  const { url, app_key, secret, stop } = await home.serve(["--no-worker"]);
  const requestToken = async () => {
    const grant = { client_id: app_key, client_secret: secret, grant_type: "client_credentials" };
    return (await fetch(`${url}/oauth/token?${new URLSearchParams(grant).toString()}`, { method: "POST" })).status;
  };
  const [old] = readKeys(home);
  expect((await home.json(["sealing-key", "rotate"])).data).toEqual({ is_new_key: true, resealed: 1, unreadable: 0 });
  expect(readKeys(home)).toEqual([expect.any(Buffer), old]);
  expect(statSync(join(home.folder, "starpost.key")).mode & 0o777).toBe(0o600);
  expect(await requestToken()).toBe(200);
  expect((await home.run(["sealing-key", "retire"])).exitCode).toBe(2);
  expect((await home.json(["sealing-key", "retire", "--yes"])).data).toEqual({ retired: 1 });
  expect(await requestToken()).toBe(200);
  expect(await stop()).toBe(0);
  expect((await home.run(["doctor"])).stdout).toContain(app_key);
});

test("keys in STARPOST_KEY are rotated by changing the variable", async () => {
  const [old, next] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  const home = homes.open({ STARPOST_KEY: old });
  await home.init();
  expect((await home.run(["sealing-key", "rotate"])).exitCode).toBe(2);
  const both = { env: { STARPOST_KEY: `${next},${old}` } };
  expect((await home.json(["sealing-key", "rotate"], both)).data).toMatchObject({ is_new_key: false, resealed: 1 });
  expect((await home.run(["sealing-key", "retire", "--yes"], both)).exitCode).toBe(2);
  expect((await home.run(["auth", "status"], { env: { STARPOST_KEY: next } })).exitCode).toBe(0);
  expect((await home.run(["auth", "status"])).exitCode).not.toBe(0);
});
