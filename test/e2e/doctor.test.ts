import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Check } from "../../src/doctor/check.ts";
import type { Diagnosis } from "../../src/doctor/doctor.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { postgresServer } from "../support/postgres.ts";
import { Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

type Home = ReturnType<Homes["open"]>;

async function diagnose(home: Home, env: Record<string, string> = {}, ...args: string[]) {
  const ran = await home.json<Diagnosis>(["doctor", ...args], { env });
  const found = new Map(ran.data.checks.map((check) => [check.name, check]));
  const get = (name: string): Check => found.get(name) ?? { name, status: "skipped", message: "absent" };
  return { ...ran, get };
}

function listen(server: Server): Promise<string> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      resolve(`http://127.0.0.1:${port}`);
    });
  });
}

/** All entries of a folder, with everything that a write would change. */
function listAll(folder: string): string[] {
  // SQLite removes its own files when the last connection closes, which may be one of an earlier command.
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !/-(?:shm|wal)$/.test(name),
  );
  return names.map((name) => {
    const { size, mtimeMs, mode } = statSync(join(folder, name));
    return `${name} ${size} ${mtimeMs} ${mode}`;
  });
}

describe("doctor with the embedded engine", () => {
  test("creates nothing on a fresh machine", async () => {
    const home = homes.open();
    const ran = await diagnose(home);
    expect(ran).toMatchObject({ exitCode: 0, stderr: "", data: { ok: true } });
    expect(ran.get("database").status).toBe("ok");
    expect(readdirSync(home.folder)).toEqual([]);
  });

  test("finds no problems after the first use, and changes nothing", async () => {
    const home = homes.open();
    await home.run(["orders", "import", "fixtures/good/orders.csv"]);
    const before = listAll(home.folder);
    const ran = await diagnose(home);
    const found = ran.data.checks.filter(({ status }) => status === "problem" || status === "warning");
    expect(found.map(({ name }) => name)).toEqual(["backup"]);
    expect(ran.get("clock").status).toBe("ok");
    expect(ran.get("database").status).toBe("ok");
    expect(ran.get("database-integrity").status).toBe("ok");
    expect(ran.get("tokens").message).toBe("1 of 100 in use");
    expect(listAll(home.folder)).toEqual(before);
  });

  test("suggests a command if other users can read a secret", async () => {
    const home = homes.open();
    await home.init();
    const key = join(home.folder, "starpost.key");
    chmodSync(key, 0o644);
    const ran = await diagnose(home);
    expect(ran.exitCode).toBe(1);
    expect(ran.get("secret-files")).toMatchObject({ status: "problem", fix: `chmod 600 '${key}'` });
  });

  test("detects a sealing key that does not fit the database", async () => {
    const home = homes.open();
    await home.init();
    const other = await diagnose(home, { STARPOST_KEY: "ab".repeat(32) });
    expect(other.exitCode).toBe(1);
    expect(other.get("key")).toMatchObject({ status: "problem", message: expect.any(String) });
    expect(other.stdout).not.toContain("abab");
  });

  test("reports a file that is not a database", async () => {
    const home = homes.open();
    writeFileSync(join(home.folder, "starpost.db"), "not a database, but long enough to have a header\n".repeat(90));
    const ran = await diagnose(home);
    expect(ran.exitCode).toBe(1);
    expect(ran.get("database").status).toBe("problem");
  });

  test("suggests a restore if the database is damaged", async () => {
    const home = homes.open();
    await home.run(["orders", "import", "fixtures/good/orders.csv"]);
    const path = join(home.folder, "starpost.db");
    const content = readFileSync(path);
    for (const damage of [content.subarray(0, 8_192), Buffer.from(content).fill(0xff, 20_000, 60_000)]) {
      writeFileSync(path, damage);
      const ran = await diagnose(home);
      const { message, fix } = ran.data.checks.find(({ status }) => status === "problem") ?? {};
      expect({ exitCode: ran.exitCode, fix }, message).toEqual({ exitCode: 1, fix: expect.stringMatching(/backup/) });
    }
  });

  test("detects a clock that is behind what was stored", async () => {
    const home = homes.open();
    await home.init();
    const later = new Date(Date.now() + 3_600_000);
    utimesSync(join(home.folder, "starpost.db"), later, later);
    expect((await diagnose(home)).get("clock")).toMatchObject({ status: "problem" });
  });

  test("detects a host without an address", async () => {
    const ran = await diagnose(homes.open(), { STARPOST_DATABASE: "postgres://shop@db.invalid/shop" });
    expect(ran.exitCode).toBe(5);
    expect(ran.get("reachability")).toMatchObject({ status: "problem", fix: expect.stringContaining("DNS") });
  });

  test.skipIf(postgresServer === undefined)("names the command that creates a database", async () => {
    const url = new URL(postgresServer ?? "");
    url.pathname = "/no%20shop";
    const ran = await diagnose(homes.open(), { STARPOST_DATABASE: url.href });
    const { fix = "" } = ran.get("database");
    expect(fix).toMatch(/`createdb --host .* --owner '.*' 'no shop'`/);
  });

  test("names the process that holds the write lock", async () => {
    const home = homes.open();
    await home.init();
    const file = new SqliteFile(join(home.folder, "starpost.db"));
    onTestFinished(() => file.close());
    file.execute("begin immediate; create table held (a)");
    const ran = await diagnose(home);
    const lock = ran.get("database-lock");
    // Only Linux provides this information.
    if (lock.status !== "skipped") {
      expect(lock).toMatchObject({ status: "warning", message: expect.stringContaining(`(process ${process.pid})`) });
    }
    expect(ran.exitCode).toBe(0);
  });

  test("continues with invalid configuration files, and prints no secrets", async () => {
    const home = homes.open();
    writeFileSync(join(home.folder, "profiles.json"), "{ broken");
    writeFileSync(join(home.folder, "mail.json"), "{ broken");
    const ran = await diagnose(home, { STARPOST_SMTP_PASSWORD: "hunter2", STARPOST_DATABSE: "x.db" });
    expect(ran.exitCode).toBe(1);
    expect(ran.get("profile").status).toBe("problem");
    expect(ran.get("environment")).toMatchObject({
      status: "warning",
      message: expect.stringContaining("STARPOST_DATABASE?"),
    });
    expect(ran.stdout).not.toContain("hunter2");
  });

  test("reports a STARPOST_HOME that is not a folder", async () => {
    const home = homes.open();
    const path = join(home.folder, "file");
    writeFileSync(path, "");
    const ran = await diagnose(home, { STARPOST_HOME: path });
    expect(ran.exitCode).toBe(1);
    expect(ran.get("config-folder").status).toBe("problem");
  });

  test("prints a mark and a name for each check, and a summary", async () => {
    const home = homes.open();
    mkdirSync(join(home.folder, "x"), { mode: 0o700 });
    const { stdout } = await home.run(["doctor"]);
    expect(stdout).toMatch(/^✔ node +Node \d+/m);
    expect(stdout).toMatch(/^- reachability +\S/m);
    expect(stdout).toMatch(/\n\d+ checks: \d+ passed, \d+ skipped$/);
  });
});

