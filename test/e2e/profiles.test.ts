import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProfileRecord } from "../../src/cli/commands/profile/records.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
const service = homes.open();
let server: Awaited<ReturnType<typeof service.serve>>;

beforeAll(async () => {
  server = await service.serve();
});

afterAll(async () => {
  await server.stop();
  homes.remove();
});

const account = () => ["--base-url", server.url, "--app-key", server.app_key, "--secret-stdin"];

function signIn(home: Home, name: string) {
  return home.run(["auth", "login", ...account(), "--profile", name], { input: server.secret });
}

async function listed(home: Home): Promise<ProfileRecord[]> {
  return (await home.json<ProfileRecord[]>(["profile", "list"])).data;
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}

describe("init", () => {
  test("creates the account of this machine, and finds it when repeated", async () => {
    const home = homes.open();
    const [first, again] = [await home.json(["init", "--local"]), await home.json(["init", "--local"])];
    expect([first.exitCode, again.exitCode]).toEqual([0, 0]);
    expect(again.data).toEqual(first.data);
    expect(first.data).toMatchObject({ profile: "local", mode: "local", signed_in: true });
    expect((await home.run(["init", "--local"])).stdout).toContain("starpost serve");
  });

  test("signs in to a remote service, repeatedly, and switches back", async () => {
    const home = homes.open();
    for (const role of ["first", "second"]) {
      const ran = await home.json(["init", ...account(), "--profile", "shop", "--live"], { input: server.secret });
      expect([role, ran.exitCode, ran.data]).toMatchObject([role, 0, { profile: "shop", base_url: server.url }]);
    }
    expect((await listed(home)).find(({ name }) => name === "shop")).toMatchObject({
      current: true,
      live: true,
      signed_in: true,
      secret_in: "file",
    });
    expect((await home.run(["init", "--local"])).exitCode).toBe(0);
    expect((await listed(home)).find(({ current }) => current)).toMatchObject({ name: "local" });
  });

  test.each([
    [["init"], "--local or --base-url"],
    [["init", "--base-url", "http://127.0.0.1:9"], "--app-key"],
    [["init", "--base-url", "http://127.0.0.1:9", "--app-key", "k"], "--secret-stdin"],
    [["init", "--local", "--base-url", "http://127.0.0.1:9"], "--local"],
    [["profile", "add", "x"], "--base-url"],
    [["profile", "set", "x"], "--by"],
  ])("%j names the missing value if it cannot prompt", async (args, expected) => {
    const ran = await homes.open().json(args);
    expect([ran.exitCode, ran.stdout]).toEqual([2, ""]);
    expect(ran.stderr).toContain(expected);
  });
});

