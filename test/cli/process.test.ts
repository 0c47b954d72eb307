import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { AccountStatus } from "../../src/cli/commands/auth/account-status.ts";
import { Home, remoteEnv } from "../support/starpost.ts";

function makeHome(env: Record<string, string> = {}): Home {
  const home = new Home(env);
  onTestFinished(() => home.remove());
  return home;
}

async function startServe(home: Home) {
  const server = await home.serve();
  onTestFinished(() => {
    server.process.kill("SIGKILL");
  });
  return server;
}

beforeAll(() => {
  expect(existsSync("dist/main.js"), "the program is built: npm run build").toBe(true);
});

describe("the program as a process", () => {
  test("--version and --help succeed", async () => {
    const home = makeHome();
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(await home.run(["--version"])).toMatchObject({ exitCode: 0, stdout: version, stderr: "" });
    expect((await home.run(["--help"])).stdout).toContain("USAGE\n  starpost");
  });

  test("ends with 2 on a usage error and reports it as JSON with --json", async () => {
    const ran = await makeHome().run(["orders", "import", "--json", "--nope", "x.csv"]);
    expect(ran).toMatchObject({ exitCode: 2, stdout: "" });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { kind: "usage" } });
  });

  test("creates one account for concurrent first runs", async () => {
    const home = makeHome();
    const runs = await Promise.all([1, 2, 3].map(() => home.runProcess(["init", "--local", "--json"])));
    for (const { exitCode, stderr } of runs) expect(exitCode, stderr).toBe(0);
    expect(new Set(runs.map(({ stdout }) => (JSON.parse(stdout) as AccountStatus).app_key)).size).toBe(1);
    expect(statSync(join(home.folder, "starpost.key")).mode & 0o777).toBe(0o600);
  });

  test("uses the platform's folders if STARPOST_HOME is not set", async () => {
    const home = makeHome({ STARPOST_HOME: "" });
    const [data, config] = [join(home.folder, "data"), join(home.folder, "config")];
    const env = { HOME: home.folder, XDG_DATA_HOME: data, XDG_CONFIG_HOME: config };
    expect((await home.runProcess(["init", "--local"], { env })).exitCode).toBe(0);
    expect(existsSync(join(data, "starpost", "starpost.db"))).toBe(true);
    expect(existsSync(join(config, "starpost", "starpost.key"))).toBe(true);
  });
});

describe("serve", () => {
  test("ends with 0 on SIGTERM and SIGINT", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const server = await startServe(makeHome());
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      server.process.kill(signal);
      expect((await server.process).exitCode).toBe(0);
    }
  });

  test("logs the database and the account, but not the secret", async () => {
    const home = makeHome();
    const server = await startServe(home);
    expect(await server.stop()).toBe(0);
    const { stderr } = await server.process;
    expect(stderr).toContain(join(home.folder, "starpost.db"));
    expect(stderr).toContain(server.app_key);
    expect(stderr).not.toContain(server.secret);
  });

  test("ends with 1 and a hint if the port is in use", async () => {
    const occupied = createServer();
    const port = await listen(occupied);
    onTestFinished(() => void occupied.close());
    const ran = await makeHome().run(["serve", "--port", String(port), "--json"]);
    expect(ran).toMatchObject({ exitCode: 1, stdout: "" });
    expect(JSON.parse(ran.stderr)).toMatchObject({
      error: { kind: "failed", message: expect.stringContaining("in use"), hint: expect.stringContaining("port") },
    });
  });

  test("serves the embedded database by default, and rejects a remote profile", async () => {
    const home = makeHome(remoteEnv({ url: "http://127.0.0.1:9", app_key: "k", secret: "s" }));
    const refused = await home.run(["serve", "--port", "0", "--profile", "env"]);
    expect(refused.exitCode).toBe(2);
    const child = home.start(["serve", "--port", "0", "--json"]);
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.kill("SIGTERM");
    expect((await child).exitCode).toBe(0);
  });
});

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
  });
}

describe("a remote account", () => {
  test("ends with 4 on invalid credentials, even if a valid token is cached", async () => {
    const server = await startServe(makeHome());
    const home = makeHome(remoteEnv(server));
    expect((await home.run(["auth", "token"])).exitCode).toBe(0);
    for (const name of ["STARPOST_SECRET", "STARPOST_APP_KEY"]) {
      const env = { [name]: "wrong" };
      expect((await home.run(["auth", "token"], { env })).exitCode).toBe(4);
      const status = await home.run(["auth", "status", "--json"], { env });
      expect(status.exitCode).toBe(4);
      expect(JSON.parse(status.stdout)).toMatchObject({ signed_in: false, utoken_expires_at: null });
    }
    const credentials = await home.run(["auth", "credentials"]);
    expect(credentials.exitCode).toBe(2);
  });
});

describe("auth login", () => {
  test("saves an account, makes it current, and never prints its secret", async () => {
    const server = await startServe(makeHome());
    const home = makeHome();
    const flags = ["--base-url", `${server.url}/`, "--app-key", server.app_key, "--secret-stdin"];
    const login = await home.run(["auth", "login", ...flags, "--profile", "shop", "--verbose"], {
      input: `${server.secret}\n`,
    });
    expect(login.exitCode).toBe(0);
    expect(login.stdout + login.stderr).not.toContain(server.secret);
    const { data } = await home.json<AccountStatus>(["auth", "status"]);
    expect(data).toMatchObject({ profile: "shop", mode: "remote", base_url: server.url, signed_in: true });
    for (const name of readdirSync(home.folder).filter((found) => found.endsWith(".json"))) {
      expect(`${name} ${(statSync(join(home.folder, name)).mode & 0o777).toString(8)}`).toBe(`${name} 600`);
    }
    const { data: profiles } = await home.json<{ name: string }[]>(["profile", "list"]);
    expect(profiles.map(({ name }) => name)).toContain("local");
  });

  test("saves nothing if the credentials are rejected", async () => {
    const server = await startServe(makeHome());
    const home = makeHome();
    const flags = ["--base-url", server.url, "--app-key", server.app_key, "--secret-stdin"];
    const login = await home.run(["auth", "login", ...flags], { input: "wrong" });
    expect(login.exitCode).toBe(4);
    expect((await home.json<unknown[]>(["profile", "list"])).data).toHaveLength(1);
  });

  test("fails without a terminal and suggests --secret-stdin", async () => {
    const flags = ["--base-url", "http://127.0.0.1:9", "--app-key", "k"];
    const ran = await makeHome().run(["auth", "login", ...flags]);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain("--secret-stdin");
  });

  test.each([
    [["--app-key", "k"], "--base-url"],
    [["--base-url", "http://x"], "--app-key"],
    [["--base-url", "x", "--app-key", "k"], '"x" for --base-url'],
    [["--base-url", "http://x", "--app-key", "k", "--profile", "local"], "local"],
    [["--base-url", "http://x", "--app-key", "k", "--profile", "a/b"], '"a/b"'],
    [["--base-url", "http://x", "--app-key", "k"], "standard input"],
  ])("rejects %j", async (flags, message) => {
    const ran = await makeHome().run(["auth", "login", ...flags, "--secret-stdin"], { input: "" });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(message);
  });

  test("names a profile file that cannot be read", async () => {
    const home = makeHome();
    writeFileSync(join(home.folder, "profiles.json"), "{ not json");
    const ran = await home.run(["auth", "status"]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("profiles.json");
  });
});
