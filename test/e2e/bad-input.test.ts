import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Home, type Summary } from "../support/starpost.ts";
import { shortenRetryDelays } from "../support/retry-delays.ts";

const home = new Home();
afterAll(() => home.remove());

const orders = ["orders", "import"];
const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";

function write(name: string, content: string | Buffer): string {
  const path = join(home.folder, name);
  writeFileSync(path, content);
  return path;
}

function row(at: number, change: Record<number, string> = {}): string {
  const cells = [`o-${at}`, "2026-01-02", "N", "n@example.com", `p-${at}`, "Name", "https://shop.example/p"];
  for (const [column, value] of Object.entries(change)) cells[Number(column)] = value;
  return `${cells.join(",")}\n`;
}

/** Files that are rejected before anything is sent: exit status 2, and no run is recorded. */
describe("files rejected before the import starts", () => {
  test.each<[string, () => string[], RegExp]>([
    ["a missing file", () => [...orders, "nowhere.csv"], /^error: nowhere\.csv: /],
    ["a folder", () => [...orders, "fixtures"], /^error: fixtures: .*folder/],
    ["an empty file", () => [...orders, "fixtures/bad/empty.csv"], /empty\.csv: .*empty/],
    ["no header", () => [...orders, "fixtures/bad/no-header.csv"], /no-header\.csv: .*order_id, email, /],
    ["a binary file", () => [...orders, "fixtures/bad/binary.csv"], /binary\.csv: .*PNG/],
    ["a truncated zip archive", () => [...orders, "fixtures/bad/zip.csv"], /zip\.csv: .*zip/],
    ["a file for another import command", () => [...orders, "fixtures/good/coupons.csv"], /starpost coupons import/],
    [
      "invalid UTF-8 with --encoding utf-8",
      () => [...orders, "fixtures/bad/windows-1252.csv", "--encoding", "utf-8"],
      /windows-1252\.csv:\d+: [\s\S]*--encoding windows-1252/,
    ],
    ["a duplicate column", () => [...orders, "fixtures/bad/doubled-column.csv"], /two columns are named 'email'/],
    ["a missing column", () => [...orders, "fixtures/bad/missing-column.csv"], /\bemail\b[\s\S]*'e-mail adress'/],
    [
      "a mapping to an unknown column",
      () => [...orders, "fixtures/good/orders.csv", "--map", "email=e_mail_x"],
      /'e_mail_x'/,
    ],
    [
      "a mapping of an unknown field",
      () => [...orders, "fixtures/good/orders.csv", "--map", "emial=email"],
      /emial[\s\S]*'email'/,
    ],
    [
      "a file given twice",
      () => [...orders, "fixtures/good/orders.csv", "fixtures/good/orders.csv"],
      /^error: fixtures\/good\/orders\.csv: /,
    ],
    [
      "a rejects path in a missing folder",
      () => [...orders, "fixtures/good/orders.csv", "--rejects", join(home.folder, "no/where.csv")],
      /no\/where\.csv.*--rejects/,
    ],
    [
      "a rejects path that is the input",
      () => [...orders, "fixtures/good/orders.csv", "--rejects", "fixtures/good/orders.csv"],
      /good\/orders\.csv.*--rejects/,
    ],
    [
      "a batch size above the maximum",
      () => ["products", "import", "fixtures/good/products.csv", "--batch-size", "501"],
      /--batch-size[\s\S]*\b500\b/,
    ],
    ["coupons without an action", () => ["coupons", "import", "fixtures/good/coupons.csv"], /--action/],
    [
      "unsubscribers without a type",
      () => ["unsubscribers", "import", write("no-type.csv", "email\na@example.com\n")],
      /email_type_id/,
    ],
  ])("%s", async (_name, args, expected) => {
    const result = await home.run([...args()]);
    expect(result.stderr).toMatch(expected);
    expect(result.stdout).toBe("");
    expect(result.exitCode).toBe(2);
    const { data: runs } = await home.json<Summary[]>(["imports", "list"]);
    expect(runs).toEqual([]);
  });

  test("with --json, prints the error as one document on stderr", async () => {
    const { stderr, exitCode } = await home.run([...orders, "nowhere.csv", "--json"]);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stderr)).toEqual({ error: { kind: "usage", message: expect.stringContaining("nowhere.csv") } });
  });
});

