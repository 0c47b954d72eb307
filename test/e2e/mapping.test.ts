import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import iconv from "iconv-lite";
import { parse } from "csv-parse/sync";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const german =
  "Bestellnr;Bestelldatum;Kunde;E-Mail-Adresse;Artikelnummer;Artikelbezeichnung;Einzelpreis;Land\n" +
  "B-1;2026-01-03;Max Müller;max@example.com;a-1;Schöner Hut;12.50;DE\n" +
  "B-2;2026-01-04;Eva Groß;eva@example.com;a-2;Schal;8.00;AT\n";

const columns = {
  order_id: "Bestellnr",
  order_date: "Bestelldatum",
  customer_name: "Kunde",
  email: "E-Mail-Adresse",
  product_id: "Artikelnummer",
  product_name: "Artikelbezeichnung",
  product_price: "Einzelpreis",
};
const url = "https://laden.example/p/{product_id}";
const valid = { format: 1, kind: "orders", layout: "none", columns, product_url: url };

let home: Home;
beforeEach(() => {
  home = homes.open();
});

function write(name: string, content: string | Buffer | object): string {
  const path = join(home.folder, name);
  const isText = typeof content === "string" || Buffer.isBuffer(content);
  writeFileSync(path, isText ? content : JSON.stringify(content));
  return path;
}

interface Purchase {
  readonly order_id: string;
  readonly product_sku: string;
  readonly product_name: string;
  readonly product_url: string;
  readonly user_name: string;
}

/** Reads the content of the embedded database over HTTP. */
async function readPurchases(): Promise<Purchase[]> {
  const server = await home.serve();
  const utoken = (await home.run(["auth", "token"])).stdout.trim();
  const reply = await fetch(`${server.url}/apps/${server.app_key}/purchases?utoken=${utoken}&count=100`);
  const { response } = (await reply.json()) as { response: { purchases: Purchase[] } };
  await server.stop();
  return response.purchases;
}

