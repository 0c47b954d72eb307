import { parse } from "csv-parse/sync";
import * as fc from "fast-check";
import { expect, test, it, onTestFinished } from "vitest";
import { createCsvForm, type CsvOptions } from "../../../src/export/column-format.ts";
import { markFormula, unmarkFormula } from "../../../src/export/formula-mark.ts";
import { createCsvLayout } from "../../../src/records/reviews/layouts/export.ts";
import type { Service } from "../../../src/service/service.ts";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { createArchive } from "../../../src/export/customer-archive.ts";
import { stampFile } from "../../../src/import/source/containers/file-pieces.ts";
import { readZipDirectory } from "../../../src/import/source/containers/zip-directory.ts";
import { tinyPng } from "../../support/photos.ts";

const dangerous = ["=1+1", "+1", "-1", "@sum(1)", "\t=1", "\r=1", "\n=1", "\uFF1D1+1", "\uFF0B1", "\uFF0D1", "\uFF20a"];
const hidden = [" =1+1", "\u00A0=1", "\u200B=1", "'=1+1", "''-1", '"=1+1"', ' "@x'];

function writeCells(cells: readonly (string | number)[], options: Partial<CsvOptions> = {}): string[] {
  const form = createCsvForm(["cell", "other"], { toText: markFormula, hasByteOrderMark: false, ...options });
  const text = form.rows(
    cells.map((cell) => [cell, "x"]),
    true,
  );
  const rows: string[][] = parse(text);
  return rows.map(([cell]) => cell ?? "");
}

test("a file contains no cell that starts a formula", () => {
  expect(writeCells([...dangerous, ...hidden])).toEqual([...dangerous, ...hidden].map((cell) => `'${cell}`));
});

test("other cells, numbers, and all cells of a raw file are unchanged", () => {
  const cells = ['a "b", c', " x ", "a;b", "", "'tis", "a=b", "1-2"];
  expect(writeCells(cells)).toEqual(cells);
  expect(writeCells([-1.5])).toEqual(["-1.5"]);
  expect(writeCells([...dangerous, ...cells], { toText: (text) => text })).toEqual([...dangerous, ...cells]);
});

const texts = fc.array(
  fc.oneof(fc.constantFrom("'", "=", "+", "-", "@", "\t", "\r", " ", '"', "\uFF1D", "a"), fc.string({ maxLength: 2 })),
  { maxLength: 6 },
);