test("addresses with invisible characters are rejected, and two spellings in an order are one", async () => {
  const emails = ["n\u200B@example.com", "\u001Bn@example.com", "n@müller.example", "N@xn--mller-kva.example"];
  const rows = emails.map((email, at) => row(at, { 0: `o-${Math.min(at, 2)}`, 3: email }));
  const { data, exitCode } = await home.json([...orders, write("spellings.csv", header + rows.join(""))]);
  expect([exitCode, data.rows, data.items.sent]).toEqual([3, { read: 4, accepted: 2, rejected: 2, failed: 0 }, 1]);
  const rejects = parse(readFileSync(data.rejects_file ?? ""), { columns: true }) as Record<string, string>[];
  const reasons = rejects.map((reject) => `${reject["_code"]}: ${reject["_reason"]}`);
  expect(reasons).toEqual(Array(2).fill("bad_characters: email contains an invisible character; remove them"));
});

describe("storage errors", () => {
  const env = (database: string) => ({ STARPOST_DATABASE: database });
  const args = [...orders, "fixtures/good/orders.csv", "--json"];

  test("rejects a database that is not SQLite", async () => {
    const own = new Home(env(write("not.db", "this is not a database, it is a text of some length".repeat(40))));
    const { exitCode, stderr } = await own.run(args);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/not\.db.*SQLite/);
    own.remove();
  });

  test("exits with 5 if another process has locked the database, and can be resumed", async () => {
    const own = new Home();
    await own.run(["auth", "status"]);
    const database = join(own.folder, "starpost.db");
    const holder = execa(process.execPath, [
      "--input-type=module",
      "-e",
      `import { DatabaseSync } from "@photostructure/sqlite";
       globalThis.database = new DatabaseSync(${JSON.stringify(database)});
       globalThis.database.exec("begin immediate");
       console.log("locked"); setTimeout(() => {}, 60000);`,
    ]);
    await new Promise((locked) => holder.stdout?.once("data", locked));
    const { exitCode, stderr, stdout } = await own.run(args);
    holder.kill();
    await holder.catch(() => {});
    expect(stderr).toMatch(/locked/);
    expect(exitCode).toBe(5);
    const summary = JSON.parse(stdout) as Summary;
    expect(summary.state).toBe("interrupted");
    const resumed = await own.json(["imports", "resume", summary.import_id]);
    expect(resumed.exitCode).toBe(0);
    expect(resumed.data.rows.accepted).toBe(10);
    own.remove();
  });

  test("reports a full disk for --rejects, and keeps the rejected rows with the run", async () => {
    const own = new Home();
    const { exitCode, stderr, stdout } = await own.run([
      ...orders,
      "fixtures/bad/dates.csv",
      "--rejects",
      "/dev/full",
      "--json",
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/--rejects \/dev\/full: /);
    const { rows, import_id } = JSON.parse(stdout) as Summary;
    expect(rows).toEqual({ read: 10, accepted: 5, rejected: 5, failed: 0 });
    const stored = parse(readFileSync(join(own.folder, "imports", import_id, "rejects.csv")), { columns: true });
    expect(stored).toHaveLength(5);
    own.remove();
  });
});

