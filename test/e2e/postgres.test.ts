import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { pgBouncer, throughPgBouncer } from "../support/databases.ts";
import {
  execute,
  postgresServer,
  postgresSkipped,
  takeEmptyDatabase,
  takeRestrictedDatabase,
  type TestDatabase,
} from "../support/postgres.ts";
import { type Home, Homes, readPurchases, type Summary } from "../support/starpost.ts";

type Server = Awaited<ReturnType<Home["serve"]>>;

const homes = new Homes();
afterAll(() => homes.remove());

/** The server accepts any password; the tests check that it is never shown. */
const password = "77hidden77";

function newHome({ url }: TestDatabase): Home {
  const address = new URL(url);
  address.password = password;
  return homes.open({ STARPOST_DATABASE: address.href, STARPOST_KEY: randomBytes(32).toString("hex") });
}

async function issueToken({ url, app_key, secret }: Server): Promise<string> {
  const reply = await fetch(`${url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_id: app_key, client_secret: secret, grant_type: "client_credentials" }),
  });
  return ((await reply.json()) as { access_token: string }).access_token;
}

describe.skipIf(postgresServer === undefined)("two processes on one PostgreSQL database", () => {
  let database: TestDatabase;
  let servers: readonly [Server, Server];

  beforeAll(async () => {
    database = await takeEmptyDatabase();
    const home = newHome(database);
    servers = await Promise.all([home.serve(), home.serve()]);
  });

  afterAll(async () => {
    await Promise.all(servers.map(({ stop }) => stop()));
    await database.drop();
  });

  const readWith = async ({ url, app_key }: Server, utoken: string) =>
    (await fetch(`${url}/apps/${app_key}/purchases?utoken=${utoken}`)).status;

  test("create one account when started at the same time on an empty database", async () => {
    expect(servers[0].app_key).toBe(servers[1].app_key);
    expect(servers[0].secret).toBe(servers[1].secret);
    expect(await execute("select count(*)::int as accounts from accounts", database.url)).toEqual([{ accounts: 1 }]);
  });

  test("accept each other's tokens", async () => {
    const [one, other] = servers;
    const utoken = await issueToken(one);
    expect(await readWith(other, utoken)).toBe(200);
    expect(await readWith(other, `${utoken}x`)).toBe(401);
  });

  test("share a limit of 100 tokens; the 101st revokes the first", async () => {
    const [one, other] = servers;
    const first = await issueToken(one);
    const second = await issueToken(other);
    for (let issued = 2; issued < 100; issued += 2) {
      await issueToken(one);
      await issueToken(other);
    }
    expect(await readWith(other, first)).toBe(200);
    await issueToken(other);
    expect(await readWith(one, first)).toBe(401);
    expect(await readWith(one, second)).toBe(200);
  });

  interface Reply {
    readonly at: number;
    readonly status: number;
  }

  /** Calls both at once, and groups the responses by the end of the rate-limit second. */
  async function callCore(utoken: string, times: number): Promise<Map<string, Reply[]>> {
    const found = new Map<string, Reply[]>();
    const call = async (at: number) => {
      const { url, app_key } = servers[at] ?? expect.unreachable();
      const path = `/core/v3/stores/${app_key}/products`;
      const { status, headers } = await fetch(url + path, { headers: { "x-service-token": utoken } });
      const resetAt = headers.get("ratelimit-reset") ?? "none";
      found.set(resetAt, [...(found.get(resetAt) ?? []), { at, status }]);
    };
    await Promise.all(Array.from({ length: times }, (_, nth) => call(nth % 2)));
    return found;
  }

  test("share the limit of five core calls per second", async () => {
    const utoken = await issueToken(servers[0]);
    // A burst may span several seconds; one second with half of it, from both processes, is sufficient.
    let fullest: Reply[] = [];
    while (fullest.length < 12) {
      const bursts = await callCore(utoken, 24);
      for (const replies of bursts.values()) {
        expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5);
        for (const { status } of replies) expect([200, 429]).toContain(status);
        if (replies.length > fullest.length) fullest = replies;
      }
    }
    expect(new Set(fullest.map(({ at }) => at)).size).toBe(2);
    expect(fullest.filter(({ status }) => status === 200)).toHaveLength(5);
  });
});

describe.skipIf(postgresServer === undefined)("commands on a PostgreSQL database", () => {
  let database: TestDatabase;
  let home: Home;

  beforeEach(async () => {
    database = await takeEmptyDatabase();
    home = newHome(database);
  });

  afterEach(() => database.drop());

  /** The content of all files that the program has written to its home. */
  const readHome = () =>
    readdirSync(home.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
      .join("\n");

  test("import, report the status, and serve without showing the password", async () => {
    const output: string[] = [];
    const run = async (...args: string[]) => {
      const ran = await home.run(args);
      output.push(ran.stdout, ran.stderr);
      return ran;
    };
    const imported = await run("orders", "import", "fixtures/good/orders.csv");
    expect(imported).toMatchObject({ exitCode: 0 });
    const { username, host, pathname } = new URL(database.url);
    expect(imported.stderr).toContain(`postgres://${username}@${host}${pathname}`);
    expect(await run("products", "import", "fixtures/good/products.csv", "--update")).toMatchObject({ exitCode: 0 });
    expect(await run("coupons", "import", "fixtures/good/coupons.csv", "--action", "map_review")).toMatchObject({
      exitCode: 0,
    });
    expect(await run("orders", "import", "fixtures/good/orders.csv")).toMatchObject({ exitCode: 0 });
    expect((await run("imports", "list")).stdout).toContain("orders.csv");
    expect(await run("auth", "status")).toMatchObject({ exitCode: 0 });

    const server = await home.serve();
    const utoken = (await home.run(["auth", "token"])).stdout.trim();
    const { purchases, total } = await readPurchases(server, utoken);
    expect([purchases.length, total]).toEqual([10, 10]);
    expect(await server.stop()).toBe(0);
    const { stdout, stderr } = await server.process;
    output.push(String(stdout), String(stderr));

    expect(output.join("\n")).not.toContain(password);
    expect(readHome()).not.toContain(password);
  });

  test("resume a killed import without losing or duplicating a row", async () => {
    const path = join(home.folder, "codes.csv");
    const codes = Array.from({ length: 5_000 }, (_, at) => `CODE-${at}`);
    writeFileSync(path, `code\n${codes.join("\n")}\n`);
    let args = ["coupons", "import", path, "--action", "map_review", "--batch-size", "50"];
    for (let kill = 0; kill < 3; kill++) {
      // Slow enough that it does not finish.
      const run = home.start([...args, "--rate", "20"]);
      await sleep(400 + Math.random() * 400);
      run.kill("SIGKILL");
      await run;
      const { data } = await home.json<Summary[]>(["imports", "list"]);
      if (data[0]) args = ["imports", "resume", data[0].import_id];
    }
    const last = await home.json(args);
    expect(last.exitCode).toBe(0);
    expect(last.data.rows).toEqual({ read: 5_000, accepted: 5_000, rejected: 0, failed: 0 });
    const stored = await execute("select count(*)::int as codes from coupons", database.url);
    expect(stored).toEqual([{ codes: 5_000 }]);
  });
});

