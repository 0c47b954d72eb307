import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { createArchive } from "../../../src/export/customer-archive.ts";
import { stampFile } from "../../../src/import/source/containers/file-pieces.ts";
import { readZipDirectory } from "../../../src/import/source/containers/zip-directory.ts";
import { tinyPng } from "../../support/photos.ts";

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
