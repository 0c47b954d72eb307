import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { execa } from "execa";
import { type Arbitrary, sample as draw } from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unmarkFormula } from "../../src/export/formula-mark.ts";
import {
  someAddresses,
  someCodes,
  someNames,
  someOrders,
  someProducts,
  someReviews,
} from "../support/export-content.ts";
import { type Home, Homes, remoteEnv } from "../support/starpost.ts";
import { isSlowSuite } from "../support/suite-size.ts";

const homes = new Homes();
afterAll(() => homes.remove());

type Server = Awaited<ReturnType<Home["serve"]>>;

/** A served account and an HTTP client for it. */
async function openAccount() {
  const home = homes.open();
  const server = await home.serve();
  const utoken = (await home.run(["auth", "token"])).stdout.trim();
  const call = async (method: string, path: string, body: object) => {
    const reply = await fetch(server.url + path.replace("{app_key}", server.app_key), {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ utoken, appkey: server.app_key, ...body }),
    });
    const answer = (await reply.json()) as { errors?: unknown };
    expect([reply.status, answer.errors], JSON.stringify(answer)).toEqual([200, undefined]);
  };
  return { home, server, utoken, call };
}

/** Exports, imports into an empty account, and exports again. */
async function exportAndImport(
  noun: string,
  from: Home,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
  prepare: (empty: Home) => Promise<unknown> = async () => {},
) {
  const empty = homes.open();
  await prepare(empty);
  const [first, second] = [join(empty.folder, "first.csv"), join(empty.folder, "second.csv")];
  const exported = await from.run([noun, "export", "--out", first], { env });
  expect(exported, exported.stderr).toMatchObject({ exitCode: 0, stdout: "" });
  const imported = await empty.run([noun, "import", first, ...flags]);
  expect(imported.exitCode, imported.stderr).toBe(0);
  const again = await empty.run([noun, "export", "--out", second]);
  expect(again.exitCode, again.stderr).toBe(0);
  return { first: readFileSync(first, "utf8"), second: readFileSync(second, "utf8"), empty };
}

function readCsv(text: string): Record<string, string>[] {
  return parse(text, { columns: true, cast: unmarkFormula });
}

/** Samples an arbitrary: the same content for the same seed, which a failure reports. */
function sample<T>(arbitrary: Arbitrary<T>, seed: number): T {
  const [value] = draw(arbitrary, { numRuns: 1, seed });
  if (value === undefined) throw new Error("the arbitrary returned no value");
  return value;
}

function inOrder(texts: readonly string[]): string[] {
  return texts.toSorted((a, b) => (a < b ? -1 : 1));
}

const seeds = isSlowSuite ? [1, Date.now() % 1_000_000] : [1];

