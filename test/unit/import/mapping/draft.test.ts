import { describe, expect, test } from "vitest";
import { findMissing, findUnused, openFields, toMapping } from "../../../../src/import/mapping/decisions.ts";
import { draftMapping } from "../../../../src/import/mapping/draft.ts";
import { applyMapping, readMapping, writeMapping } from "../../../../src/import/mapping/mapping-file.ts";
import { proposeColumns } from "../../../../src/import/mapping/proposal.ts";
import { openPipeline } from "../../../support/pipeline.ts";
import { kinds } from "../../../support/record-kinds.ts";

const orders = kinds.get("orders");

const propose = (columns: Readonly<Record<string, readonly string[]>>, kind = orders) => {
  const samples = Object.entries(columns).map(([name, values]) => ({ name, values }));
  const proposals = proposeColumns(kind, kind.fields, samples);
  return (field: string) => proposals.find((proposal) => proposal.field === field);
};

describe("a proposal", () => {
  test("is sure about native names in any spelling", () => {
    const of = propose({ "Order ID": ["1"], "E-Mail": ["a@shop.example"], "customer name": ["Ann Lee"] });
    expect(of("order_id")).toMatchObject({ column: "Order ID", confidence: "sure", isRequired: true });
    expect(of("email")).toMatchObject({ column: "E-Mail", confidence: "sure" });
    expect(of("customer_name")).toMatchObject({ column: "customer name", confidence: "sure" });
    expect(of("product_tags")).toMatchObject({ column: undefined, confidence: undefined });
  });

  test("prefers the column whose values fit", () => {
    const of = propose({ "Customer email": ["yes", "no"], Contact: ["ann@shop.example", "bo@shop.example"] });
    expect(of("email")?.column).toBe("Contact");
  });

  test("gives a column to one field only, and ranks the others", () => {
    const of = propose({ "Order number": ["1", "2"] });
    expect(of("order_id")?.column).toBe("Order number");
    const users = ["customer_name", "product_id", "user_reference"].map((field) => of(field)?.column);
    expect(users).not.toContain("Order number");
    expect(of("product_id")?.ranked).toContain("Order number");
  });

  test("recognizes other languages, accents, and small misspellings", () => {
    const of = propose({ "N° de commande": ["1"], Bestelldatum: ["2025-01-02"], Custmer_name: ["Ann Lee"] });
    expect(of("order_id")?.column).toBe("N° de commande");
    expect(of("order_date")?.column).toBe("Bestelldatum");
    expect(of("customer_name")?.column).toBe("Custmer_name");
  });

  const proposeImage = (name: string) =>
    propose(
      { email: ["a@shop.example"], [name]: ["https://img.example/a.jpg"] },
      kinds.get("reviews"),
    )("product_image_url")?.column;
  const photos =
    "picture_urls,Photos,photo_urls,Image URL,images,reviewImages,customer_photo,Bilder,img,Review Product Images,Review picture,Foto";

  test.each(photos.split(","))("never takes photos by customers for product images: %s", (name) => {
    expect(proposeImage(name)).toBeUndefined();
  });

  test.each(["Product Image", "productImageUrl", "Produktbild", "product_image_url"])(
    "recognizes product images of reviews: %s",
    (name) => {
      expect(proposeImage(name)).toBe(name);
    },
  );

  test("ignores reject columns, unnamed columns, and repeated names", () => {
    const samples = [
      { name: "_line", values: ["1"] },
      { name: "", values: ["x"] },
      { name: "email", values: ["a@shop.example"] },
      { name: "email", values: ["b@shop.example"] },
    ];
    const ranked = proposeColumns(orders, orders.fields, samples).find(({ field }) => field === "email")?.ranked;
    expect(ranked).toEqual(["email"]);
  });
});