describe.skipIf(postgresServer === undefined)("a database server that accepts too few connections", () => {
  test("lets calls wait, and reports it; without any connection, calls fail after the configured time", async () => {
    const database = await takeRestrictedDatabase();
    const home = homes.open({
      STARPOST_DATABASE: database.url,
      STARPOST_DATABASE_POOL_WAIT: "3",
      STARPOST_KEY: randomBytes(32).toString("hex"),
    });
    const server = await home.serve(["--no-worker"]);
    const { url } = server;
    const readyz = async () => {
      const response = await fetch(`${url}/readyz`);
      return [response.status, await response.json()];
    };
    expect(await readyz()).toEqual([200, { status: "ok" }]);
    await database.limitConnections(3);
    const answers = await Promise.all(Array.from({ length: 64 }, () => fetch(`${url}/users/1`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    expect(await readyz()).toEqual([200, { status: "ok", problem: "too_few_connections" }]);

    await database.limitConnections(0);
    const startedMs = performance.now();
    const refused = await fetch(`${url}/users/1`);
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([503, 1]);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(2_990);
    expect(await readyz()).toEqual([503, { status: "unavailable", problem: "too_few_connections" }]);
    expect(await server.stop()).toBe(0);
    await database.drop();
  });
});

describe.skipIf(postgresServer === undefined)("a server that stops during a write", () => {
  const ways = [["directly", (url: string) => url] as const, ["through PgBouncer", throughPgBouncer] as const];
  test.each(ways.slice(0, pgBouncer === undefined ? 1 : 2))(
    "%s, holds the lock of the account for so short a time that writes of other servers succeed",
    async (_way, toAddress) => {
      const database = await takeEmptyDatabase();
      const home = newHome({ ...database, url: toAddress(database.url) });
      const [stopped, other] = await Promise.all([home.serve(["--no-worker"]), home.serve(["--no-worker"])]);
      const utoken = await issueToken(stopped);
      const createGroup = ({ url, app_key }: Server, group_name: string) =>
        fetch(`${url}/v1/apps/${app_key}/products_groups`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ utoken, group_name }),
        });
      const blocker = new Client({ connectionString: database.url });
      await blocker.connect();
      // The write has locked its account, and waits for this lock when the server is stopped.
      await blocker.query("begin; lock table product_groups");
      const cutOff = createGroup(stopped, "a").catch(() => undefined);
      const waiting =
        "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      await expect.poll(() => execute(waiting, database.url)).toHaveLength(1);
      stopped.process.kill("SIGSTOP");
      onTestFinished(() => void stopped.process.kill("SIGKILL"));
      await blocker.query("commit");
      await blocker.end();
      const startedMs = performance.now();
      expect((await createGroup(other, "b")).status).toBe(200);
      const heldMs = performance.now() - startedMs;
      expect([heldMs > 1_000, heldMs < 15_000]).toEqual([true, true]);
      await other.stop();
      stopped.process.kill("SIGKILL");
      await cutOff;
      await database.drop();
    },
    40_000,
  );
});