describe.each(seeds)("export, import, and export again give the same bytes, seed %i", (seed) => {
  let account: Awaited<ReturnType<typeof openAccount>>;
  beforeAll(async () => {
    account = await openAccount();
  });
  afterAll(async () => {
    await account.server.stop();
  });

  test("products", async () => {
    const products = sample(someProducts, seed);
    await fetch(`${account.server.url}/apps/${account.server.app_key}/products/mass_create`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ utoken: account.utoken, products }),
    });
    const { first, second } = await exportAndImport("products", account.home, [], remoteEnv(account.server));
    expect(second).toBe(first);
    const rows = readCsv(first);
    expect(rows).toHaveLength(Object.keys(products).length);
    for (const row of rows) {
      const given = products[row["product_id"] ?? ""];
      expect([row["name"], row["url"], row["description"], row["product_tags"], row["price"]]).toEqual([
        given?.name,
        given?.url,
        given?.description ?? "",
        given?.product_tags ?? "",
        given?.price ?? "",
      ]);
    }
  });

  test("orders", async () => {
    const calls = sample(someOrders, seed);
    for (const { platform, orders } of calls) {
      await account.call("POST", "/apps/{app_key}/purchases/mass_create", { platform, orders });
      // More units of the same products, each with its own price.
      const pricier = structuredClone(orders.slice(0, 3));
      for (const product of pricier.flatMap(({ products }) => Object.values(products))) {
        Object.assign(product, { price: 99.25, quantity: 4 });
      }
      await account.call("POST", "/apps/{app_key}/purchases/mass_create", { platform, orders: pricier });
    }
    const { first, second, empty } = await exportAndImport("orders", account.home, [], remoteEnv(account.server));
    expect(second).toBe(first);
    const ids = new Set(calls.flatMap(({ orders }) => orders.map(({ order_id }) => order_id)));
    expect(new Set(readCsv(first).map(({ order_id }) => order_id))).toEqual(ids);
    expect(new Set(readCsv(first).map(({ product_price }) => product_price))).toContain("99.25");
    const ndjson = await empty.run(["orders", "export", "--format", "ndjson"]);
    const records = ndjson.stdout.split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.map((record) => Object.values(record).map((value) => value ?? ""))).toEqual(
      readCsv(first).map((row) => Object.values(row)),
    );
  });

  test("coupons", async () => {
    const codes = sample(someCodes, seed);
    await account.call("POST", "/apps/{app_key}/coupons/unique", { coupon_action: "map_share", codes });
    const { first, second } = await exportAndImport(
      "coupons",
      account.home,
      ["--action", "map_share"],
      remoteEnv(account.server),
    );
    expect(second).toBe(first);
    expect(new Set(readCsv(first).map(({ code }) => code))).toEqual(new Set(codes));
  });

  test("unsubscribers", async () => {
    const email_list = sample(someAddresses, seed);
    await account.call("POST", "/apps/{app_key}/unsubscribers/mass_create", { email_list });
    const { first, second } = await exportAndImport("unsubscribers", account.home, [], remoteEnv(account.server));
    expect(second).toBe(first);
    const wanted = Object.entries(email_list).flatMap(([type, emails]) =>
      emails.map((email) => `${type} ${email.toLowerCase()}`),
    );
    const found = readCsv(first).map(({ email, email_type_id }) => `${email_type_id} ${email?.toLowerCase()}`);
    expect(found.toSorted()).toEqual([...new Set(wanted)].toSorted());
  });

  test("groups", async () => {
    const names = [...new Set(sample(someNames, seed).map((name) => name.trim().normalize("NFC").toLowerCase()))];
    const products = join(account.home.folder, "members.csv");
    const rows = names.map((_, at) => `'-${at},=1+1,https://shop.example/${at}\n`);
    writeFileSync(products, `product_id,name,url\n${rows.join("")}`);
    const imported = await account.home.run(["products", "import", products], { env: remoteEnv(account.server) });
    expect(imported.exitCode, imported.stderr).toBe(0);
    for (const [at, group_name] of names.entries()) {
      await account.call("POST", "/v1/apps/{app_key}/products_groups", { group_name });
      const path = `/v1/apps/{app_key}/products_groups/${encodeURIComponent(group_name)}`;
      await account.call("PUT", path, { product_ids_to_add: [`-${at}`] });
    }
    const addProducts = (empty: Home) => empty.run(["products", "import", products]);
    const { first, second } = await exportAndImport("groups", account.home, [], remoteEnv(account.server), addProducts);
    expect(second).toBe(first);
    expect(new Set(readCsv(first).map(({ group }) => group))).toEqual(new Set(names));
  });

  test("reviews, including duplicates", async () => {
    const reviews = sample(someReviews, seed);
    for (const review of [...reviews, ...reviews.slice(0, 2)]) {
      await account.call("POST", "/reviews/dynamic_create", review);
    }
    const { first, second } = await exportAndImport("reviews", account.home, [], remoteEnv(account.server));
    expect(second).toBe(first);
    const rows = readCsv(first);
    const written = [...reviews, ...reviews.slice(0, 2)].map(({ review_content }) => review_content);
    expect(inOrder(rows.map(({ review_content = "" }) => review_content))).toEqual(inOrder(written));
  });
});