describe("doctor with a remote service", () => {
  test("checks the connection, clock, credentials, and limits", async () => {
    const server = await homes.open().serve();
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const home = homes.open(remoteEnv(server));
    const ran = await diagnose(home);
    expect(ran.data.checks.filter(({ status }) => status === "problem" || status === "warning")).toEqual([]);
    for (const name of ["reachability", "clock", "credentials", "rate", "proxy", "webhook-failures"]) {
      expect(ran.get(name).status, name).toBe("ok");
    }
    expect(ran.get("tokens").status).toBe("skipped");
    const wrong = await diagnose(home, { STARPOST_SECRET: "wrong" });
    expect(wrong.exitCode).toBe(4);
    expect(wrong.get("credentials").status).toBe("problem");
    expect(wrong.get("reachability").status).toBe("ok");
  });

  test("exits with 5 if the service cannot be reached", async () => {
    const ran = await diagnose(homes.open(remoteEnv({ url: "http://127.0.0.1:1", app_key: "k", secret: "s" })));
    expect(ran.exitCode).toBe(5);
    expect(ran.get("reachability")).toMatchObject({ status: "problem", message: expect.stringContaining("TCP") });
    expect(ran.get("credentials").status).toBe("skipped");
  });

  test("does not wait for a service that does not respond", async () => {
    const url = await listen(createServer(() => {}));
    const beganMs = Date.now();
    const ran = await diagnose(homes.open(remoteEnv({ url, app_key: "k", secret: "s" })), {}, "--timeout", "2");
    expect(ran.exitCode).toBe(5);
    expect(ran.get("reachability").status).toBe("problem");
    expect(Date.now() - beganMs).toBeLessThan(15_000);
  });

  test("compares the clock with the service's", async () => {
    const server = createHttpServer((_, response) => {
      response.setHeader("date", new Date(Date.now() + 90_000).toUTCString());
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: { code: 401, message: "no", error_type: "Unauthorized" } }));
    });
    const url = await listen(server);
    const ran = await diagnose(homes.open(remoteEnv({ url, app_key: "k", secret: "s" })));
    expect(ran.get("clock")).toMatchObject({ status: "problem", message: expect.stringContaining("behind") });
  });

  test("shows the proxy without its credentials", async () => {
    const env = remoteEnv({ url: "http://shop.invalid", app_key: "k", secret: "s" });
    const ran = await diagnose(homes.open({ ...env, HTTP_PROXY: "http://me:pass-word@127.0.0.1:1" }));
    expect(ran.get("proxy").message).toContain("http://127.0.0.1:1");
    expect(ran.get("reachability")).toMatchObject({ status: "problem", message: expect.stringContaining("the proxy") });
    expect(ran.stdout).not.toContain("pass-word");
  });
});
