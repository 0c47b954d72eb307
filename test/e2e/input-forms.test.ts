import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import iconv from "iconv-lite";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { makeGzip, makeZip, type ZipPart } from "../support/archives.ts";
import { type Home, Homes, noticesOf } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());
let home: Home;
beforeEach(() => {
  home = homes.open();
});

const header = "order_id,order_date,customer_name,email,product_id,product_name,product_url\n";

function row(at: number, name = "Ada", email = "n@example.com"): string {
  return `o-${at},2026-01-02,${name},${email},p-${at},Name,https://shop.example/p\n`;
}

function table(count: number, from = 0): string {
  return header + Array.from({ length: count }, (_, at) => row(from + at)).join("");
}

function write(name: string, content: string | Buffer): string {
  const path = join(home.folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

function zipOf(...tables: readonly (readonly [name: string, text: string])[]): Buffer {
  return makeZip(tables.map(([name, text]): ZipPart => ({ name, bytes: Buffer.from(text), hasDescriptor: true })));
}

async function load(args: readonly string[], input?: Buffer) {
  return home.json(["orders", "import", ...args], {
    cwd: home.folder,
    env: { STARPOST_HOME: join(home.folder, "home") },
    ...(input === undefined ? {} : { input }),
  });
}

const counts = (rows: number, rejected = 0) => ({ read: rows, accepted: rows - rejected, rejected, failed: 0 });

describe("archives", () => {
  test("imports each CSV file of a zip archive, and lists the ignored files", async () => {
    const windows = iconv.encode(table(2, 5).replaceAll(",", ";").replaceAll("Ada", "Chloé"), "windows-1252");
    const bytes = makeZip([
      { name: "2026/", bytes: Buffer.alloc(0) },
      { name: "2026/orders.csv", bytes: Buffer.from(table(5)) },
      { name: "more.csv", bytes: windows, isStored: true },
      { name: "__MACOSX/._more.csv", bytes: Buffer.from("x") },
      { name: "read me.md", bytes: Buffer.from("x") },
    ]);
    write("x.zip", bytes);
    const { data, ...result } = await load(["x.zip"]);
    const notices = noticesOf(result);
    expect(data.files).toEqual(["x.zip/2026/orders.csv", "x.zip/more.csv"]);
    expect(data.rows).toEqual(counts(7));
    expect(notices).toContain("__MACOSX/._more.csv, read me.md");
    expect(notices).toContain("x.zip/more.csv: not UTF-8 (line 2); read as windows-1252, with ';' as the delimiter");
  });

  test.each([
    ["gzip", () => makeGzip(Buffer.from(table(5))), ["-"]],
    ["zip", () => zipOf(["a.csv", table(2)], ["b.csv", table(3, 2)]), ["-/a.csv", "-/b.csv"]],
  ])("reads a %s archive from standard input", async (_name, bytes, files) => {
    const { data, exitCode } = await load(["-"], bytes());
    expect([exitCode, data.rows, data.files]).toEqual([0, counts(5), files]);
    const runFiles = readdirSync(join(home.folder, "home", "imports", data.import_id));
    expect(runFiles.filter((name) => name.startsWith("input"))).toHaveLength(1);
  });

  test("names the file in the archive and the line in the reject file", async () => {
    write("x.zip", zipOf(["a.csv", table(2)], ["b.csv", header + row(8) + row(9, "N", "nobody")]));
    const { data, ...result } = await load(["x.zip"]);
    const notices = noticesOf(result);
    expect(data.rows).toEqual(counts(4, 1));
    expect(notices).toContain('(x.zip/b.csv:3: "nobody")');
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toMatch(/,3,email,bad_email,x\.zip\/b\.csv: email /);
  });

  test.each([
    ["gzip", (text: string) => makeGzip(Buffer.from(text))],
    ["zip", (text: string) => zipOf(["first.csv", table(3, 100)], ["second.csv", text])],
  ])("resumes a run of a %s archive, and rejects a changed archive", async (_name, archive) => {
    const bad = Array.from({ length: 3 }, (_, at) => row(50 + at, "N", "nobody")).join("");
    const path = write("archive", archive(table(40) + bad + row(90)));
    const stopped = await load(["archive", "--max-errors", "2", "--batch-size", "10"]);
    expect([stopped.exitCode, stopped.data.state]).toEqual([6, "stopped"]);
    const resume = () =>
      home.json(["imports", "resume", stopped.data.import_id, "--max-errors", "5"], {
        env: { STARPOST_HOME: join(home.folder, "home") },
      });
    const original = readFileSync(path);
    writeFileSync(path, archive(table(41)));
    const refused = await resume();
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("archive")]);
    writeFileSync(path, original);
    utimesSync(path, 0, 0);
    const { exitCode, data } = await resume();
    expect([exitCode, data.state, data.rows.rejected]).toEqual([3, "finished", 3]);
    expect(data.rows.accepted).toBe(data.rows.read - 3);
  });
});

describe("several files", () => {
  test("writes a separate reject file per column set with --empty clear", async () => {
    const other = "product_id,name,url\np-2,B,nowhere\n";
    write("a.csv", "product_id,name,url,description\np-1,A,nowhere,\n");
    write("b.csv", other);
    const args = ["products", "import", "a.csv", "b.csv", "--empty", "clear"];
    const { data, ...result } = await home.json(args, { cwd: home.folder });
    expect(data.rows).toEqual(counts(2, 2));
    const second = /with a different format are in (\S+)/.exec(noticesOf(result))?.[1] ?? "";
    expect(readFileSync(second, "utf8").split(",", 4)).toEqual(["product_id", "name", "url", "_line"]);
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toMatch(/^product_id,name,url,description,_line/);
  });
});