describe("products that only reviews refer to", () => {
  const home = homes.open();
  beforeAll(async () => {
    const products = join(home.folder, "p.csv");
    writeFileSync(products, "product_id,name,url\npot,Pot,https://shop.example/pot\n");
    const reviews = join(home.folder, "r.csv");
    const header = "date,review_title,review_content,review_score,display_name,email,product_id,product_title,";
    const of = (id: string, title: string, url: string) =>
      `2025-01-02,Fine,Fine indeed,5,Ann,a@b.example,${id},${title},${url}\n`;
    writeFileSync(
      reviews,
      `${header}product_url\n${of("pot", "Pot", "")}${of("lid", "Lid", "")}${of("pan", "Pan", "https://shop.example/pan")}`,
    );
    for (const args of [
      ["products", "import", products],
      ["reviews", "import", reviews],
    ]) {
      const { exitCode, stderr } = await home.run(args);
      expect(exitCode, stderr).toBe(0);
    }
  });

  test("are restored with the reviews, without rejected rows and with the same bytes", async () => {
    const empty = homes.open();
    const exportAll = async (from: Home, name: string) => {
      const texts: string[] = [];
      for (const noun of ["products", "reviews"]) {
        const file = join(empty.folder, `${name}-${noun}.csv`);
        expect((await from.run([noun, "export", "--out", file])).exitCode).toBe(0);
        texts.push(readFileSync(file, "utf8"));
      }
      return texts;
    };
    const first = await exportAll(home, "first");
    expect(readCsv(first[0] ?? "").map(({ product_id }) => product_id)).toEqual(["pan", "pot"]);
    for (const noun of ["products", "reviews"]) {
      const imported = await empty.run([noun, "import", join(empty.folder, `first-${noun}.csv`)]);
      expect(imported.exitCode, imported.stderr).toBe(0);
    }
    expect(await exportAll(empty, "second")).toEqual(first);
    const inJson = async (of: Home) =>
      (await of.json<{ product_id: string }[]>(["products", "export"])).data.map(({ product_id }) => product_id);
    expect(await inJson(home)).toEqual(["lid", "pan", "pot"]);
    expect(await inJson(empty)).toEqual(["lid", "pan", "pot"]);
  });

  test("are omitted from CSV with a warning", async () => {
    const { stderr } = await home.run(["products", "export"]);
    expect(stderr).toMatch(/omitted 1 product/);
    expect((await home.run(["products", "export", "--json"])).stderr).not.toContain("omitted");
  });
});

