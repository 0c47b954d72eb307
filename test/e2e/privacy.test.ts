import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Home, Homes, remoteEnv, type Summary } from "../support/starpost.ts";

const homes = new Homes();
let umask = 0;
// File modes must not depend on the user's umask.
beforeAll(() => {
  umask = process.umask(0);
});
afterAll(() => {
  process.umask(umask);
  homes.remove();
});

const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url";

function write(home: Home, name: string, text: string): string {
  const path = join(home.folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function writeOrders(home: Home, emails: readonly string[], name = "orders.csv"): string {
  const rows = emails.map((email, at) => `o-${name}-${at},2026-01-02,N,${email},p-${at},Name,https://shop.example/p`);
  return write(home, name, `${[header, ...rows].join("\n").replaceAll(/o-([a-z]+)\.csv/g, "o-$1")}\n`);
}

/** All entries of a folder that users other than its owner may read, with their modes. */
function findShared(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (!stat || (stat.mode & 0o077) === 0) return [];
    return [`${name} ${(stat.mode & 0o777).toString(8)}`];
  });
}

describe("stored files are private with a umask of 0", () => {
  test("after every type of command, and during an import", async () => {
    const home = homes.open();
    mkdirSync(join(home.folder, "out"), { mode: 0o700 });
    const emails = Array.from({ length: 30 }, (_, at) => `n${at}@example.com`);
    const orders = writeOrders(home, [...emails, "none"]);
    const products = write(
      home,
      "products.csv",
      "product_id,product_name,product_url\np-1,N,https://shop.example/1\n,N,https://shop.example/1\n",
    );
    const coupons = write(home, "coupons.csv", "code\nA1\nA1\n");
    const list = write(home, "list.csv", "email\na@example.com\n");
    const other = write(home, "other.csv", "email\nb@example.com\nwrong\n");
    const seen = new Set<string>();
    const run = async (...args: string[]) => {
      const ended = await home.run(args);
      expect(ended.stderr).not.toContain("unexpected:");
      for (const found of findShared(home.folder)) seen.add(`${found} after ${args.slice(0, 2).join(" ")}`);
      return ended;
    };
    const under = home.start(["orders", "import", orders, "--rate", "2", "--batch-size", "5", "--undoable"]);
    for (let check = 0; check < 20; check++) {
      await sleep(150);
      for (const found of findShared(home.folder)) seen.add(`${found} during an import`);
    }
    await under;
    await run("products", "import", products, "--rejects", join(home.folder, "out", "rejects.csv"), "--undoable");
    await run("coupons", "import", coupons, "--action", "map_review", "--verify");
    await run("unsubscribers", "import", list, "--type", "1");
    await run("unsubscribers", "sync", other, "--type", "1", "--max-resubscribe", "1", "--yes");
    await run("orders", "plan", orders, "--out", join(home.folder, "out", "plan.json"));
    await run("orders", "export", "--out", join(home.folder, "out", "orders-out.csv"));
    await run("auth", "status", "--redact");
    const [latest] = (await home.json<Summary[]>(["imports", "list"])).data;
    await run("imports", "undo", latest?.import_id ?? "", "--yes");
    const server = await home.serve();
    const { app_key: appKey, secret } = server;
    const login = ["auth", "login", "--base-url", server.url, "--app-key", appKey, "--secret-stdin"];
    expect((await home.run([...login, "--profile", "far"], { input: `${secret}\n` })).exitCode).toBe(0);
    await run("unsubscribers", "import", list, "--type", "2", "--profile", "far");
    await server.stop();
    await run("imports", "purge", "--older-than", "30d");
    expect([...seen]).toEqual([]);
    for (const name of ["starpost.db", "starpost.key", "redaction.key", "credentials.json", "tokens", "limits"]) {
      expect(existsSync(join(home.folder, name)), name).toBe(true);
    }
    for (const name of ["rejects.csv", "plan.json", "orders-out.csv"]) {
      expect(existsSync(join(home.folder, "out", name)), name).toBe(true);
    }
  });
});

test("imports purge removes unfinished runs only with --unfinished", async () => {
  const home = homes.open();
  const list = write(home, "list.csv", "email\na@example.com\n");
  const { data: summary } = await home.json(["unsubscribers", "import", list, "--type", "1"]);
  const manifest = join(home.folder, "imports", summary.import_id, "manifest.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"finished"', '"interrupted"'));
  const purge = (...flags: string[]) => home.json(["imports", "purge", "--older-than", "0h", "--yes", ...flags]);
  expect((await purge()).data).toMatchObject({ removed: [], kept: { running: 0, unfinished: 1 } });
  expect((await purge("--unfinished")).data).toMatchObject({
    removed: [{ import_id: summary.import_id, state: "interrupted" }],
  });
  expect((await home.run(["imports", "purge", "--older-than", "30"])).exitCode).toBe(2);
});

describe("--redact", () => {
  const people = ["Jane.Doe@example.com", "o'brien+x@example.ie", "jürgen@bücher.example", "a_b-c@localhost"];

  test("hides addresses in server logs and in the output of remote imports", async () => {
    const far = homes.open();
    const server = far.start(["serve", "--port", "0", "--json", "--verbose", "--redact"]);
    let [stdout, stderr] = ["", ""];
    server.stdout?.on("data", (data: Buffer) => (stdout += data.toString()));
    server.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
    while (!stdout.includes("\n")) await sleep(50);
    const { url } = JSON.parse(stdout) as { url: string };
    const account = (await far.json<{ app_key: string; secret: string }>(["auth", "credentials"])).data;
    const home = homes.open(remoteEnv({ url, ...account }));
    const list = write(home, "list.csv", `email\n${people.join("\n")}\nnone\n`);
    const { exitCode } = await home.run(["unsubscribers", "import", list, "--type", "1", "--redact"]);
    expect(exitCode).toBe(3);
    await fetch(`${url}/apps/${account.app_key}/purchases/?utoken=${people[0] ?? ""}`);
    server.kill("SIGTERM");
    await server;
    expect(stderr).toContain('"status":200');
    for (const person of people) expect(stderr.toLowerCase()).not.toContain(person.toLowerCase());
  });

  test("uses the same token for a person in all runs of an installation, and another one elsewhere", async () => {
    const [one, other] = [homes.open(), homes.open()];
    const readMessages = async (home: Home, email: string) =>
      (await home.run(["orders", "import", email, "--redact"])).stderr;
    const tokenOf = (text: string) => /person-\w+@redacted\.invalid/.exec(text)?.[0] ?? "";
    const token = tokenOf(await readMessages(one, "Jane@example.com"));
    expect(token).not.toBe("");
    expect(tokenOf(await readMessages(one, "jane@example.com"))).toBe(token);
    expect(tokenOf(await readMessages(other, "Jane@example.com"))).not.toBe(token);
  });
});
