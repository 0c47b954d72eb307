import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Home, Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

let home: Home;
beforeEach(() => {
  home = homes.open();
});

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