describe("export", () => {
  const home = homes.open();
  let server: Server;
  const rows = 1_500;
  beforeAll(async () => {
    const file = join(home.folder, "orders.csv");
    const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
    const line = (at: number) =>
      `${at},2026-01-02,${at === 7 ? '"=HYPERLINK(""x"")"' : "Ann"},a@b.example,p-${at % 50},Pot,https://shop.example/p\n`;
    writeFileSync(file, header + Array.from({ length: rows }, (_, at) => line(at)).join(""));
    expect((await home.run(["orders", "import", file])).exitCode).toBe(0);
    server = await home.serve();
  });
  afterAll(async () => {
    await server.stop();
  });

  test("writes a header or an empty list if there are no records", async () => {
    const empty = homes.open();
    await empty.init();
    expect((await empty.run(["unsubscribers", "export"])).stdout).toBe("email,email_type_id");
    expect((await empty.run(["reviews", "export", "--format", "ndjson"])).stdout).toBe("");
    expect((await empty.json<unknown[]>(["products", "export"])).data).toEqual([]);
  });

  test("reads all pages, in CSV, NDJSON, and JSON", async () => {
    const csv = await home.run(["orders", "export"], { env: remoteEnv(server) });
    expect(readCsv(csv.stdout)).toHaveLength(rows);
    const json = await home.json<Record<string, string>[]>(["orders", "export", "--rate", "0"], {
      env: remoteEnv(server),
    });
    const ids = Array.from({ length: rows }, (_, at) => String(at)).toSorted();
    expect(json.data.map(({ order_id }) => order_id)).toEqual(ids);
    expect(json.data[0]).toMatchObject({ platform: "general", product_tags: null, order_date: "2026-01-02" });
  });

  test("writes a complete file or none, readable only by its owner", async () => {
    const folder = join(home.folder, "out");
    mkdirSync(folder);
    const file = join(folder, "orders.csv");
    writeFileSync(file, "what was there before");
    const link = join(folder, "link.csv");
    symlinkSync(file, link);
    const { exitCode, data: summary } = await home.json<object>(["orders", "export", "--out", link, "--yes"]);
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({ noun: "orders", state: "finished", file: link, format: "json", rows });
    expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveLength(rows);
    expect(readdirSync(folder).toSorted()).toEqual(["link.csv", "orders.csv"]);
  });

  test("exits with 130 when interrupted, and keeps the previous file", async () => {
    const folder = join(home.folder, "interrupted");
    mkdirSync(folder);
    const file = join(folder, "orders.csv");
    writeFileSync(file, "what was there before");
    const run = home.start(["orders", "export", "--out", file, "--rate", "1", "--yes"], { env: remoteEnv(server) });
    // The temporary file next to the file that it will replace.
    await expect.poll(() => readdirSync(folder).length).toBe(2);
    run.kill("SIGINT");
    const { exitCode, stderr } = await run;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(/orders\.csv/);
    expect(readFileSync(file, "utf8")).toBe("what was there before");
    expect(readdirSync(folder)).toEqual(["orders.csv"]);
  });

  test("exits without an error if the reader closes the pipe", async () => {
    const shell = "node bin/starpost.js orders export | head -n 2";
    const { stdout, stderr, exitCode } = await execa("bash", ["-o", "pipefail", "-c", shell], {
      env: home.env,
      extendEnv: false,
      reject: false,
    });
    expect(stdout.split("\n")[0]).toMatch(/^order_id,email,customer_name,order_date,/);
    expect(stdout.split("\n")).toHaveLength(2);
    expect(stderr).not.toMatch(/error|EPIPE|Exported/i);
    expect(exitCode).toBe(0);
  });

  test.skipIf(!existsSync("/dev/full"))("exits with 1 and one error if the disk is full", async () => {
    const rejected = join(home.folder, "rejected.csv");
    writeFileSync(
      rejected,
      "order_id,email,customer_name,order_date,product_id,product_name,product_url\n1,wrong,,,,,\n",
    );
    const plan = `orders plan ${rejected} --json`;
    for (const command of ["orders export", "imports list --json", plan, "--version", "--help"]) {
      const { stderr, exitCode } = await execa("sh", ["-c", `node bin/starpost.js ${command} > /dev/full`], {
        env: home.env,
        extendEnv: false,
        reject: false,
      });
      expect(exitCode, command).toBe(1);
      const isJson = command.endsWith("--json");
      const message = isJson
        ? (JSON.parse(stderr.split("\n").at(-1) ?? "") as { error: { message: string } }).error.message
        : stderr;
      expect(message, command).toMatch(/disk is full|no space left/i);
      expect(stderr, command).not.toMatch(/^\s+at /m);
    }
  });

  test("and lists protect spreadsheets from formulas, except with --raw", async () => {
    for (const [command, raw] of [
      [["orders", "export"], `=HYPERLINK("x")`],
      [["orders", "list", "--details", "--format", "csv", "--columns", "user_name"], `=HYPERLINK("x")`],
      [["mail", "why", "7", "--format", "csv"], `=HYPERLINK("x")`],
    ] as const) {
      const cells = parse((await home.run(command)).stdout).flat();
      expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
      if (command[0] === "orders") expect(cells).toContain(`'${raw}`);
      const unprotected = parse((await home.run([...command, "--raw"])).stdout).flat();
      expect(unprotected).toEqual(cells.map(unmarkFormula));
    }
  });

  test("leaves the cells of reject files as they were", async () => {
    const file = join(home.folder, "marked.csv");
    const cells = ["'=1+1", "=1+1", "''=1+1", "'x"];
    writeFileSync(
      file,
      `order_id,order_date,customer_name,email\n${cells.map((cell) => `1,2026-01-02,${cell},wrong`).join("\n")}\n`,
    );
    const { data: summary } = await home.json<{ rejects_file: string }>([
      "unsubscribers",
      "import",
      file,
      "--type",
      "1",
    ]);
    const rejected: Record<string, string>[] = parse(readFileSync(summary.rejects_file, "utf8"), { columns: true });
    expect(rejected.map(({ customer_name: name }) => name)).toEqual(cells);
  });

  test("starts with a byte order mark with --safe-for-excel", async () => {
    const { stdout } = await home.run(["orders", "export", "--safe-for-excel"], { stripFinalNewline: false });
    expect(stdout.startsWith("\u{feff}order_id,")).toBe(true);
    const json = await home.run(["orders", "export", "--safe-for-excel", "--json"]);
    expect(json.exitCode).toBe(2);
  });

  test("redacts addresses with --redact, and refuses to write such a file", async () => {
    const { stdout } = await home.run(["orders", "export", "--redact"]);
    expect(stdout).not.toMatch(/a@b\.example/);
    const toFile = await home.run(["orders", "export", "--redact", "--out", join(home.folder, "hidden.csv")]);
    expect([toFile.exitCode, toFile.stderr]).toEqual([2, expect.stringMatching(/--redact/)]);
  });

  test("exports records since a date", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const [all, none] = [
      await home.run(["orders", "export", "--since", today]),
      await home.run(["orders", "export", "--since", "2999-01-01"]),
    ];
    expect(readCsv(all.stdout)).toHaveLength(rows);
    expect(readCsv(none.stdout)).toHaveLength(0);
    const wrong = await home.run(["orders", "export", "--since", "2026-02-30"]);
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/"2026-02-30" for --since/)]);
  });

  test.each([
    ["a folder that is not there", "nowhere/orders.csv"],
    ["a folder", "."],
  ])("rejects %s as --out before reading anything", async (_what, out) => {
    const { exitCode, stderr } = await home.run(["orders", "export", "--out", join(home.folder, out)]);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^error: /)]);
  });

  test("reports the columns that the service does not return once", async () => {
    const plain = {
      id: 1,
      user_email: "a@b.example",
      user_name: "Ann",
      order_id: "1",
      product_sku: "p",
      product_name: "Pot",
      product_url: "https://shop.example/p",
      order_date: "2026-01-02T00:00:00.000Z",
      product_description: null,
      created_at: "2026-01-02T00:00:00.000Z",
    };
    const { createServer } = await import("node:http");
    const elsewhere = createServer((request, response) => {
      const isToken = request.url?.startsWith("/oauth") === true;
      const body = isToken
        ? { access_token: "t", token_type: "bearer" }
        : { status: { code: 200, message: "OK" }, response: { purchases: [plain], total_purchases: 1 } };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const { port } = elsewhere.address() as { port: number };
    const env = { STARPOST_BASE_URL: `http://127.0.0.1:${port}`, STARPOST_APP_KEY: "k", STARPOST_SECRET: "s" };
    const { stdout, stderr } = await homes.open().run(["orders", "export"], { env });
    elsewhere.close();
    expect(
      stderr.match(/currency_iso, user_reference, language, platform, product_image, product_price,/g),
    ).toHaveLength(1);
    expect(readCsv(stdout)[0]).toMatchObject({ order_id: "1", platform: "", product_price: "" });
  });
});