describe("profiles", () => {
  test("are added, selected, marked, shown, and removed with their secrets", async () => {
    const home = homes.open();
    const added = await home.json<ProfileRecord>(["profile", "add", "shop", ...account()], { input: server.secret });
    expect(added.data).toEqual({
      name: "shop",
      mode: "remote",
      base_url: server.url,
      database: null,
      app_key: server.app_key,
      current: false,
      live: false,
      by: null,
      signed_in: true,
      secret_in: "file",
    });
    await home.run(["profile", "add", "try", "--database", join(home.folder, "try.db"), "--live"]);
    expect((await listed(home)).map(({ name, current, live }) => [name, current, live])).toEqual([
      ["local", true, false],
      ["shop", false, false],
      ["try", false, true],
    ]);
    expect((await home.json(["profile", "use", "shop"])).data).toMatchObject({ name: "shop", current: true });
    expect((await home.json(["auth", "status"])).data).toMatchObject({ profile: "shop", signed_in: true });
    expect((await home.json(["profile", "set", "shop", "--live"])).data).toMatchObject({ live: true });
    expect((await home.json(["profile", "add", "shop", "--no-live"])).data).toMatchObject({
      live: false,
      signed_in: true,
    });
    const shown = await home.json(["profile", "show"]);
    expect(shown.data).toMatchObject({ name: "shop", secret_file: join(home.folder, "credentials.json") });
    const asked = await home.run(["profile", "remove", "shop"]);
    expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const removed = await home.json(["profile", "remove", "shop", "--yes"]);
    expect(removed.data).toEqual({
      profile: "shop",
      secret_removed_from: ["file"],
      tokens_removed: 1,
      current: "local",
    });
    expect(removed.stderr).toContain("local");
    for (const path of filesOf(home.folder).filter((one) => one.endsWith(".json"))) {
      expect(readFileSync(path, "utf8")).not.toContain(server.secret);
    }
    expect((await home.run(["profile", "use", "shop"])).exitCode).toBe(2);
  });

  test("of a database use the embedded engine, and are served while current", async () => {
    const home = homes.open();
    const path = join(home.folder, "deep", "shop.db");
    await home.run(["profile", "add", "here", "--database", path]);
    expect(existsSync(path)).toBe(false);
    await home.run(["profile", "use", "here"]);
    expect((await home.run(["init", "--local", "--profile", "here"])).exitCode).toBe(0);
    const status = await home.json<{ app_key: string }>(["auth", "status"]);
    expect(status.data).toMatchObject({ profile: "here", mode: "local", signed_in: true });
    expect(existsSync(path)).toBe(true);
    const local = await home.json<{ app_key: string }>(["account", "create", "--profile", "local"]);
    expect(local.data.app_key).not.toBe(status.data.app_key);
    const served = await home.serve();
    expect(served.app_key).toBe(status.data.app_key);
    await served.stop();
    const other = { STARPOST_DATABASE: join(home.folder, "other.db") };
    await home.run(["account", "create"], { env: other });
    expect((await home.json(["auth", "status"], { env: other })).data).toMatchObject({ profile: "local" });
  });

  test("store a database password separately, and reject one in a flag", async () => {
    const home = homes.open();
    const flag = ["profile", "add", "pg", "--database"];
    for (const address of ["postgres://me:hidden77@h/db", "postgres://me@h/db?password=hidden77"]) {
      const refused = await home.run([...flag, address, "--verbose"]);
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.not.stringContaining("hidden77")]);
    }
    const ran = await home.json([...flag, "postgres://me@127.0.0.1:1/db", "--secret-stdin"], {
      input: "hidden 77%",
    });
    expect(ran.data).toMatchObject({ database: "postgres://me@127.0.0.1:1/db", secret_in: "file" });
    expect(readFileSync(join(home.folder, "profiles.json"), "utf8")).not.toContain("hidden");
    const env = { STARPOST_DATABASE: "postgres://me:other88@127.0.0.1:1/db" };
    const again = await home.json(["profile", "add", "pg2"], { env });
    expect(again.data).toMatchObject({ database: "postgres://me@127.0.0.1:1/db", secret_in: "file" });
    const unreachable = await home.run(["auth", "status", "--profile", "pg2", "--verbose"]);
    expect([unreachable.exitCode, unreachable.stderr]).toEqual([5, expect.not.stringContaining("other88")]);
  });

  test("are all stored when two processes add them at the same time", async () => {
    const home = homes.open();
    const names = Array.from({ length: 8 }, (_, at) => `p${at}`);
    const ran = await Promise.all(
      names.map((name) => home.runProcess(["profile", "add", name, ...account()], { input: `secret-${name}` })),
    );
    expect(ran.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0));
    expect((await listed(home)).map(({ name }) => name).toSorted()).toEqual(["local", ...names]);
    const secrets = JSON.parse(readFileSync(join(home.folder, "credentials.json"), "utf8")) as object;
    expect(Object.keys(secrets).toSorted()).toEqual(names);
  });

  test("of a former version work unchanged, and are migrated at the next login", async () => {
    const home = homes.open();
    const stored = { base_url: server.url, app_key: server.app_key };
    writeFileSync(join(home.folder, "profiles.json"), JSON.stringify({ current: "old", profiles: { old: stored } }));
    const secrets = { old: { ...stored, secret: server.secret } };
    writeFileSync(join(home.folder, "credentials.json"), JSON.stringify(secrets));
    chmodSync(join(home.folder, "credentials.json"), 0o600);
    expect((await home.json(["auth", "status"])).data).toMatchObject({ profile: "old", signed_in: true });
    expect((await signIn(home, "old")).exitCode).toBe(0);
    expect((await home.json(["auth", "logout"])).data).toMatchObject({ secret_removed_from: ["file"] });
  });
});

