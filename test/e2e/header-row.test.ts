import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { makeZip } from "../support/archives.ts";
import { type Home, Homes } from "../support/starpost.ts";
import { makeSheet } from "../support/workbooks.ts";

const homes = new Homes();
afterAll(() => homes.remove());
let home: Home;
beforeEach(() => {
  home = homes.open();
});

const options = () => ({ cwd: home.folder, env: { STARPOST_HOME: join(home.folder, "home") } });
const load = (args: readonly string[], input?: string) =>
  home.json(["orders", ...args], { ...options(), ...(input !== undefined && { input: Buffer.from(input) }) });

const write = (name: string, content: string | Buffer) => writeFileSync(join(home.folder, name), content);

const columns = ["order_id", "order_date", "customer_name", "email", "product_id", "product_name", "product_url"];
const cellsOf = (at: number, email = "ada@mail.example") => {
  return [`o-${at}`, "2026-01-02", "Ada", email, `p-${at}`, "Hat", "https://shop.example/p"];
};
const rows = [columns, cellsOf(1), cellsOf(2, "nobody"), cellsOf(3)];
const table = rows.map((cells) => `${cells.join(",")}\n`).join("");
/** The header is in row 4, on line 5. */
const titled = `"Orders\nof January"\nGenerated on,2026-02-01\n\n${table}`;
const notice = (name: string, row: number) =>
  `${name}: row ${row} is read as the header; to use another row, pass --header-row`;

describe("a title above the header", () => {
  test("is found, and the run is resumed, verified, and undone; its rejects are imported", async () => {
    write("orders.csv", titled);
    const stopped = await load(["import", "orders.csv", "--max-errors", "0", "--batch-size", "1"]);
    expect([stopped.exitCode, stopped.stderr]).toEqual([6, expect.stringContaining(notice("orders.csv", 4))]);
    const id = stopped.data.import_id ?? "";
    const resumed = await home.json(["imports", "resume", id, "--max-errors", "5"], options());
    expect([resumed.exitCode, resumed.data.rows]).toEqual([3, { read: 3, accepted: 2, rejected: 1, failed: 0 }]);
    expect(resumed.stderr).toContain("orders.csv:7: ");
    const rejects = readFileSync(resumed.data.rejects_file ?? "", "utf8");
    expect(rejects.split("\n").slice(0, 2)).toEqual([
      `${columns.join(",")},_line,_column,_code,_reason`,
      expect.stringMatching(/^o-2,.*,7,email,bad_email,/),
    ]);
    rmSync(join(home.folder, "orders.csv"));
    const verified = await home.json(["imports", "verify", id], options());
    expect(verified.exitCode).toBe(0);
    expect((await home.json(["imports", "undo", id, "--plan"], options())).exitCode).toBe(0);
    write("fixed.csv", rejects.replace("nobody", "bo@mail.example"));
    const fixed = await load(["import", "fixed.csv"]);
    expect([fixed.exitCode, fixed.data.rows.accepted, fixed.stderr]).toEqual([
      0,
      1,
      expect.not.stringContaining("--header-row"),
    ]);
  });

  test("is found in workbooks, archives, and standard input, and by `map` and `plan`", async () => {
    write("orders.xlsx", makeSheet([[], ["Orders of January"], ["Shop", "Hats"], [], ...rows]));
    const sheet = await load(["import", "orders.xlsx", "--dry-run"]);
    expect([sheet.exitCode, sheet.data.rows.accepted]).toEqual([3, 2]);
    expect(sheet.stderr).toContain(notice("orders.xlsx", 5));
    expect(sheet.stderr).toContain("orders.xlsx, row 7: ");
    expect(sheet.stderr).not.toContain("to the right of the header");
    write("all.zip", makeZip([{ name: "orders.csv", bytes: Buffer.from(titled) }]));
    expect((await load(["import", "all.zip", "--dry-run"])).stderr).toContain(notice("all.zip/orders.csv", 4));
    expect((await load(["import", "-", "--dry-run"], titled)).stderr).toContain(notice("-", 4));
    const planned = await load(["plan", "orders.xlsx", "--out", "plan.json"]);
    expect([planned.exitCode, planned.data.rows.accepted]).toEqual([3, 2]);
    expect((await home.json(["imports", "apply", "plan.json"], options())).data.rows.accepted).toBe(2);
    const mapped = await load(["map", "orders.xlsx", "--no-input"]);
    expect([mapped.exitCode, mapped.data]).toEqual([0, expect.not.objectContaining({ header_row: 5 })]);
    expect(mapped.stderr).toContain(notice("orders.xlsx", 5));
  });
});

