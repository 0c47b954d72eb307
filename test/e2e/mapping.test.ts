import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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
    const mapping = write("m.json", {
      ...valid,
      columns: { ...columns, product_name: "Kunde" },
      delimiter: ",",
    });
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

  test.each<[string, string | object, RegExp]>([
    ["invalid JSON", "{oops", /m\.json: .*JSON/],
    ["a JSON array", "[1]", /m\.json: .*object/],
    ["an unknown format version", { ...valid, format: 2 }, /m\.json: format: .*1/],
    ["a mapping for another record type", { ...valid, kind: "products" }, /m\.json: kind: .*products.*orders/],
    ["an unknown record type", { ...valid, kind: "order" }, /m\.json: kind: /],
    ["an unknown key", { ...valid, colums: {} }, /m\.json: .*colums[\s\S]*'columns'/],
    ["an unknown field", { ...valid, columns: { ordr_id: "x" } }, /m\.json: columns\.ordr_id: [\s\S]*\border_id/],
    [
      "a value for an unknown field",
      { ...valid, set: { curency_iso: "EUR" } },
      /m\.json: set\.curency_iso[\s\S]*currency_iso/,
    ],
    ["a column that is not a string", { ...valid, columns: { order_id: 7 } }, /m\.json: columns\.order_id: /],
    ["a long delimiter", { ...valid, delimiter: ";;" }, /m\.json: delimiter: /],
    ["a column that is not in the file", { ...valid, columns: { ...columns, email: "Mail" } }, /'Mail'/],
    ["an unknown layout", { ...valid, layout: "shopware" }, /shopware/],
    [
      "a column mapped to two fields",
      { ...valid, columns: { ...columns, sku: "Artikelnummer" } },
      /"sku=Artikelnummer" for --map: product_id/,
    ],
  ])("rejects %s before sending anything", async (_name, content, message) => {
    const args = ["orders", "import", write("b.csv", german), "--mapping", write("m.json", content)];
    const { exitCode, stderr } = await home.run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect((await home.json<unknown>(["imports", "list"])).data).toEqual([]);
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
    [0, ["--map", "product_url=Land"]],
    [0, ["--set", "product_url=https://laden.example"]],
  ])("ends with %i if a file has no product URLs: %j", async (status, flags) => {
    const { exitCode, stdout, stderr } = await home.run(["orders", "map", write("b.csv", german), ...flags]);
    expect(exitCode).toBe(status);
    expect(stdout === "").toBe(status === 2);
    expect(stderr.includes("--product-url")).toBe(status === 2);
    expect(stderr.includes("orders import")).toBe(status === 0);
  });

  test.each([
    "picture_urls",
    "Photos",
    "photo_urls",
    "Image URL",
    "images",
    "reviewImages",
    "customer_photo",
    "Bilder",
    "img",
    "Review Product Images",
    "Review picture",
    "Foto",
  ])("never uses photos by customers as product images: %s", async (name) => {
    const header = `review_title,review_content,review_score,date,product_id,display_name,email,${name}\n`;
    const row = "Great,Soaks in fast,5,2026-01-02,1,Ann,a@example.com,https://img.example/a.jpg\n";
    const args = ["reviews", "map", write("f.csv", header + row)];
    const { data, stderr } = await home.json<{ columns: Record<string, string> }>([...args]);
    expect(data.columns).toMatchObject({ email: "email" });
    expect(data.columns).not.toHaveProperty("product_image_url");
    if (data.columns["image_urls"] !== name) expect(stderr).toContain(`Unused columns: ${name}`);
    expect(stderr).not.toContain("product_image_url");
    const given = await home.json<{ columns: object }>([...args, "--map", `product_image_url=${name}`]);
    expect(given.data.columns).toHaveProperty("product_image_url", name);
  });

  test.each(["Product Image", "productImageUrl", "Produktbild", "product_image_url"])(
    "uses product images of reviews: %s",
    async (name) => {
      const header = `review_title,review_content,review_score,date,product_id,display_name,email,${name}\n`;
      const row = "Great,Soaks in fast,5,2026-01-02,1,Ann,a@example.com,https://img.example/a.jpg\n";
      const args = ["reviews", "map", write("f.csv", header + row)];
      const { data } = await home.json<{ columns: object }>(args);
      expect(data.columns).toHaveProperty("product_image_url", name);
    },
  );

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

  test.each<[string, string, Record<string, string>, Record<string, string>?]>([
    [
      "orders",
      "N° de commande,Date de la commande,Nom du client,Courriel,Référence produit,Désignation,Lien du produit\n1,2026-01-02,Jean Dupont,j@example.fr,r-1,Chapeau,https://b.example/1\n",
      {
        order_id: "N° de commande",
        email: "Courriel",
        product_name: "Désignation",
        product_url: "Lien du produit",
      },
    ],
    [
      "orders",
      "Número de pedido,Fecha del pedido,Cliente,Correo electrónico,Código de producto,Nombre del producto,Enlace,Imagen\nP1,02/01/2026,Ana Ruiz,a@example.es,c-1,Gorra,https://t.example/c1,https://t.example/c1.jpg\n",
      {
        order_date: "Fecha del pedido",
        customer_name: "Cliente",
        product_url: "Enlace",
        product_image: "Imagen",
      },
      { product_url: "Enlace" },
    ],
    [
      "orders",
      "Numer zamówienia|Data zamówienia|Imię i nazwisko|Adres e-mail|Kod produktu|Nazwa produktu|Cena\n1|2026-01-02|Jan Nowak|j@example.pl|k1|Czapka|10,00\n",
      { order_id: "Numer zamówienia", customer_name: "Imię i nazwisko", product_price: "Cena" },
    ],
    [
      // The names are meaningless, but the values are not.
      "orders",
      "A,B,C,D,customer_name,order_id,product_id,product_name\n" +
        "x,a@example.com,2026-01-02,https://shop.example/1,A,1,p,P\n" +
        "y,b@example.com,2026-01-03,https://shop.example/2,B,2,p,P\n",
      { email: "B", order_date: "C", product_url: "D" },
      { email: "B", order_date: "C", product_url: "D" },
    ],
    [
      "products",
      "Handle,Titel,Beschreibung,Marke,EAN,Link,Bild\nhut,Hut,Ein Hut,ACME,4006381333931,https://l.example/hut,https://l.example/hut.png\n",
      {
        product_id: "Handle",
        name: "Titel",
        description: "Beschreibung",
        brand: "Marke",
        upc: "EAN",
        url: "Link",
        image_url: "Bild",
      },
      { product_id: "Handle", name: "Titel", url: "Link" },
    ],
    [
      "reviews",
      "Artikelnummer,Bewertung,Titel,Rezension,Verfasser,E-Mail,Datum\nhut,5,Schön,Ein schöner Hut,Eva G.,eva@example.com,2026-01-02\n",
      {
        product_id: "Artikelnummer",
        review_score: "Bewertung",
        review_title: "Titel",
        review_content: "Rezension",
        display_name: "Verfasser",
        email: "E-Mail",
        date: "Datum",
      },
      { review_title: "Titel" },
    ],
    ["coupons", "Gutscheincode,Wert\nABCDEFGH,5\n", { code: "Gutscheincode" }],
    ["unsubscribers", "Name,Adres e-mail\nJan,jan@example.pl\n", { email: "Adres e-mail" }],
  ])("recognizes common shop terms: %s, %s", async (kind, content, expected, undecided = {}) => {
    const needsUrl = kind === "orders" && !content.includes("https:");
    const args = [kind, "map", write("f.csv", content), ...(needsUrl ? ["--product-url", url] : [])];
    const flags = Object.entries(undecided).flatMap(([field, column]) => ["--map", `${field}=${column}`]);
    if (flags.length > 0) {
      const { exitCode, stdout, stderr } = await home.run([...args, "--yes"]);
      expect(exitCode).toBe(2);
      expect(stdout).toBe("");
      for (const [field, column] of Object.entries(undecided)) {
        expect(stderr).toMatch(new RegExp(`${field} +similar columns: '${column}'`));
      }
      expect(stderr).not.toMatch(new RegExp(`^ +(?!${Object.keys(undecided).join("|")})\\w+ +similar columns`, "m"));
    }
    const { data } = await home.json<{ columns: Record<string, string> }>([...args, ...flags]);
    expect(data.columns).toMatchObject(expected);
  });

  test("proposes no columns for a known shop layout, only the missing fields", async () => {
    const file = write(
      "s.csv",
      "Name,Email,Financial Status,Created at,Currency,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Tags\n" +
        "#1001,a@example.com,paid,2026-01-02 10:00:00 +0100,EUR,1,Hat,10.00,HAT-1,Ana Ruiz,vip\n",
    );
    const missing = await home.run(["orders", "map", file]);
    expect(missing.exitCode).toBe(2);
    expect(missing.stderr).toMatch(/product_url +no similar column/);
    const { data } = await home.json(["orders", "map", file, "--product-url", url]);
    expect(data).toEqual({ format: 1, kind: "orders", layout: "shopify-orders", product_url: url });
    await home.run(["orders", "map", file, "--product-url", url, "--out", at("m.json")]);
    const { exitCode } = await home.run(["orders", "import", file, "--mapping", at("m.json")]);
    expect(exitCode).toBe(0);
  });

  test("does not accept an uncertain match of an optional field", async () => {
    const products = write("p.csv", "product_id,name,url,Supplier\n1,N,https://s.example/1,ACME\n");
    const { data, stderr } = await home.json<{ columns: Record<string, string> }>(["products", "map", products]);
    expect(data.columns).not.toHaveProperty("brand");
    expect(stderr).toMatch(/Not mapped.*: brand \(column 'Supplier'\)/);
  });

  const tiendanube =
    "Número de orden;Email;Fecha;Moneda;Nombre del comprador;Nombre del producto;Precio del producto;SKU;Notas del comprador;Producto Físico\n" +
    "1;a@example.com;2026-01-02;ARS;Ann Lee;Tetera;100.00;T-1;dejar en portería, timbre roto;Si\n" +
    "2;b@example.com;2026-01-03;ARS;Bo Diaz;Taza;50.00;T-2;es un regalo;No\n";
  const judgeme =
    "title,body,rating,review_date,curated,reviewer,reviewer_email,product_id,reply\n" +
    "Top,Very good quality,5,2025-03-02 10:12:00 UTC,ok,Ann,a@example.com,1,Thanks\n" +
    "Spam,Buy cheap watches,5,2025-01-10 11:00:00 UTC,spam,Bot,b@example.com,1,\n";
  const comments =
    "comment_ID,comment_author,comment_author_email,comment_date,comment_content,comment_approved,rating,title,product_SKU\n" +
    "5,Ann,a@example.com,2026-08-01 10:00:00,Soaks in fast,1,5,Great,G-1\n";
  const stamped =
    "product_id,author,email,state,rating,Review Title,review,created_at,published\n" +
    "1,Ann,a@example.com,unpublished,5,Great,Soaks in fast,2026-08-01 10:00:00,\n";
  const native =
    "review_title,review_content,review_score,date,product_id,display_name,email,published,comment_content\n" +
    "Great,Soaks in fast,5,2026-01-02,1,Ann,a@example.com,false,Thanks\n";
  const twoAddresses =
    "order_id,order_date,customer_name,product_id,product_name,product_url,Billing Email,Recipient Email\n" +
    "1,2026-01-02,Ann,p,Cap,https://s.example/p,a@example.com,gift@example.com\n";

  test.each<[string, string, string, readonly string[]]>([
    [
      "a delivery note and yes or no",
      "orders",
      tiendanube.replace("Email", "Correo"),
      ["order_id", "customer_name", "order_date", "product_id", "product_url"],
    ],
    ["the URL of products in a known layout", "orders", tiendanube, ["product_url"]],
    ["spam among reviews", "reviews", judgeme, ["review_title", "review_content", "published", "comment_content"]],
    [
      "reviews called comments",
      "reviews",
      comments,
      ["review_title", "review_content", "date", "display_name", "email", "published", "comment_content"],
    ],
    ["an empty column with a field's name", "reviews", stamped, ["review_title", "published"]],
    ["two addresses", "orders", twoAddresses, ["email"]],
    ["no address", "orders", twoAddresses.replaceAll("Email", "Phone").replaceAll("@", "-"), ["email"]],
    [
      "a table without headings",
      "orders",
      "Type,Number,Person\nsale,7,Ana Ruiz\n",
      ["order_id", "email", "customer_name", "order_date", "product_id", "product_name", "product_url"],
    ],
    ["certain columns only", "reviews", native, []],
  ])("lists the fields that it would have to guess: %s", async (_name, kind, content, undecided) => {
    const file = write("f.csv", content);
    for (const flag of ["--yes", "--no-input"]) {
      const { exitCode, stdout, stderr } = await home.run([kind, "map", file, flag, "--out", at("g.json")]);
      const listed = [...stderr.matchAll(/^ +(\w+) +(?:similar columns: '|no similar column$)/gm)];
      expect(listed.map(([, field]) => field)).toEqual(undecided);
      expect(exitCode).toBe(undecided.length > 0 ? 2 : 0);
      expect(stdout).toBe("");
      expect(existsSync(at("g.json"))).toBe(undecided.length === 0);
      rmSync(at("g.json"), { force: true });
    }
  });

  test("reports undecided fields as a usage error in JSON", async () => {
    const { exitCode, stdout, stderr } = await home.run(["reviews", "map", write("f.csv", judgeme), "--json"]);
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/"kind":"usage".*published/);
  });

  test("a decided field is not guessed again", async () => {
    const flags = ["--map", "review_title=title", "--map", "review_content=body", "--map", "comment_content=reply"];
    const args = ["reviews", "map", write("f.csv", judgeme), ...flags, "--set", "published=false"];
    const { exitCode, data } = await home.json(args);
    expect(exitCode).toBe(0);
    expect(data).toMatchObject({
      columns: { email: "reviewer_email", comment_content: "reply" },
      set: { published: "false" },
    });
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
    expect(refused.stderr).toMatch(/m\.json .*Overwrite it\?/);
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