describe("--mapping", () => {
  test("defines columns, constant values, URLs, delimiter, and encoding", async () => {
    const file = write("b.csv", iconv.encode(german.replaceAll(";", "#"), "windows-1252"));
    const mapping = write("m.json", {
      ...valid,
      set: { currency_iso: "EUR" },
      delimiter: "#",
      encoding: "windows-1252",
    });
    const { exitCode, data, stderr } = await home.json(["orders", "import", file, "--mapping", mapping]);
    expect(stderr).not.toContain("error");
    expect(exitCode).toBe(0);
    expect(data.rows).toMatchObject({ read: 2, accepted: 2 });
    expect(await readPurchases()).toEqual([
      expect.objectContaining({
        order_id: "B-1",
        product_sku: "a-1",
        product_name: "Schöner Hut",
        product_url: "https://laden.example/p/a-1",
        user_name: "Max Müller",
      }),
      expect.objectContaining({ order_id: "B-2", product_sku: "a-2", user_name: "Eva Groß" }),
    ]);
  });

  test("is overridden by flags, field by field", async () => {
    const file = write("b.csv", german.replace("Land", "Kürzel"));
    const mapping = write("m.json", { ...valid, columns: { ...columns, product_name: "Kunde" }, delimiter: "," });
    const flags = [
      "--map",
      "Product Name=Kürzel",
      "--delimiter",
      ";",
      "--product-url",
      "https://other.example/{sku}{product_id}",
    ];
    const { exitCode } = await home.json(["orders", "import", file, "--mapping", mapping, ...flags, "--set", "sku=s"]);
    expect(exitCode).toBe(0);
    const [first] = await readPurchases();
    expect(first).toMatchObject({
      product_name: "DE",
      product_url: "https://other.example/sa-1",
      user_name: "Max Müller",
    });
  });

  test("is not read by a resume; the run has stored its content", async () => {
    const bad = "B-3;2026-01-05;;nobody;a-3;Mantel;1;DE\n";
    const file = write("b.csv", german.replace("B-2;", `${bad}B-2;`));
    const mapping = write("m.json", valid);
    const args = ["orders", "import", file, "--mapping", mapping, "--max-errors", "0"];
    const stopped = await home.json(args);
    expect(stopped.exitCode).toBe(6);
    rmSync(mapping);
    const resumed = await home.json(["imports", "resume", stopped.data.import_id, "--max-errors", "5"]);
    expect(resumed.exitCode).toBe(3);
    expect(resumed.data.rows).toEqual({ read: 3, accepted: 2, rejected: 1, failed: 0 });
    // The reject file has the original columns, so the same mapping imports it.
    const [reject] = parse(readFileSync(resumed.data.rejects_file ?? "", "utf8"), {
      columns: true,
      delimiter: ";",
    }) as Record<string, string>[];
    expect(reject).toMatchObject({ Bestellnr: "B-3", _column: "E-Mail-Adresse", _line: "3" });
    write("m.json", valid);
    const corrected = readFileSync(resumed.data.rejects_file ?? "", "utf8").replace(
      ";;nobody;",
      ";Ina;ina@example.com;",
    );
    const again = await home.json(["orders", "import", write("c.csv", corrected), "--mapping", mapping]);
    expect(again.exitCode).toBe(0);
    expect(await readPurchases()).toHaveLength(3);
  });

  test("rejects a missing mapping file", async () => {
    const { exitCode, stderr } = await home.run(["orders", "import", write("b.csv", german), "--mapping", "no.json"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/"no\.json" for --mapping/);
  });
});

describe("map without a terminal", () => {
  const at = (name: string) => join(home.folder, name);

  test("prints a proposed mapping on stdout and confidence on stderr, without any row", async () => {
    const file = write("b.csv", german);
    const { exitCode, stdout, stderr } = await home.run(["orders", "map", file, "--product-url", url]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      format: 1,
      kind: "orders",
      layout: "none",
      columns,
      product_url: url,
      delimiter: ";",
    });
    expect(stderr).toMatch(/order_id\s+column 'Bestellnr' \(sure\)/);
    expect(stderr).toMatch(/Unused columns: Land/);
    expect(stderr).toContain(`starpost orders import ${file} --mapping mapping.json`);
    expect(stdout + stderr).not.toMatch(/Müller|example\.com/);
  });

  test.each<[number, readonly string[]]>([
    [2, []],
    [0, ["--product-url", url]],
    [0, ["--store-url", "https://laden.example"]],
    [0, ["--map", "product_url=Land"]],
    [0, ["--set", "product_url=https://laden.example"]],
  ])("ends with %i if a file has no product URLs: %j", async (status, flags) => {
    const { exitCode, stdout, stderr } = await home.run(["orders", "map", write("b.csv", german), ...flags]);
    expect(exitCode).toBe(status);
    expect(stdout === "").toBe(status === 2);
    expect(stderr.includes("--store-url")).toBe(status === 2);
    expect(stderr.includes("orders import")).toBe(status === 0);
  });

  test("proposes a mapping that imports the file once the missing fields are added", async () => {
    const file = write("b.csv", german);
    const mapped = await home.json<{ mapping_file: string }>([
      "orders",
      "map",
      file,
      "--product-url",
      url,
      "--out",
      at("m.json"),
    ]);
    expect(mapped.data).toEqual({ mapping_file: at("m.json") });
    expect(mapped.stderr).not.toContain("Missing");
    expect(statSync(at("m.json")).mode & 0o777).toBe(0o644);
    const imported = await home.json(["orders", "import", file, "--mapping", at("m.json")]);
    expect(imported.exitCode).toBe(0);
    expect(imported.data.rows.accepted).toBe(2);
  });

  const judgeme =
    "title,body,rating,review_date,curated,reviewer,reviewer_email,product_id,reply\n" +
    "Top,Very good quality,5,2025-03-02 10:12:00 UTC,ok,Ann,a@example.com,1,Thanks\n" +
    "Spam,Buy cheap watches,5,2025-01-10 11:00:00 UTC,spam,Bot,b@example.com,1,\n";
  test("reports undecided fields as a usage error in JSON", async () => {
    const { exitCode, stdout, stderr } = await home.run(["reviews", "map", write("f.csv", judgeme), "--json"]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/"kind":"usage".*published/);
  });

  test("reads standard input, and ignores the reject columns", async () => {
    const input = "code,_line,_column,_code,_reason\nABCDEFGH,2,,,\n";
    const { data } = await home.json(["coupons", "map", "-"], { input });
    expect(data).toEqual({ format: 1, kind: "coupons", layout: "none", columns: { code: "code" } });
  });

  test("overwrites an existing file only with --yes", async () => {
    const file = write("b.csv", german);
    write("m.json", "mine");
    const refused = await home.run(["orders", "map", file, "--product-url", url, "--out", at("m.json")]);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/overwrites .*m\.json/);
    expect(readFileSync(at("m.json"), "utf8")).toBe("mine");
    const asked = await home.run(["orders", "map", file, "--product-url", url, "--out", at("m.json"), "--yes"]);
    expect(asked.exitCode).toBe(0);
    expect(JSON.parse(readFileSync(at("m.json"), "utf8"))).toMatchObject({ columns });
  });

  test.each([
    ["the input as its output", () => ["b.csv", "--out", "b.csv"], /b\.csv.*--out/],
    ["a missing folder", () => ["b.csv", "--out", "no/m.json"], /no\/m\.json.*--out/],
    ["a missing file", () => ["no.csv"], /^error: no\.csv: /],
    ["an unknown field", () => ["b.csv", "--map", "emial=Kunde"], /emial/],
    ["an unknown layout", () => ["b.csv", "--layout", "shopware"], /shopware/],
  ])("rejects %s", async (_name, args, message) => {
    write("b.csv", german);
    const { exitCode, stderr } = await home.run(["orders", "map", ...args()], { cwd: home.folder });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
  });
});