describe("a full or read-only disk", () => {
  const mount = mkdtempSync(join("/tmp", "starpost-full-"));
  let isMounted = false;
  beforeAll(async () => {
    const { exitCode } = await execa("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", mount], { reject: false });
    isMounted = exitCode === 0;
  });
  afterAll(async () => {
    if (isMounted) await execa("umount", [mount], { reject: false });
  });

  test("rejects a database on a read-only file system", async ({ skip }) => {
    if (!isMounted) skip("cannot mount a file system");
    const path = join(mount, "read-only.db");
    const own = new Home({ STARPOST_DATABASE: path });
    await own.runProcess(["auth", "status"]);
    await execa("mount", ["-o", "remount,ro", mount]);
    const { exitCode, stderr } = await own.runProcess([...orders, "fixtures/good/orders.csv", "--json"]);
    await execa("mount", ["-o", "remount,rw", mount]);
    expect(stderr).toMatch(/read-only\.db/);
    expect(exitCode).toBe(1);
    own.remove();
  });

  test("keeps the totals when the disk is full, and can be resumed when there is space", async ({ skip }) => {
    if (!isMounted) skip("cannot mount a file system of a fixed size");
    mkdirSync(join(mount, "home"));
    const own = new Home({ STARPOST_HOME: join(mount, "home") });
    const path = write("many.csv", header + Array.from({ length: 20_000 }, (_, at) => row(at)).join(""));
    const { exitCode, stderr } = await own.run([...orders, path, "--json"]);
    expect(stderr).toMatch(/full/);
    expect(exitCode).toBe(1);
    await execa("mount", ["-o", "remount,size=100m", mount]);
    const { data: runs } = await own.json<Summary[]>(["imports", "list"]);
    const resumed = await own.json(["imports", "resume", runs[0]?.import_id ?? ""]);
    expect(resumed.data.rows).toEqual({ read: 20_000, accepted: 20_000, rejected: 0, failed: 0 });
    expect(resumed.exitCode).toBe(0);
  });
});

describe("invalid or failed responses of the service", () => {
  shortenRetryDelays();

  async function listen(handler: RequestListener): Promise<{ server: Server; url: string }> {
    const server = createServer(handler);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }
  const withToken =
    (rest: RequestListener): RequestListener =>
    (request, response) => {
      if (request.url === "/oauth/token") response.end('{"access_token":"t","token_type":"bearer"}');
      else rest(request, response);
    };
  const remote = (url: string) =>
    new Home({ STARPOST_BASE_URL: url, STARPOST_APP_KEY: "key", STARPOST_SECRET: "secret" });

  test("leaves no run behind if the credentials are rejected", async () => {
    const { server, url } = await listen((_request, response) =>
      response.writeHead(401).end('{"error":"invalid_client"}'),
    );
    const own = remote(url);
    const { exitCode, stderr, stdout } = await own.run([...orders, "fixtures/good/orders.csv", "--json"]);
    expect([exitCode, stdout]).toEqual([4, ""]);
    const { error } = JSON.parse(stderr) as { error: { kind: string; message: string; hint: string } };
    expect(error.kind).toBe("auth");
    expect(error.message).toContain(url);
    expect(error.hint).toMatch(/STARPOST_SECRET.*starpost auth login/);
    expect((await own.json<Summary[]>(["imports", "list"])).data).toEqual([]);
    server.close();
    own.remove();
  });

  test("keeps the run if the credentials are rejected on resume", async () => {
    const { server, url } = await listen((_request, response) =>
      response.writeHead(401).end('{"error":"invalid_client"}'),
    );
    const own = remote(url);
    await new Promise((closed) => server.close(closed));
    const down = await own.json([...orders, "fixtures/good/orders.csv"]);
    expect([down.exitCode, down.data.state]).toEqual([5, "interrupted"]);
    await new Promise<void>((listening) => server.listen(Number(new URL(url).port), "127.0.0.1", listening));
    const resumed = await own.json(["imports", "resume", down.data.import_id]);
    expect([resumed.exitCode, resumed.data.state]).toEqual([4, "failed"]);
    expect(resumed.stderr).toContain(`starpost imports resume ${down.data.import_id}`);
    expect((await own.json<Summary[]>(["imports", "list"])).data).toHaveLength(1);
    server.close();
    own.remove();
  });

  test("counts the rows of a rejected request as failed, and writes them to the reject file", async () => {
    const { server, url } = await listen(
      withToken((_request, response) => {
        const status = { message: "no", code: 500, error_type: "Exceptions::InvalidParams" };
        response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ status }));
      }),
    );
    const own = remote(url);
    const { exitCode, data } = await own.json([...orders, "fixtures/good/orders.csv"]);
    expect(exitCode).toBe(1);
    expect(data.rows).toEqual({ read: 10, accepted: 0, rejected: 0, failed: 10 });
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toMatch(/call_refused,.*: no/);
    server.close();
    own.remove();
  });
});
