import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test, beforeEach } from "vitest";
import { Homes, remoteEnv, type Home } from "../support/starpost.ts";
import { gzipSync } from "node:zlib";
import { stringify } from "csv-stringify/sync";

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

  test("accepts an empty type of an unsubscriber, except with --empty error", async () => {
    const file = write("u.csv", "email,email_type_id\na@example.com,\n");
    expect((await home.run(["unsubscribers", "import", file, "--type", "1"])).exitCode).toBe(0);
    const cleared = await home.run(["unsubscribers", "import", file, "--type", "1", "--empty", "clear"]);
    expect(cleared.exitCode).toBe(0);
    expect(cleared.stderr).toMatch(/email_type_id: .*--type/);
    expect((await home.run(["unsubscribers", "import", file, "--type", "1", "--empty", "error"])).exitCode).toBe(3);
  });
});

let home: Home;
beforeEach(() => {
  home = homes.open();
});

const productColumns = ["product_id", "name", "url", "upc", "isbn", "sku", "price", "description"];
const product = ["p-1", "Cap", "https://shop.example/p", "", "", "", "", ""];

function write(name: string, content: string | Buffer): string {
  const path = join(home.folder, name);
  writeFileSync(path, content);
  return path;
}

async function importRows(args: readonly string[], delimiter = ",") {
  const { data, exitCode, stderr } = await home.json([...args]);
  const rows = data.rejects_file == null ? [] : readRejects(data.rejects_file, delimiter);
  return { data, exitCode, stderr, rejects: rows.map((row) => [row["_line"], row["_column"], row["_code"]]) };
}

function readRejects(path: string, delimiter: string): Record<string, string>[] {
  return parse(readFileSync(path, "utf8"), { columns: true, delimiter });
}

describe("values damaged by a spreadsheet program", () => {
  test("are rejected in the columns of a shop's layout before they are converted", async () => {
    const header =
      "Name,Email,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Financial Status";
    const cells = (name: string, sku: string) => `${name},a@example.com,2026-01-02,1,Hat,10.00,${sku},Ana,paid`;
    const file = write("s.csv", `${header}\n${cells("#REF!", "H-1")}\n${cells("#1002", "1.2E+11")}\n`);
    const url = "https://shop.example/{product_id}";
    const { rejects } = await importRows(["orders", "import", file, "--product-url", url]);
    expect(rejects).toEqual([
      ["2", "Name", "spreadsheet_error"],
      ["3", "Lineitem sku", "scientific_notation"],
    ]);
  });
});

describe("a row with an unclosed quote", () => {
  const rows = [
    'a,"never closed,https://shop.example/a,',
    'b,Cap,https://shop.example/b,"x',
    'c,"Cap"x,https://shop.example/c,',
    'd,Cap,"https://shop.example/d,',
    'e,Cap,https://shop.example/e,5" wide',
    'f,Cap,https://shop.example/f,"',
  ];

  test.each([",", ";", "\t"])("is rejected again if it is imported unedited, and can be corrected (%j)", async (c) => {
    const lines = ["product_id,name,url,description", ...rows].map((line) => line.replaceAll(",", c));
    const first = await importRows(["products", "import", write("p.csv", `${lines.join("\n")}\n`)], c);
    expect(first.data.rows).toEqual({ read: 6, accepted: 1, rejected: 5, failed: 0 });
    const rejects = first.data.rejects_file ?? "";
    for (const path of [rejects, undefined]) {
      const again = await importRows(["products", "import", path ?? write("copy.csv", readFileSync(rejects))], c);
      expect(again.exitCode).toBe(3);
      expect(again.data.rows).toEqual({ read: 5, accepted: 0, rejected: 5, failed: 0 });
      expect(again.rejects.map(([, , code]) => code)).toEqual(Array(5).fill("bad_quote"));
      const unchanged = (found: string) => readRejects(found, c).map(({ product_id, name }) => [product_id, name]);
      expect(unchanged(again.data.rejects_file ?? "")).toEqual(unchanged(rejects));
    }
    const corrected = parse(readFileSync(rejects, "utf8"), { delimiter: c });
    for (const row of corrected.slice(1)) {
      for (const [at, cell] of row.slice(0, 4).entries()) row[at] = cell.replaceAll('"', "");
    }
    const last = await importRows([
      "products",
      "import",
      write("corrected.csv", stringify(corrected, { delimiter: c })),
    ]);
    expect(last.data.rows).toEqual({ read: 5, accepted: 5, rejected: 0, failed: 0 });
  });

  test("can be accepted as it is by clearing its code", async () => {
    const rejected = 'product_id,name,url,_line,_code\na,"""odd",https://shop.example/a,2,';
    const kept = await importRows(["products", "import", write("k.csv", `${rejected}bad_quote\n`)]);
    expect(kept.data.rows).toMatchObject({ accepted: 0, rejected: 1 });
    const cleared = await importRows(["products", "import", write("c.csv", `${rejected}\n`)]);
    expect(cleared.data.rows).toMatchObject({ accepted: 1, rejected: 0 });
  });
});

describe("oversized values", () => {
  test("a row of 20 MB without quotes counts as one row", async () => {
    const file = write(
      "long.csv",
      `${productColumns.join(",")}\np-1,${"x".repeat(20_000_000)}\n${product.join(",")}\n`,
    );
    const { data, rejects } = await importRows(["products", "import", file]);
    expect(data.rows).toEqual({ read: 2, accepted: 1, rejected: 1, failed: 0 });
    expect(rejects).toEqual([["2", "", "record_too_long"]]);
  });

  test("an archive with an absurd expansion is refused before anything is sent", async () => {
    const content = Buffer.concat([Buffer.from("product_id,name,url\n"), Buffer.alloc(200_000_000, "a,\n")]);
    const { exitCode, stderr } = await home.run(["products", "import", write("bomb.csv.gz", gzipSync(content))]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/bomb\.csv\.gz: the gzip archive expands to more than/);
    expect((await home.json<unknown>(["imports", "list"])).data).toEqual([]);
  });
});