describe.skipIf(postgresServer === undefined)("a database that is unavailable", () => {
  test("is not revealed to clients: neither its host nor its user", async () => {
    const database = await takeEmptyDatabase();
    const server = await newHome(database).serve();
    await database.drop();
    const { username, host, pathname } = new URL(database.url);
    for (let call = 0; call < 3; call++) {
      const response = await fetch(`${server.url}/users/1`);
      expect([503, 507]).toContain(response.status);
      const body = await response.text();
      expect(body).toContain("the database: ");
      for (const part of [username, host, pathname]) expect(body).not.toContain(part);
    }
    expect(await server.stop()).toBe(0);
  });
});

describe.skipIf(postgresServer === undefined)("a database that stops responding", () => {
  /** A TCP proxy in front of the server that can stop forwarding. */
  async function startProxy({ url }: TestDatabase) {
    const { hostname, port } = new URL(url);
    const sockets: Socket[] = [];
    const between = createServer((near) => {
      const far = connect(Number(port), hostname);
      for (const socket of [near, far]) sockets.push(socket.on("error", () => {}));
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => void between.listen(0, "127.0.0.1", resolve));
    const address = new URL(url);
    address.host = `127.0.0.1:${(between.address() as AddressInfo).port}`;
    return {
      url: address.href,
      freeze: () => sockets.forEach((socket) => socket.unpipe().pause()),
      close: () => {
        for (const socket of sockets) socket.destroy();
        between.close();
      },
    };
  }

  test("does not delay the shutdown of the server for long", async () => {
    const database = await takeEmptyDatabase();
    const between = await startProxy(database);
    try {
      const server = await newHome({ ...database, url: between.url }).serve();
      expect((await fetch(`${server.url}/users/1`)).status).toBe(404);
      between.freeze();
      const call = fetch(`${server.url}/users/1`).catch(() => "cut off");
      await sleep(200);
      process.kill(server.process.pid ?? 0, "SIGTERM");
      expect((await server.process).exitCode).toBe(0);
      expect(await call).toBe("cut off");
    } finally {
      between.close();
      await database.drop();
    }
  });
});

if (postgresServer === undefined) test.skip(`several processes on ${postgresSkipped}`);
