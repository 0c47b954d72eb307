import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const header = "product_id,name,url,description,price,sku\n";
const full = `${header}p-1,One,https://s.example/1,First words,1.50,s1\np-2,Two,https://s.example/2,Second words,2.50,s2\n`;
const emptied = `${header}p-1,One,https://s.example/1,,,s1\np-2,Two,https://s.example/2,New words,3.50,s2\n`;

type Store = Awaited<ReturnType<ReturnType<Homes["open"]>["serve"]>>;

/** Reads the products of a served account over HTTP. */
async function readProducts(server: Store, utoken: string): Promise<Map<string, Record<string, unknown>>> {
  const reply = await fetch(`${server.url}/core/v3/stores/${server.app_key}/products`, {
    headers: { "X-Service-Token": utoken },
  });
  const { products } = (await reply.json()) as { products: Record<string, unknown>[] };
  return new Map(products.map((product) => [String(product["external_id"]), product]));
}

describe("products import --update into a served account", () => {
  const home = homes.open();
  let server: Store;
  let env: Record<string, string>;
  let utoken = "";
  const write = (name: string, content: string) => {
    const path = join(home.folder, name);
    writeFileSync(path, content);
    return path;
  };

  beforeAll(async () => {
    server = await home.serve();
    env = remoteEnv(server);
    utoken = (await home.run(["auth", "token"], { env })).stdout.trim();
  });
  afterAll(async () => {
    await server.stop();
  });

  const fill = () => home.run(["products", "import", write("full.csv", full)], { env });

  test.each([[[]], [["--empty", "keep"]]])("%j keeps stored values", async (flags) => {
    await fill();
    const args = ["products", "import", write("emptied.csv", emptied), "--update", ...flags];
    const { exitCode, stderr } = await home.run(args, { env });
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/erase|dropped/);
    const stored = await readProducts(server, utoken);
    expect(stored.get("p-1")).toMatchObject({ description: "First words" });
    expect(stored.get("p-2")).toMatchObject({ description: "New words" });
  });

  test("--empty clear erases the description, and lists the fields that it cannot erase", async () => {
    await fill();
    const before = (await readProducts(server, utoken)).get("p-1");
    const args = ["products", "import", write("emptied.csv", emptied), "--update", "--empty", "clear"];
    const { exitCode, stderr } = await home.run(args, { env });
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/1 empty cell .*description.*emptied\.csv:2/);
    expect(stderr).toMatch(/1 cell .* price: /);
    const stored = await readProducts(server, utoken);
    expect(stored.get("p-1")?.["description"]).toBeNull();
    expect(stored.get("p-1")?.["price"]).toBe(before?.["price"]);
    expect(stored.get("p-2")).toMatchObject({ description: "New words" });
  });

  test("--empty clear erases nothing if the file has no such column", async () => {
    await fill();
    const file = write("no-column.csv", "product_id,price\np-1,9.00\n");
    const args = ["products", "import", file, "--update", "--empty", "clear"];
    expect((await home.run(args, { env })).exitCode).toBe(0);
    expect((await readProducts(server, utoken)).get("p-1")).toMatchObject({ description: "First words" });
  });

  test("--empty error rejects the row, and accepts the corrected row", async () => {
    await fill();
    const args = ["products", "import", write("emptied.csv", emptied), "--update", "--empty", "error"];
    const { exitCode, data, stderr } = await home.json(args, { env });
    expect(exitCode).toBe(3);
    expect(data.rows).toEqual({ read: 2, accepted: 1, rejected: 1, failed: 0 });
    expect(stderr).toMatch(/1 row: description .*emptied\.csv:2/);
    const rejects = readFileSync(data.rejects_file ?? "", "utf8");
    const [row]: Record<string, string>[] = parse(rejects, { columns: true });
    expect(row).toMatchObject({ _line: "2", _column: "description", _code: "empty_cell", product_id: "p-1" });
    expect(row?.["_reason"]).toMatch(/description .*; price .*--empty keep$/);
    expect((await readProducts(server, utoken)).get("p-1")).toMatchObject({ description: "First words" });
    const corrected = write(
      "corrected.csv",
      rejects.replace("https://s.example/1,,,", "https://s.example/1,Corrected,4,"),
    );
    const again = ["products", "import", corrected, "--update", "--empty", "error"];
    expect((await home.run(again, { env })).exitCode).toBe(0);
    expect((await readProducts(server, utoken)).get("p-1")).toMatchObject({ description: "Corrected" });
  });
});