describe("--header-row", () => {
  const odd = `Order list\nNr,Date,Who,Mail,SKU,Title,Link\n${table.slice(table.indexOf("\n") + 1)}`;
  const map = Object.entries({ order_id: "Nr", order_date: "Date", customer_name: "Who", email: "Mail" });
  const more = Object.entries({ product_id: "SKU", product_name: "Title", product_url: "Link" });
  const flags = [...map, ...more].flatMap(([field, column]) => ["--map", `${field}=${column}`]);

  test("is kept by the run, the plan, and the mapping file, and does not apply to rejects", async () => {
    write("odd.csv", odd);
    const read = ["--header-row", "2", ...flags];
    const stopped = await load(["import", "odd.csv", ...read, "--max-errors", "0", "--batch-size", "1"]);
    expect([stopped.exitCode, stopped.stderr]).toEqual([6, expect.not.stringContaining("is read as the header")]);
    const id = stopped.data.import_id ?? "";
    const resumed = await home.json(["imports", "resume", id, "--max-errors", "5"], options());
    expect(resumed.data.rows).toEqual({ read: 3, accepted: 2, rejected: 1, failed: 0 });
    expect((await home.json(["imports", "verify", id], options())).exitCode).toBe(0);
    const { rejects_file: rejects } = resumed.data;
    write("fixed.csv", readFileSync(rejects ?? "", "utf8").replace("nobody", "bo@mail.example"));
    expect((await load(["import", "fixed.csv", ...read])).data.rows.accepted).toBe(1);

    const planned = await load(["plan", "odd.csv", ...read, "--out", "plan.json"]);
    expect([planned.exitCode, planned.data.rows.accepted]).toEqual([3, 2]);
    expect((await home.json(["imports", "apply", "plan.json"], options())).data.rows.accepted).toBe(2);

    const mapped = await load(["map", "odd.csv", ...read, "--no-input", "--out", "mapping.json"]);
    expect(mapped.exitCode).toBe(0);
    expect(JSON.parse(readFileSync(join(home.folder, "mapping.json"), "utf8"))).toMatchObject({ header_row: 2 });
    for (const file of ["odd.csv", "fixed.csv"]) {
      const imported = await load(["import", file, "--mapping", "mapping.json", "--dry-run"]);
      expect([file, imported.data.rows.accepted]).toEqual([file, file === "odd.csv" ? 2 : 1]);
    }
    write("first.csv", odd.slice(odd.indexOf("\n") + 1));
    const first = await load(["import", "first.csv", "--mapping", "mapping.json", "--header-row", "1", "--dry-run"]);
    expect(first.data.rows.accepted).toBe(2);
  });

  test("applies to the sheet of a workbook, whatever is above", async () => {
    const above = [["Note"], columns, ["x", "y", "z", "1", "2", "3", "4", "5", "6"]];
    write("orders.xlsx", makeSheet([...above, ...rows]));
    const { exitCode, data, stderr } = await load(["import", "orders.xlsx", "--header-row", "4", "--dry-run"]);
    expect([exitCode, data.rows]).toEqual([3, { read: 3, accepted: 2, rejected: 1, failed: 0 }]);
    expect(stderr).toContain("orders.xlsx, row 6: ");
    write("rejects.xlsx", makeSheet([[...columns, "_line", "_column", "_code", "_reason"], cellsOf(1), cellsOf(2)]));
    expect((await load(["import", "rejects.xlsx", "--header-row", "3", "--dry-run"])).data.rows.accepted).toBe(2);
  });

  test.each([
    ["orders.csv", "9", "orders.csv: row 9 cannot be the header, because the file has only 7 rows"],
    ["orders.csv", "3", "orders.csv: row 3 contains no column names"],
    ["orders.xlsx", "9", "orders.xlsx: row 9 cannot be the header, because the file has only 4 rows"],
    ["orders.csv", "0", 'invalid value "0" for --header-row: must be an integer from 1 to 1000'],
    ["orders.csv", "first", 'invalid value "first" for --header-row: must be an integer from 1 to 1000'],
    ["orders.json", "1", "orders.json: --header-row cannot be used with a JSON file"],
  ])("is refused for %s if it is %s", async (file, row, message) => {
    write("orders.csv", titled);
    write("orders.xlsx", makeSheet(rows));
    write("orders.json", JSON.stringify([{ order_id: "1" }]));
    const { exitCode, stderr } = await load(["import", file, "--header-row", row]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(JSON.stringify(message).slice(1, -1))]);
  });
});
