import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Homes, noticesOf, remoteEnv } from "../support/starpost.ts";

/** A user that is not in the list of users, as in a container. Only root can become another user. */
const otherUser = 54_321;
const isRoot = process.getuid?.() === 0;

const homes = new Homes();
const folder = mkdtempSync(join(tmpdir(), "starpost-readonly-"));
const products = join(folder, "products.csv");
let server: Awaited<ReturnType<ReturnType<Homes["open"]>["serve"]>>;

beforeAll(async () => {
  copyFileSync("fixtures/good/products.csv", products);
  mkdirSync(join(folder, "home"));
  chmodSync(products, 0o644);
  for (const path of [folder, join(folder, "home")]) chmodSync(path, 0o555);
  const home = homes.open();
  await home.run(["products", "import", "fixtures/good/products.csv"]);
  server = await home.serve(["--no-worker"]);
});
afterAll(async () => {
  await server.stop();
  homes.remove();
  for (const path of [folder, join(folder, "home")]) chmodSync(path, 0o755);
  rmSync(folder, { recursive: true });
});

/** Places in which nothing can be kept. */
const places: Readonly<Record<string, Record<string, string>>> = {
  "without HOME, as a user that is not in the list of users": {},
  "with a HOME that does not exist": { HOME: "/nonexistent" },
  "with a folder that is not writable": { STARPOST_HOME: join(folder, "home") },
};