describe("the embedded engine", () => {
  const home = homes.open();
  const write = (name: string, content: string) => {
    const path = join(home.folder, name);
    writeFileSync(path, content);
    return path;
  };
  const orders =
    "order_id,order_date,customer_name,email,product_id,product_name,product_url,product_description,currency_iso\n" +
    "o-1,2026-01-02,N,n@example.com,p-1,Name,https://shop.example/p,,EUR\n" +
    "o-2,2026-01-02,N,n@example.com,p-2,Name,https://shop.example/p,Words,\n";

  test("resumes a run with the same value of --empty", async () => {
    await home.run(["products", "import", write("full.csv", full)]);
    const bad = `${emptied}${"p-3,,x,,,\n".repeat(3)}`;
    const file = write("stopped.csv", bad);
    const args = ["products", "import", file, "--update", "--empty", "clear", "--max-errors", "0", "--json"];
    const stopped = await home.run(args);
    expect(stopped.exitCode).toBe(6);
    const { import_id } = JSON.parse(stopped.stdout) as { import_id: string };
    const resumed = await home.run(["imports", "resume", import_id, "--max-errors", "10"]);
    expect(resumed.exitCode).toBe(3);
    expect(resumed.stderr).toMatch(/1 empty cell .*description/);
  });

  test("reports in a dry run what would be erased", async () => {
    const args = ["products", "import", write("emptied.csv", emptied), "--update", "--empty", "clear", "--dry-run"];
    expect((await home.run(args)).stderr).toMatch(/1 empty cell .*description/);
  });

  test("warns that creating products erases nothing", async () => {
    const args = ["products", "import", write("emptied.csv", emptied), "--empty", "clear"];
    const { exitCode, stderr } = await home.run(args);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/1 cell .* description: .*--update/);
  });

  test("warns that importing orders erases nothing", async () => {
    const { exitCode, stderr } = await home.run(["orders", "import", write("o.csv", orders), "--empty", "clear"]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/1 cell .* product_description: /);
    expect(stderr).toMatch(/1 cell .* currency_iso: /);
  });

  test("rejects only rows with an empty cell with orders --empty error", async () => {
    const { data } = await home.json(["orders", "import", write("o.csv", orders), "--empty", "error"]);
    expect(data.rows).toMatchObject({ accepted: 0, rejected: 2 });
    const rows: Record<string, string>[] = parse(readFileSync(data.rejects_file ?? "", "utf8"), {
      columns: true,
    });
    expect(rows.map(({ _line, _column, _code }) => [_line, _column, _code])).toEqual([
      ["2", "product_description", "empty_cell"],
      ["3", "currency_iso", "empty_cell"],
    ]);
  });

  test("does not treat a cell that --set fills as empty", async () => {
    const args = ["orders", "import", write("o.csv", orders), "--empty", "error", "--set", "currency_iso=EUR"];
    const { data } = await home.json(args);
    const rows: Record<string, string>[] = parse(readFileSync(data.rejects_file ?? "", "utf8"), {
      columns: true,
    });
    expect(rows.map(({ _column }) => _column)).toEqual(["product_description"]);
  });

  test("accepts an empty type of an unsubscriber, except with --empty error", async () => {
    const file = write("u.csv", "email,email_type_id\na@example.com,\n");
    expect((await home.run(["unsubscribers", "import", file, "--type", "1"])).exitCode).toBe(0);
    const cleared = await home.run(["unsubscribers", "import", file, "--type", "1", "--empty", "clear"]);
    expect(cleared.exitCode).toBe(0);
    expect(cleared.stderr).toMatch(/email_type_id: .*--type/);
    expect((await home.run(["unsubscribers", "import", file, "--type", "1", "--empty", "error"])).exitCode).toBe(3);
  });
});