describe("a secret", () => {
  test("is not in any output, and only in files readable by their owner", async () => {
    const home = homes.open();
    const outputs = [await signIn(home, "shop")];
    const commands = [
      ["profile", "list"],
      ["profile", "show"],
      ["auth", "status"],
      ["webhooks", "list"],
    ];
    for (const command of [...commands, ["auth", "logout"]]) {
      outputs.push(await home.run([...command, "--verbose"]), await home.json([...command, "--verbose"]));
    }
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain(server.secret);
    for (const path of [home.folder, ...filesOf(home.folder)]) {
      const found = statSync(path);
      expect(`${path} ${(found.mode & 0o777).toString(8)}`).toBe(`${path} ${found.isFile() ? 600 : 700}`);
    }
  });

  test("is deleted by logout, which can be repeated; later commands name the missing secret", async () => {
    const home = homes.open();
    await signIn(home, "shop");
    const [first, second] = [await home.json(["auth", "logout"]), await home.json(["auth", "logout"])];
    expect(first.data).toMatchObject({ profile: "shop", secret_removed_from: ["file"], tokens_removed: 1 });
    expect(second).toMatchObject({ exitCode: 0, data: { secret_removed_from: [], tokens_removed: 0 } });
    const status = await home.json(["auth", "status"]);
    expect(status).toMatchObject({ exitCode: 4, data: { profile: "shop", signed_in: false } });
    expect(status.data).toMatchObject({ reason: expect.any(String) });
    expect((await home.run(["auth", "logout", "--profile", "local"])).exitCode).toBe(2);
    const env = await home.run(["auth", "logout"], { env: remoteEnv(server) });
    expect([env.exitCode, env.stderr]).toEqual([2, expect.stringContaining("Unset STARPOST_BASE_URL")]);
  });

  test("that the service rejects is reported with the reason", async () => {
    const home = homes.open();
    await home.run(["profile", "add", "bad", ...account()], { input: "wrong" });
    const ran = await home.json(["auth", "status", "--profile", "bad"]);
    expect(ran.exitCode).toBe(4);
    expect(ran.data).toMatchObject({ signed_in: false, reason: expect.stringContaining("--profile bad") });
  });

  test("from the environment is not sent to another account", async () => {
    const home = homes.open();
    const args = ["profile", "add", "other", "--base-url", "http://127.0.0.1:9", "--app-key", "k"];
    const ran = await home.json(args, { env: remoteEnv(server) });
    expect(ran.data).toMatchObject({ name: "other", signed_in: false, secret_in: null });
  });
});

describe("a token", () => {
  test("is fetched once by commands that start at the same time", async () => {
    const home = homes.open(remoteEnv(server));
    const tokens = await Promise.all([1, 2, 3, 4].map(() => home.runProcess(["auth", "token"])));
    expect(new Set(tokens.map(({ stdout }) => stdout)).size).toBe(1);
  });

  test("can be used instead of the secret until it is rejected", async () => {
    const { stdout: utoken } = await homes.open(remoteEnv(server)).run(["auth", "token"]);
    const { STARPOST_SECRET: secret = "", ...where } = remoteEnv(server);
    const home = homes.open({ ...where, STARPOST_UTOKEN: utoken });
    expect((await home.run(["auth", "token"])).stdout).toBe(utoken);
    expect((await home.run(["webhooks", "list"])).exitCode).toBe(0);
    expect((await home.json(["auth", "status"])).data).toMatchObject({ profile: "env", signed_in: true });
    expect(existsSync(join(home.folder, "tokens"))).toBe(false);
    const refused = { env: { STARPOST_UTOKEN: "refused" } };
    const ran = await home.json(["webhooks", "list"], refused);
    expect([ran.exitCode, ran.stderr]).toEqual([4, expect.stringContaining("STARPOST_UTOKEN")]);
    expect((await home.json(["auth", "status"], refused)).data).toMatchObject({ signed_in: false });
    const both = { env: { STARPOST_UTOKEN: "refused", STARPOST_SECRET: secret } };
    expect((await home.run(["webhooks", "list"], both)).exitCode).toBe(0);
    const kept = filesOf(join(home.folder, "tokens")).filter((path) => path.endsWith(".json"));
    expect(kept).toHaveLength(1);
    const [before] = kept.map((path) => readFileSync(path, "utf8"));
    expect((await home.run(["webhooks", "list"], both)).exitCode).toBe(0);
    expect(kept.map((path) => readFileSync(path, "utf8"))).toEqual([before]);
  });
});