describe("a draft", () => {
  const file = "Bestellnummer;Contact;extra\n1;ann@shop.example;x\n2;bo@shop.example;\n";
  const draftOf = async (content: string, options: Partial<Parameters<typeof draftMapping>[0]["options"]> = {}) => {
    await using pipeline = await openPipeline();
    pipeline.write("orders.csv", content);
    return await draftMapping(
      { kind: "orders", file: "orders.csv", options: { map: {}, ...options } },
      pipeline.deps(),
    );
  };

  test("describes the file and samples its values", async () => {
    expect(await draftOf(file)).toMatchObject({
      kind: "orders",
      file: "orders.csv",
      layout: undefined,
      delimiter: ";",
      encoding: expect.stringMatching(/utf-?8/i),
      samples: [
        { name: "Bestellnummer", values: ["1", "2"] },
        { name: "Contact", values: ["ann@shop.example", "bo@shop.example"] },
        { name: "extra", values: ["x"] },
      ],
      urlField: "product_url",
    });
  });

  test("leaves out fields and columns that flags decide", async () => {
    const draft = await draftOf(file, { map: { email: "Contact" }, set: { customer_name: "Guest" } });
    const fields = draft.byColumns.map(({ field }) => field);
    expect(fields).not.toContain("email");
    expect(fields).not.toContain("customer_name");
    expect(draft.byColumns.flatMap(({ ranked }) => ranked)).not.toContain("Contact");
  });

  test("recognizes a layout, and asks only for what it lacks", async () => {
    const shopify =
      "Name,Email,Lineitem name,Lineitem quantity,Created at,Lineitem sku,Billing Name\n#1,a@b.example,Cup,1,2025-01-02,s1,Ann\n";
    const draft = await draftOf(shopify);
    expect(draft.layout?.name).toBe("shopify-orders");
    expect(draft.besideLayout.map(({ field }) => field)).toEqual(["product_url"]);
    expect(openFields(draft, true)).toBe(draft.besideLayout);
    expect(openFields(draft, false)).toBe(draft.byColumns);
  });

  test("rejects flags that do not fit the file", async () => {
    await expect(draftOf(file, { map: { email: "Nope" } })).rejects.toMatchObject({ kind: "usage" });
    await expect(draftOf(file, { set: { nope: "1" } })).rejects.toMatchObject({ kind: "usage" });
    await expect(draftOf(file, { productUrl: "no pattern" })).rejects.toMatchObject({ kind: "usage" });
  });

  test("becomes a mapping: flags first, then decisions", async () => {
    const draft = await draftOf(file, { map: { email: "Contact" } });
    const answers = {
      takesLayout: false,
      of: new Map<string, { column: string } | { value: string } | { pattern: string } | "none">([
        ["order_id", { column: "Bestellnummer" }],
        ["customer_name", { value: "Guest" }],
        ["product_url", { pattern: "https://shop.example/{product_id}" }],
        ["product_id", "none"],
      ]),
    };
    expect(toMapping(draft, answers)).toEqual({
      format: 1,
      kind: "orders",
      layout: "none",
      columns: { email: "Contact", order_id: "Bestellnummer" },
      set: { customer_name: "Guest" },
      product_url: "https://shop.example/{product_id}",
      delimiter: ";",
      encoding: undefined,
    });
    expect(findUnused(draft, answers)).toEqual(["extra"]);
    const missing = findMissing(draft, answers);
    expect(missing).toContain("product_id");
    expect(missing).not.toContain("order_id");
    expect(
      findMissing({ ...draft, options: { map: {}, productUrl: "x" } }, { takesLayout: false, of: new Map() }),
    ).not.toContain("product_url");
  });
});

describe("a mapping file", () => {
  const mapping = { format: 1, kind: "orders", layout: "none", columns: { Email: "Contact" }, delimiter: ";" } as const;

  test("is read back as written, and flags take precedence", async () => {
    await using pipeline = await openPipeline();
    const path = pipeline.write("orders.map.json", "");
    await writeMapping(path, { ...mapping });
    expect(readMapping(path, "orders.map.json", orders)).toEqual(mapping);
    const options = { dryRun: false, map: { email: "Other" }, mapping: "orders.map.json", delimiter: "|" };
    expect(applyMapping(orders, options, pipeline.folder)).toMatchObject({
      mapping: path,
      layout: "none",
      map: { email: "Other" },
      delimiter: "|",
    });
    const { delimiter: _own, ...others } = options;
    expect(applyMapping(orders, { ...others, map: {} }, pipeline.folder)).toMatchObject({
      map: { Email: "Contact" },
      delimiter: ";",
    });
    expect(applyMapping(orders, { dryRun: false, map: {} }, pipeline.folder)).toEqual({ dryRun: false, map: {} });
  });

  test.each([
    ["nothing", ""],
    ["a list", "[]"],
    ["another format", JSON.stringify({ ...mapping, format: 2 })],
    ["another kind", JSON.stringify({ ...mapping, kind: "products" })],
    ["an unknown member", JSON.stringify({ ...mapping, column: {} })],
    ["an unknown field", JSON.stringify({ ...mapping, columns: { nope: "Contact" } })],
    ["an unknown field to set", JSON.stringify({ ...mapping, set: { nope: "1" } })],
    ["an empty column", JSON.stringify({ ...mapping, columns: { email: "" } })],
    ["a long delimiter", JSON.stringify({ ...mapping, delimiter: "::" })],
    ["a quote as delimiter", JSON.stringify({ ...mapping, delimiter: '"' })],
    ["more than 1 MiB", `${JSON.stringify(mapping)}${" ".repeat(1024 * 1024)}`],
  ])("is refused if it contains %s", async (_what, content) => {
    await using pipeline = await openPipeline();
    const path = pipeline.write("map.json", content);
    expect(() => readMapping(path, "map.json", orders)).toThrow(expect.objectContaining({ kind: "usage" }));
  });

  test("is refused if it does not exist, and may begin with a byte order mark", async () => {
    await using pipeline = await openPipeline();
    expect(() => readMapping("/nowhere/map.json", "map.json", orders)).toThrow(
      expect.objectContaining({ kind: "usage" }),
    );
    const path = pipeline.write("map.json", `\uFEFF${JSON.stringify(mapping)}`);
    expect(readMapping(path, "map.json", orders).kind).toBe("orders");
  });
});