test("an import reads every text as it was exported", () => {
  fc.assert(
    fc.property(texts, (pieces) => {
      const text = pieces.join("");
      expect(unmarkFormula(markFormula(text))).toBe(text);
      expect(writeCells([text]).map(unmarkFormula)).toEqual([text]);
      expect(markFormula(text)).not.toMatch(/^["\s]*[=+\-@\uFF0B\uFF0D\uFF1D\uFF20]/);
    }),
  );
});

const layout = createCsvLayout({
  fields: ["name", "date", "reply"],
  columns: ["n", "text", "on", "unused"],
  dateColumn: "on",
  toRows: ({ name, date, reply }, n) => [
    { n, text: name, on: date },
    ...(reply === null ? [] : [{ n: n + 100, text: reply }]),
  ],
});
const csv = { toText: (text: string) => `<${text}>`, hasByteOrderMark: false };

test("a layout writes its columns, and one or more rows for each record, numbered across all pieces", async () => {
  const form = await layout.createForm(csv, {} as Service, {});
  expect(form.start).toBe("n,text,on,unused\n");
  expect(
    form.rows(
      [
        ["a", "2026-01-01", null],
        ["b", "2026-01-02", "r"],
      ],
      true,
    ),
  ).toBe("1,<a>,<2026-01-01>,\n2,<b>,<2026-01-02>,\n102,<r>,,\n");
  expect(form.rows([["c", "2026-01-03", null]], false)).toBe("3,<c>,<2026-01-03>,\n");
  expect(form.end).toBe("");
});

test("records are sorted by date, and then by what the layout holds", () => {
  const key = (name: string, date: string | null, id = 1) => layout.sortKeyOf({ name, date, reply: null, id });
  expect(key("z", "2026-01-01") < key("a", "2026-01-02")).toBe(true);
  expect(key("a", "2026-01-01") < key("b", "2026-01-01")).toBe(true);
  expect(key("a", "2026-01-01", 1)).toBe(key("a", "2026-01-01", 2));
  expect(key("a", null) < key("a", "2026-01-01")).toBe(true);
});

const nowMs = Date.UTC(2026, 0, 31, 12);

function save(archive: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), "starpost-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "customer.zip");
  writeFileSync(path, archive);
  return path;
}

/** Unpacks an archive without the library that made it. */
function unpack(archive: Buffer): ReadonlyMap<string, Buffer> {
  const file = stampFile(save(archive));
  return new Map(
    readZipDirectory(file).map(({ name, method, data }) => {
      const packed = archive.subarray(data?.start, (data?.start ?? 0) + (data?.length ?? 0));
      return [name, method === 0 ? packed : inflateRawSync(packed)];
    }),
  );
}

const customer = {
  email: "ann@mail.example",
  names: ["Ann Lee", "=Ann"],
  orders: [
    {
      order_id: "1",
      user_reference: null,
      products: [
        { product_id: "teapot", quantity: 2 },
        { product_id: "cup", quantity: 1 },
      ],
    },
    { order_id: "=2+3", user_reference: 'a "b", c', products: [] },
  ],
  reviews: [{ id: 1, score: 5, title: "Größe\nOK" }],
  mail_contents: [{ mail_id: 3, data: { name: "Ann" } }],
  questions: [],
  images: [
    { id: 7, review_id: 1, content_type: "image/png", base64: tinyPng, url: "https://shop.example/7" },
    { id: 8, review_id: 1, content_type: "image/jpeg", base64: "", url: "https://cdn.example/8.jpg" },
  ],
};

it("contains JSON and CSV files, the pictures, and a description", () => {
  const files = unpack(createArchive(customer, nowMs));
  const readText = (name: string) => files.get(name)?.toString("utf8") ?? "";
  expect([...files.keys()]).toEqual([
    "README.txt",
    "names.json",
    "orders.json",
    "orders.csv",
    "reviews.json",
    "reviews.csv",
    "mail_contents.json",
    "images.json",
    "images.csv",
    "images/7.png",
  ]);
  for (const name of ["names", "orders", "reviews", "mail_contents"] as const) {
    expect(JSON.parse(readText(`${name}.json`))).toEqual(customer[name]);
  }
  expect(readText("orders.csv")).toBe(
    `\uFEFForder_id,user_reference,products\r\n1,,"teapot, 2; cup, 1"\r\n'=2+3,"a ""b"", c",\r\n`,
  );
  expect(readText("reviews.csv")).toBe('\uFEFFid,score,title\r\n1,5,"Größe\nOK"\r\n');
  expect(files.get("images/7.png")?.toString("base64")).toBe(tinyPng);
  expect(JSON.parse(readText("images.json"))).toMatchObject([
    { id: 7, url: "https://shop.example/7", file: "images/7.png" },
    { id: 8, url: "https://cdn.example/8.jpg", file: null },
  ]);
  expect(readText("images.json")).not.toContain("base64");
  expect(readText("README.txt")).toMatch(
    /ann@mail\.example, as of 2026-01-31T12:00:00\.000Z[^]*orders +2 [^]*images +2 /,
  );
  expect(readText("README.txt")).not.toContain("questions");
});

it("says that nothing is stored", () => {
  const files = unpack(createArchive({ email: "x@mail.example", names: [], orders: [] }, nowMs));
  expect([...files.keys()]).toEqual(["README.txt"]);
  expect(files.get("README.txt")?.toString()).toContain("Nothing is stored.");
});

it("can be read by Python", ({ skip }) => {
  const path = save(createArchive(customer, nowMs));
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
  } catch {
    skip("python3 is not installed");
  }
  const read =
    "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.read('reviews.json').decode())";
  const [tested, ...json] = execFileSync("python3", ["-c", read, path], { encoding: "utf8" }).split(" ");
  expect([tested, JSON.parse(json.join(" "))]).toEqual(["None", customer.reviews]);
});
