import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";

const isInstalled = ["dbus-daemon", "gnome-keyring-daemon", "dbus-send"].every(
  (program) => spawnSync(program, ["--version"]).error === undefined,
);
if (!isInstalled) process.stderr.write("Keyring: skipped because gnome-keyring and dbus are not installed\n");

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

/** A separate session with an unlocked keyring. */
async function openSession() {
  const folder = mkdtempSync(join(tmpdir(), "starpost-session-"));
  const base = { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_RUNTIME_DIR: folder };
  const bus = execa("dbus-daemon", ["--session", "--nofork", "--print-address"], {
    env: base,
    extendEnv: false,
    reject: false,
    stderr: "ignore",
  });
  const address = await new Promise<string>((found, failed) => {
    bus.stdout.once("data", (data: Buffer) => found(data.toString().trim()));
    void bus.then(() => failed(new Error("the session bus exited")));
  });
  const env = { ...base, DBUS_SESSION_BUS_ADDRESS: address };
  const daemon = execa("gnome-keyring-daemon", ["--foreground", "--unlock", "--components=secrets"], {
    env,
    extendEnv: false,
    reject: false,
    stdout: "ignore",
    stderr: "ignore",
    input: "password",
  });
  const send = (...args: string[]) =>
    execFileSync("dbus-send", ["--session", "--print-reply", ...args], { env, stdio: "pipe" }).toString();
  onTestFinished(async () => {
    daemon.kill();
    bus.kill();
    await Promise.all([daemon, bus]);
    rmSync(folder, { recursive: true, force: true });
  });
  await expect
    .poll(() => send("--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"), { timeout: 30_000 })
    .toContain("org.freedesktop.secrets");
  const lock = () =>
    send(
      "--dest=org.freedesktop.secrets",
      "/org/freedesktop/secrets",
      "org.freedesktop.Secret.Service.Lock",
      "array:objpath:/org/freedesktop/secrets/collection/login",
    );
  const { PATH: _path, ...session } = env;
  return { env: { ...session, STARPOST_KEYRING: "" }, lock };
}

function signIn(home: Home, name: string) {
  const account = ["--base-url", server.url, "--app-key", server.app_key, "--secret-stdin"];
  return home.json<{ secret_in: string }>(["auth", "login", ...account, "--profile", name], { input: server.secret });
}

const deleteTokens = (home: Home) => rmSync(join(home.folder, "tokens"), { recursive: true });

describe.skipIf(!isInstalled)("the system's keyring", () => {
  test("stores the secret, returns it for a token, and deletes it", async () => {
    const session = await openSession();
    const home = homes.open(session.env);
    expect((await signIn(home, "shop")).data.secret_in).toBe("keyring");
    expect(existsSync(join(home.folder, "credentials.json"))).toBe(false);
    expect(readFileSync(join(home.folder, "profiles.json"), "utf8")).not.toContain(server.secret);
    deleteTokens(home);
    expect((await home.json(["auth", "status"])).data).toMatchObject({ signed_in: true });
    const shown = await home.json(["profile", "show"]);
    expect(shown.data).toMatchObject({ secret_in: "keyring", secret_file: null });
    const removed = await home.json(["auth", "logout"]);
    expect(removed.data).toMatchObject({ secret_removed_from: ["keyring"], tokens_removed: 1 });
    expect((await home.json(["auth", "logout"])).data).toMatchObject({ secret_removed_from: [] });
    expect((await home.json(["auth", "status"])).exitCode).toBe(4);
  });

  test("takes over the secret from a file at the next login", async () => {
    const session = await openSession();
    const home = homes.open(session.env);
    const off = homes.open({ STARPOST_HOME: home.folder });
    expect((await signIn(off, "shop")).data.secret_in).toBe("file");
    expect((await home.json(["auth", "status"])).data).toMatchObject({ signed_in: true });
    expect(readFileSync(join(home.folder, "credentials.json"), "utf8")).toContain(server.secret);
    expect((await signIn(home, "shop")).data.secret_in).toBe("keyring");
    expect(readFileSync(join(home.folder, "credentials.json"), "utf8")).not.toContain(server.secret);
  });

  test("falls back to the file if the keyring is locked, and prints the reason", async () => {
    const session = await openSession();
    const home = homes.open(session.env);
    expect((await signIn(home, "shop")).data.secret_in).toBe("keyring");
    session.lock();
    const other = await signIn(home, "other");
    expect([other.exitCode, other.data.secret_in]).toEqual([0, "file"]);
    expect(other.stderr).toContain("credentials.json");
    deleteTokens(home);
    const status = await home.json(["auth", "status", "--profile", "shop"]);
    expect(status.exitCode).toBe(4);
    expect(status.data).toMatchObject({ reason: expect.stringContaining("it is locked") });
    const logout = await home.json(["auth", "logout", "--profile", "shop"]);
    expect([logout.exitCode, logout.stderr]).toEqual([1, expect.stringContaining('"kind":"failed"')]);
  });
});

describe.skipIf(process.platform !== "linux")("a keyring that does not respond", () => {
  test("times out, and the secret is stored in the file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "starpost-bus-"));
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(join(folder, "bus"), resolve));
    onTestFinished(() => {
      silent.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const bus = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "bus")}`, STARPOST_KEYRING: "" };
    const ran = await signIn(homes.open(bus), "shop");
    expect([ran.exitCode, ran.data.secret_in]).toEqual([0, "file"]);
    expect(ran.stderr).toContain("credentials.json");
  });
});
