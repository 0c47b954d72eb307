import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ImportOptions } from "../../../../src/import/options.ts";
import { openFiles, readRows } from "../../../../src/import/source/input-files.ts";
import { kinds } from "../../../support/record-kinds.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const path = join(folder, "input.csv");

async function open(content: string | Buffer, options: Partial<ImportOptions> = {}, name = "products", isNew = false) {
  writeFileSync(path, content);
  const kind = kinds.get(name);
  const asked: ImportOptions = { dryRun: true, map: {}, ...options };
  const reading = { kind, behavior: kind.prepare(asked), options: asked, isNew };
  const [file] = await openFiles([{ given: "input.csv", path }], reading, { kinds });
  if (!file) throw new Error("no file");
  return file;
}

const header = "product_id,name,url\n";
const row = (id: string, name = "Cup") => `${id},${name},https://shop.example/${id}\n`;
/** More than the part of a file that decides its encoding at first. */
const start = header + row("a", "x".repeat(512)).repeat(2_100);
const latin = Buffer.from(row("b", "Chlo\u00e9"), "latin1");

describe("a file that turns out not to be UTF-8", () => {
  const late = Buffer.concat([Buffer.from(start), latin, Buffer.from(row("c"))]);

  test("is read again in the assumed encoding", async () => {
    const { head, survey } = await open(late);
    expect([head.format.encoding, head.assumption]).toEqual(["windows-1252", "not UTF-8 (line 2102)"]);
    expect(survey).toMatchObject({
      records: 2_102,
      invalidLine: 0,
      sha256: createHash("sha256").update(readFileSync(path)).digest("hex"),
    });
    const rows = [...readRows(await open(late), undefined)].flatMap((batch) => batch.rows);
    expect(rows.at(-2)?.[1]).toBe("Chlo\u00e9");
  });

  test.each([
    ["as a flag says", late, { encoding: "utf-8" }, 2_102],
    ["although other lines are", Buffer.concat([Buffer.from(start + row("\u00e9")), latin]), {}, 2_103],
    ["and not what a flag says", Buffer.from(`${header}a,\u00ff,x\n`, "latin1"), { encoding: "gb18030" }, 2],
  ])("is refused: %s", async (_what, content, options, line) => {
    await expect(open(content, options)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining(`input.csv:${line}: `),
      hint: expect.stringContaining("--encoding"),
    });
  });

  test("is not judged again if its encoding was assumed from its start", async () => {
    const { head, survey } = await open(Buffer.concat([Buffer.from(header), latin]));
    expect([head.assumption, survey.invalidLine]).toEqual(["not UTF-8 (line 2)", 0]);
  });
});

describe("the key of a file", () => {
  test.each([
    ["products", header + row("a") + row("b") + row("a"), {}, 0, 1],
    ["coupons", "note,code\nx,CODE-1\nx,CODE-2\nx,CODE-1\n", { action: "map_review" }, -1, 0],
    [
      "products",
      "Title,Handle,Body (HTML),Vendor,Variant SKU,Variant Price\nMug,mug,,,M-1,5\nCup,cup,,,C-1,5\n,mug,,,M-2,5\n",
      {},
      1,
      1,
    ],
    ["reviews", "product_id,review_title,review_content,review_score,date,display_name,email\n", {}, -1, 0],
  ])("of %s is found", async (kind, content, options, keyColumn, repeatedKeys) => {
    const productUrl = kind === "products" ? "https://shop.example/{product_id}" : undefined;
    const file = await open(content, { ...options, productUrl }, kind);
    expect([file.keyColumn, file.survey.repeatedKeys]).toEqual([keyColumn, repeatedKeys]);
  });
});

test("a file of another kind is refused, unless it belongs to a recorded run", async () => {
  const orders = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";
  const options = { emailType: "1" } as Partial<ImportOptions>;
  await expect(open(orders, options, "unsubscribers", true)).rejects.toMatchObject({ kind: "usage" });
  expect((await open(orders, options, "unsubscribers")).columns.columnOf.get("email")).toBe(3);
});

test("a file that changes after it was scanned cannot be read", async () => {
  const file = await open(header + row("a"));
  appendFileSync(path, row("b"));
  expect(() => [...readRows(file, undefined)]).toThrow(
    expect.objectContaining({ name: "ImportError", kind: "failed", message: expect.stringContaining("input.csv: ") }),
  );
});
