import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Check } from "../../src/doctor/check.ts";
import type { Diagnosis } from "../../src/doctor/doctor.ts";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";
import { Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

type Home = ReturnType<Homes["open"]>;

async function look(home: Home, env: Record<string, string> = {}, ...args: string[]) {
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

/** Everything of a folder, with what would change if it were written to. */
function listAll(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map((name) => {
    const { size, mtimeMs, mode } = statSync(join(folder, String(name)));
    // Who reads a database takes a lock in the memory that its readers share.
    const changedMs = String(name).endsWith("-shm") ? "" : mtimeMs;
    return `${String(name)} ${size} ${changedMs} ${mode}`;
  });
}

describe("doctor, with the embedded engine,", () => {
  test("makes nothing on a fresh machine, and says that the first use will", async () => {
    const home = homes.open();
    const ran = await look(home);
    expect(ran).toMatchObject({ exitCode: 0, stderr: "", data: { ok: true } });
    expect(ran.get("database").message).toContain("is not there yet: the first use makes it");
    expect(readdirSync(home.folder)).toEqual([]);
  });

  test("finds all well behind the first use, and changes nothing", async () => {
    const home = homes.open();
    await home.run(["orders", "import", "fixtures/good/orders.csv"]);
    const before = listAll(home.folder);
    const ran = await look(home);
    expect(ran.data.checks.filter(({ status }) => status === "problem" || status === "warning")).toEqual([]);
    expect(ran.get("database").message).toContain("(the newest)");
    expect(ran.get("database-integrity").status).toBe("ok");
    expect(ran.get("tokens").message).toBe("1 of 100 in use");
    expect(listAll(home.folder)).toEqual(before);
  });

  test("says what to type where others may read a secret", async () => {
    const home = homes.open();
    await home.run(["auth", "token"]);
    const key = join(home.folder, "starpost.key");
    chmodSync(key, 0o644);
    const ran = await look(home);
    expect(ran.exitCode).toBe(1);
    expect(ran.get("secret-files")).toMatchObject({ status: "problem", fix: `chmod 600 '${key}'` });
  });

  test("knows a key that is another, and one that is gone", async () => {
    const home = homes.open();
    await home.run(["auth", "token"]);
    const other = await look(home, { STARPOST_KEY: "ab".repeat(32) });
    expect(other.exitCode).toBe(1);
    expect(other.get("key")).toMatchObject({
      status: "problem",
      message: expect.stringContaining("another key"),
    });
    expect(other.stdout).not.toContain("abab");
  });

  test("tells a file that is no database, and one that is damaged", async () => {
    const home = homes.open();
    writeFileSync(
      join(home.folder, "starpost.db"),
      "not a database, but long enough to be looked into\n".repeat(90),
    );
    const ran = await look(home);
    expect(ran.exitCode).toBe(1);
    expect(ran.get("database").status).toBe("problem");
  });

  test("names who has kept the database locked", async () => {
    const home = homes.open();
    await home.run(["auth", "token"]);
    const file = new SqliteFile(join(home.folder, "starpost.db"));
    onTestFinished(() => file.close());
    file.execute("begin immediate; create table held (a)");
    const ran = await look(home);
    const lock = ran.get("database-lock");
    // Systems other than Linux do not tell.
    if (lock.status !== "skipped") {
      expect(lock).toMatchObject({
        status: "warning",
        message: expect.stringContaining(`(process ${process.pid})`),
      });
    }
    expect(ran.exitCode).toBe(0);
  });

  test("goes on where the configuration is broken, and shows no secret of the environment", async () => {
    const home = homes.open();
    writeFileSync(join(home.folder, "profiles.json"), "{ broken");
    writeFileSync(join(home.folder, "mail.json"), "{ broken");
    const ran = await look(home, { STARPOST_SMTP_PASSWORD: "hunter2", STARPOST_DATABSE: "x.db" });
    expect(ran.exitCode).toBe(1);
    expect(ran.get("profile").status).toBe("problem");
    expect(ran.get("environment")).toMatchObject({
      status: "warning",
      message: expect.stringContaining("STARPOST_DATABASE?"),
    });
    expect(ran.stdout).not.toContain("hunter2");
  });

  test("says where the home is no folder", async () => {
    const home = homes.open();
    const path = join(home.folder, "file");
    writeFileSync(path, "");
    const ran = await look(home, { STARPOST_HOME: path });
    expect(ran.exitCode).toBe(1);
    expect(ran.get("config-folder").status).toBe("problem");
  });

  test("marks each line with a sign and a word", async () => {
    const home = homes.open();
    mkdirSync(join(home.folder, "x"), { mode: 0o700 });
    const { stdout } = await home.run(["doctor"]);
    expect(stdout).toMatch(/^✔ ok {7} +node +Node \d+/m);
    expect(stdout).toMatch(/^- skipped +reachability/m);
    expect(stdout).toContain("All is well.");
  });
});

describe("doctor, with a service elsewhere,", () => {
  test("looks at the way, the clock, the credentials and the limits", async () => {
    const server = await homes.open().serve();
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const home = homes.open(remoteEnv(server));
    const ran = await look(home);
    expect(ran.data.checks.filter(({ status }) => status === "problem" || status === "warning")).toEqual([]);
    for (const name of ["reachability", "clock", "credentials", "rate", "proxy"]) {
      expect(ran.get(name).status, name).toBe("ok");
    }
    expect(ran.get("tokens").message).toContain("not told by the service");
    const wrong = await look(home, { STARPOST_SECRET: "wrong" });
    expect(wrong.exitCode).toBe(4);
    expect(wrong.get("credentials").status).toBe("problem");
    expect(wrong.get("reachability").status).toBe("ok");
  });

  test("ends with 5 where nothing answers there", async () => {
    const ran = await look(homes.open(remoteEnv({ url: "http://127.0.0.1:1", app_key: "k", secret: "s" })));
    expect(ran.exitCode).toBe(5);
    expect(ran.get("reachability")).toMatchObject({
      status: "problem",
      message: expect.stringContaining("TCP"),
    });
    expect(ran.get("credentials").status).toBe("skipped");
  });

  test("does not wait for a service that says nothing", async () => {
    const url = await listen(createServer(() => {}));
    const beganMs = Date.now();
    const ran = await look(homes.open(remoteEnv({ url, app_key: "k", secret: "s" })), {}, "--timeout", "2");
    expect(ran.exitCode).toBe(5);
    expect(ran.get("reachability").message).toContain("no answer");
    expect(Date.now() - beganMs).toBeLessThan(15_000);
  });

  test("measures the clock by the service's", async () => {
    const server = createHttpServer((_, response) => {
      response.setHeader("date", new Date(Date.now() + 90_000).toUTCString());
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ status: { code: 401, message: "no", error_type: "Unauthorized" } }));
    });
    const url = await listen(server);
    const ran = await look(homes.open(remoteEnv({ url, app_key: "k", secret: "s" })));
    expect(ran.get("clock")).toMatchObject({
      status: "problem",
      message: expect.stringMatching(/9\d s behind|8\d s behind/),
    });
  });

  test("shows which proxy is used, and none of its credentials", async () => {
    const env = remoteEnv({ url: "http://shop.invalid", app_key: "k", secret: "s" });
    const ran = await look(homes.open({ ...env, HTTP_PROXY: "http://me:pass-word@127.0.0.1:1" }));
    expect(ran.get("proxy").message).toContain("http://127.0.0.1:1");
    expect(ran.get("reachability")).toMatchObject({
      status: "problem",
      message: expect.stringContaining("the proxy"),
    });
    expect(ran.stdout).not.toContain("pass-word");
  });
});