/** Mounts a folder read-only in a namespace of its own, and becomes the other user. */
const mountAndRun = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift &&
  exec setpriv --reuid=${otherUser} --regid=${otherUser} --clear-groups "$@"`;

const canMount = isRoot && spawnSync("unshare", ["-m", "setpriv", "--version"]).status === 0;

/** @param wrapper a command that becomes the other user itself */
async function run(args: readonly string[], env: Record<string, string>, wrapper?: readonly string[]) {
  const { exitCode, stdout, stderr } = await spawnOther(args, env, wrapper);
  return { exitCode, stdout, stderr };
}

function spawnOther(args: readonly string[], env: Record<string, string>, wrapper: readonly string[] = []) {
  const options = { cwd: folder, reject: false, extendEnv: false, timeout: 60_000 };
  const variables = {
    PATH: process.env["PATH"] ?? "",
    NODE_DISABLE_COMPILE_CACHE: "1",
    STARPOST_KEYRING: "off",
    ...env,
  };
  const [file = "", ...words] = [...wrapper, process.execPath, resolve("bin/starpost.js"), ...args];
  const user = wrapper.length === 0 ? { uid: otherUser, gid: otherUser } : {};
  return execa(file, words, { ...options, ...user, env: variables });
}

const kindOf = ({ stderr }: { readonly stderr: string }) =>
  (JSON.parse(stderr) as { readonly error: { readonly kind: string } }).error.kind;

// Root may write everywhere, and others cannot become another user.
describe.runIf(isRoot)("as another user", () => {
  describe.each(Object.entries(places))("%s", (_, place) => {
    test("reads a remote account, and says that nothing can be kept", async () => {
      const { exitCode, stdout, stderr } = await run(["products", "list", "--json"], {
        ...place,
        ...remoteEnv(server),
      });
      expect([exitCode, stdout.includes("teapot") || stdout.includes("pot-05")], stderr).toEqual([0, true]);
      expect(noticesOf({ stderr })).toMatch(/^Cannot use .*limits/);
    });

    test("a dry run works; an import is refused before it sends anything, because it could not be resumed", async () => {
      const env = { ...place, ...remoteEnv(server) };
      expect((await run(["products", "import", products, "--dry-run", "--json"], env)).exitCode).toBe(0);
      const refused = await run(["products", "import", products, "--update", "--json"], env);
      expect([refused.exitCode, kindOf(refused)]).toEqual([1, "failed"]);
      expect(refused.stderr).toContain("nothing was sent");
    });

    test("doctor names the folders, and checks everything else", async () => {
      const { stdout } = await run(["doctor", "--json"], { ...place, ...remoteEnv(server) });
      const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; fix?: string | null }[] };
      const problems = checks.filter(({ status }) => status === "problem");
      expect(problems.map(({ name }) => name)).toEqual(["config-folder", "data-folder"]);
    });

    test("the embedded database is refused with a reason", async () => {
      const refused = await run(["products", "list", "--json"], place);
      expect([refused.exitCode, kindOf(refused)]).not.toEqual([0, "bug"]);
      expect(kindOf(refused)).not.toBe("bug");
      expect((await run(["profile", "list"], place)).exitCode).toBe(0);
    });
  });

  test("a database elsewhere can be used", async () => {
    const place = mkdtempSync(join(tmpdir(), "starpost-elsewhere-"));
    chmodSync(place, 0o777);
    const env = { STARPOST_DATABASE: join(place, "shop.db"), STARPOST_KEY: "ab".repeat(32) };
    const { exitCode, stderr } = await run(["groups", "create", "pots", "--json"], env);
    expect([exitCode, existsSync(env.STARPOST_DATABASE)], stderr).toEqual([0, true]);
    rmSync(place, { recursive: true });
  });

  describe.each([
    ["of another user", (home: string) => chmodSync(home, 0o755)],
    [
      "on which every folder and file is read-only",
      (home: string) => {
        execFileSync("chown", ["-R", String(otherUser), home]);
        execFileSync("chmod", ["-R", "a-w", home]);
      },
    ],
  ])("with a home %s, which has data", (_, change) => {
    const home = homes.open();
    const env = { STARPOST_HOME: home.folder };
    beforeAll(async () => {
      await home.run(["orders", "import", "fixtures/good/orders.csv"]);
      change(home.folder);
    });

    const commands = [
      ["orders", "list", "--json"],
      ["products", "plan", products, "--json"],
      ["products", "import", products, "--json"],
      ["serve", "--port", "0", "--json"],
      ["alias", "set", "co", "orders list", "--json"],
      ["profile", "add", "shop", "--database", "./shop.db", "--json"],
      ["auth", "token", "--json"],
    ];
    test.each(commands)("%s %s names a file and what to do", async (...args) => {
      const refused = await run(args, env);
      const { error } = JSON.parse(refused.stderr) as { error: { kind: string; message: string; hint?: string } };
      expect([refused.exitCode, refused.stdout, error.kind]).toEqual([1, "", expect.not.stringMatching("bug")]);
      expect(`${error.message} ${error.hint}`).toMatch(new RegExp(`${home.folder}|STARPOST_HOME`));
    });

    test("imports are listed, or refused with a reason; doctor does not fail", async () => {
      const listed = await run(["imports", "list", "--json"], env);
      if (listed.exitCode === 0) expect(JSON.parse(listed.stdout)).toHaveLength(1);
      else expect([listed.exitCode, kindOf(listed)]).toEqual([1, "failed"]);
      const { stdout } = await run(["doctor", "--json"], env);
      const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; fix?: string | null }[] };
      expect(checks.find(({ name }) => name === "data-folder")).toMatchObject({ status: "problem" });
      for (const { fix } of checks) expect(fix ?? "").not.toContain("doctor --verbose");
    });
  });

  test.runIf(canMount)("on a read-only file system, imports are listed, and the reason is named", async () => {
    const home = homes.open();
    await home.run(["orders", "import", "fixtures/good/orders.csv"]);
    execFileSync("chown", ["-R", String(otherUser), home.folder]);
    const env = { STARPOST_HOME: home.folder };
    const onMount = (args: readonly string[]) =>
      run(args, env, ["unshare", "-m", "sh", "-c", mountAndRun, "sh", home.folder]);
    const listed = await onMount(["imports", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
    for (const args of [
      ["orders", "list", "--json"],
      ["orders", "import", products, "--json"],
    ]) {
      const refused = await onMount(args);
      expect([refused.exitCode, refused.stderr.includes("read-only file system"), kindOf(refused)]).toEqual([
        1,
        true,
        expect.not.stringMatching("bug"),
      ]);
    }
    const { stdout } = await onMount(["doctor", "--json"]);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; fix?: string | null }[] };
    expect(checks.find(({ name }) => name === "data-folder")?.fix).toContain("STARPOST_HOME");
  });

  test("a database elsewhere can be used, planned for, and served, but an import needs a folder", async () => {
    const place = mkdtempSync(join(tmpdir(), "starpost-elsewhere-"));
    chmodSync(place, 0o777);
    const env = {
      STARPOST_HOME: join(folder, "home"),
      STARPOST_DATABASE: join(place, "shop.db"),
      STARPOST_KEY: "ab".repeat(32),
    };
    const plan = await run(["products", "plan", products, "--json"], env);
    expect([plan.exitCode, JSON.parse(plan.stdout)], plan.stderr).toMatchObject([0, { rows: { rejected: 0 } }]);
    const refused = await run(["products", "import", products, "--json"], env);
    expect([refused.exitCode, kindOf(refused)]).toEqual([1, "failed"]);
    const served = spawnOther(["serve", "--port", "0", "--no-worker", "--json"], env);
    const [line] = (await once(served.stdout, "data")) as [Buffer];
    const { url } = JSON.parse(String(line)) as { url: string };
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    served.kill("SIGTERM");
    expect((await served).exitCode).toBe(0);
    // With a folder for the journal, it works.
    const imported = await run(["products", "import", products, "--json"], {
      ...env,
      STARPOST_HOME: join(place, "home"),
    });
    expect(imported.exitCode, imported.stderr).toBe(0);
    const settings = { STARPOST_HOME: join(place, "home") };
    expect((await run(["alias", "set", "co", "orders list"], settings)).exitCode).toBe(0);
    expect((await run(["profile", "add", "shop", "--database", "./shop.db"], settings)).exitCode).toBe(0);
    // Without a key in the environment, there is no place for a new one.
    const unsealed = await run(["groups", "create", "pots", "--json"], {
      STARPOST_HOME: join(folder, "home"),
      STARPOST_DATABASE: join(place, "other.db"),
    });
    expect([unsealed.exitCode, kindOf(unsealed)]).toEqual([1, "failed"]);
    expect(unsealed.stderr).toContain("STARPOST_KEY");
    rmSync(place, { recursive: true });
  });

  test("nothing was written", () => {
    expect(readdirSync(join(folder, "home"))).toEqual([]);
    expect(existsSync("/nonexistent")).toBe(false);
  });
});

test.skipIf(isRoot)("other users: skipped because only root can run a program as another user", () => {});
