import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import iconv from "iconv-lite";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { makeGzip, makeZip, type ZipPart } from "../support/archives.ts";
import { type Home, Homes, type Summary } from "../support/starpost.ts";

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

const counts = (rows: number, rejected = 0) => ({
  read: rows,
  accepted: rows - rejected,
  rejected,
  failed: 0,
});

describe("archives", () => {
  test("reads a gzip file with any file name", async () => {
    write("orders.dat", makeGzip(Buffer.from(table(5)), 2));
    const { data, exitCode } = await load(["orders.dat"]);
    expect([exitCode, data.rows, data.files]).toEqual([0, counts(5), ["orders.dat"]]);
  });

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
    const { data, stderr } = await load(["x.zip"]);
    expect(data.files).toEqual(["x.zip/2026/orders.csv", "x.zip/more.csv"]);
    expect(data.rows).toEqual(counts(7));
    expect(stderr).toContain("__MACOSX/._more.csv, read me.md");
    expect(stderr).toContain("x.zip/more.csv: not UTF-8 (line 2); read as windows-1252, with ';' as the delimiter");
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
    const { data, stderr } = await load(["x.zip"]);
    expect(data.rows).toEqual(counts(4, 1));
    expect(stderr).toContain('(x.zip/b.csv:3: "nobody")');
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toMatch(/,3,email,bad_email,x\.zip\/b\.csv: email /);
  });

  test.each<[string, () => Buffer, RegExp]>([
    [
      "a truncated gzip archive",
      () => makeGzip(Buffer.from(table(50_000))).subarray(0, -100),
      /x: the gzip archive is damaged/,
    ],
    ["a truncated zip archive", () => zipOf(["a.csv", table(50)]).subarray(0, -10), /x: the zip archive is damaged/],
    [
      "a zip archive damaged after its first megabyte",
      () => {
        const bytes = makeZip([{ name: "a.csv", bytes: Buffer.from(table(50_000)), isStored: true }]);
        return bytes.fill("X", 2_000_000, 2_000_001);
      },
      /x\/a\.csv: the zip archive is damaged/,
    ],
    [
      "an encrypted zip archive",
      () => makeZip([{ name: "a.csv", bytes: Buffer.from(table(5)), isEncrypted: true }]),
      /x: the zip archive is encrypted: .*a\.csv/,
    ],
    ["an archive without CSV files", () => zipOf(["a.png", "x"]), /x: the zip archive contains no CSV file.*a\.png/],
    [
      "a damaged workbook",
      () => zipOf(["[Content_Types].xml", "x"], ["xl/workbook.xml", "x"]),
      /x: the Excel workbook is damaged/,
    ],
    [
      "an archive within an archive",
      () => makeGzip(makeGzip(Buffer.from(table(2)))),
      /a gzip archive in another archive/,
    ],
  ])("rejects %s before sending anything", async (_name, bytes, expected) => {
    write("x", bytes());
    const { exitCode, stderr, stdout } = await load(["x"]);
    expect(stderr).toMatch(expected);
    expect([exitCode, stdout]).toEqual([2, ""]);
    const { data: runs } = await home.json<Summary[]>(["imports", "list"], {
      env: { STARPOST_HOME: join(home.folder, "home") },
    });
    expect(runs).toEqual([]);
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
  test("expands a pattern, sorts the files, and lists them", async () => {
    write("exports/b.csv", table(2, 10));
    write("exports/a.csv", table(3));
    write("exports/below/c.csv", table(1, 20));
    write("exports/.hidden.csv", table(1, 30));
    const flat = await load(["exports/*.csv", "--dry-run"]);
    expect(flat.data.files).toEqual(["exports/a.csv", "exports/b.csv"]);
    expect(flat.stderr).toContain("exports/*.csv: 2 files: exports/a.csv, exports/b.csv");
    const deep = await load([join(home.folder, "exports/**/*.csv"), "exports/b.csv"].toReversed());
    expect(deep.data.files).toEqual([
      "exports/b.csv",
      join(home.folder, "exports/a.csv"),
      join(home.folder, "exports/below/c.csv"),
    ]);
    expect(deep.data.rows).toEqual(counts(6));
  });

  test("prefers a file whose name equals the pattern", async () => {
    write("orders [1].csv", table(2));
    write("orders 1.csv", table(1));
    const { data } = await load(["orders [1].csv"]);
    expect([data.files, data.rows]).toEqual([["orders [1].csv"], counts(2)]);
  });

  test.each([
    [["none*.csv"], /none\*\.csv: no file matches/],
    [["a.csv", "./a.csv"], /\.\/a\.csv: the file is listed twice/],
    [["*.csv", "--rejects", "a.csv", "--yes"], /one of the input files/],
  ])("rejects %j", async (args, expected) => {
    write("a.csv", table(1));
    const { exitCode, stderr } = await load(args);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(expected)]);
  });

  test("writes a separate reject file per column set with --empty clear", async () => {
    const other = "product_id,name,url\np-2,B,nowhere\n";
    write("a.csv", "product_id,name,url,description\np-1,A,nowhere,\n");
    write("b.csv", other);
    const args = ["products", "import", "a.csv", "b.csv", "--empty", "clear"];
    const { data, stderr } = await home.json(args, { cwd: home.folder });
    expect(data.rows).toEqual(counts(2, 2));
    const second = /with a different format are in (\S+)/.exec(stderr)?.[1] ?? "";
    expect(readFileSync(second, "utf8").split(",", 4)).toEqual(["product_id", "name", "url", "_line"]);
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toMatch(/^product_id,name,url,description,_line/);
  });
});

describe("encodings", () => {
  test("detects Windows-1252, even if only the last line contains such a character", async () => {
    const text = table(30_000) + row(30_001, "Zoë “€”", "nobody");
    write("orders.csv", iconv.encode(text, "windows-1252"));
    const { data, stderr } = await load(["orders.csv"]);
    expect(stderr).toContain("orders.csv: not UTF-8 (line 30002); read as windows-1252");
    expect(data.rows).toEqual(counts(30_001, 1));
    expect(readFileSync(data.rejects_file ?? "", "utf8")).toMatch(/^\ufefforder_id[\s\S]*Zoë “€”/);
  });

  test.each<[string, string[], Buffer, RegExp]>([
    [
      "not UTF-8 despite --encoding utf-8",
      ["--encoding", "utf-8"],
      iconv.encode(table(20_000) + row(1, "Zoë"), "windows-1252"),
      /x\.csv:20002: the text is not UTF-8/,
    ],
    [
      "neither UTF-8 nor Windows-1252",
      [],
      Buffer.concat([Buffer.from(table(20_000)), Buffer.from([0x81, 0x8d, 0x0a])]),
      /x\.csv:20002: the text is neither UTF-8 nor windows-1252/,
    ],
    [
      "UTF-8 except for one late line",
      [],
      Buffer.concat([Buffer.from(table(20_000).replaceAll("Ada", "Zoë")), iconv.encode(row(1, "Zoë"), "windows-1252")]),
      /x\.csv:20002: .*not UTF-8/,
    ],
    [
      "invalid in the given encoding",
      ["--encoding", "windows-1252"],
      Buffer.concat([Buffer.from(table(3)), Buffer.from([0x81, 0x0a])]),
      /x\.csv:5: the text is not windows-1252/,
    ],
  ])("rejects a file that is %s, and names the line", async (_name, args, bytes, expected) => {
    write("x.csv", bytes);
    const { exitCode, stderr, stdout } = await load(["x.csv", ...args]);
    expect([exitCode, stderr, stdout]).toEqual([2, expect.stringMatching(expected), ""]);
  });
});
