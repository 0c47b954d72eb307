import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { stampFile } from "../../../../src/import/source/containers/file-pieces.ts";
import { listNames } from "../../../../src/import/mapping/names.ts";
import { findZipFiles } from "../../../../src/import/source/containers/zip-directory.ts";
import { openSource, readBytes } from "../../../../src/import/csv/byte-source.ts";
import { makeGzip, makeZip, type ZipForm, type ZipPart } from "../../../support/archives.ts";
import { isMutationSuite } from "../../../support/suite-size.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

function write(bytes: Buffer): string {
  const path = join(folder, "archive");
  writeFileSync(path, bytes);
  return path;
}

function contentOf(bytes: Buffer, entry?: string): string {
  const pieces: Buffer[] = [];
  for (const piece of readBytes(openSource(write(bytes), entry))) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString("utf8");
}

const text = "order_id,email\n".repeat(30_000);
const content = Buffer.from(text);
const isDamaged = /damaged/;

describe("gzip", () => {
  test.each([1, 2, 7])("with %i members is read completely", (members) => {
    expect(contentOf(makeGzip(content, members))).toBe(text);
  });

  test("members can end anywhere in a chunk", () => {
    for (const bytes of [32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1]) {
      // Incompressible data takes its own size plus a few bytes of the member.
      const noise = Buffer.from(Array.from({ length: bytes }, (_, at) => (at * at * 7919) >> 5));
      for (let less = 0; less < 40; less++) {
        const first = noise.subarray(0, bytes - less);
        const unpacked = contentOf(Buffer.concat([gzipSync(first, { level: 0 }), gzipSync("the end")]));
        expect(unpacked.endsWith("the end")).toBe(true);
      }
    }
  });

  test("trailing NUL blocks are ignored, as written to tapes", () => {
    expect(contentOf(Buffer.concat([makeGzip(content), Buffer.alloc(1_024)]))).toBe(text);
  });

  test("is rejected if truncated or if one bit is changed", () => {
    const whole = makeGzip(Buffer.from(text.slice(0, 3_000)), 2);
    for (let bytes = 2; bytes < whole.length; bytes++) {
      const isBetweenMembers = bytes === makeGzip(Buffer.from(text.slice(0, 1_500))).length;
      if (!isBetweenMembers) expect(() => contentOf(whole.subarray(0, bytes)), `${bytes} bytes`).toThrow(isDamaged);
    }
    for (let at = whole.length - 8; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => contentOf(changed), `byte ${at}`).toThrow(isDamaged);
    }
  });
});

describe("zip", () => {
  const part: ZipPart = { name: "orders.csv", bytes: content };
  test.each<[string, Partial<ZipPart>, ZipForm]>([
    ["deflated", {}, {}],
    ["stored", { isStored: true }, {}],
    ["with sizes after the data", { hasDescriptor: true }, {}],
    ["stored, with sizes after the data", { hasDescriptor: true, isStored: true }, {}],
    ["in zip64 format", {}, { isZip64: true }],
    ["in zip64 format, with sizes after the data", { hasDescriptor: true }, { isZip64: true }],
    ["with the longest comment", {}, { comment: "c".repeat(65_535) }],
    ["with an empty file", { bytes: Buffer.alloc(0) }, {}],
  ])("is read %s", (_name, change, form) => {
    const parts = [
      { ...part, name: "first.csv", bytes: Buffer.from("first") },
      { ...part, ...change },
    ];
    expect(contentOf(makeZip(parts, form), "orders.csv")).toBe((change.bytes ?? content).toString());
    expect(contentOf(makeZip(parts, form), "first.csv")).toBe("first");
  });

  test("is rejected if its end is ambiguous or it has several parts", () => {
    const whole = makeZip([part]);
    const secondPart = Buffer.from(whole);
    secondPart.writeUInt16LE(1, whole.length - 22 + 4);
    expect(() => contentOf(secondPart, "orders.csv")).toThrow(/damaged or incomplete: multi-disk/);
    const commented = makeZip([part], { comment: `PK\u0005\u0006${"x".repeat(40)}` });
    for (const bytes of [commented, Buffer.concat([whole, Buffer.from("\n")])]) {
      expect(() => contentOf(bytes, "orders.csv")).toThrow(/damaged or incomplete: Invalid comment length/);
    }
  });

  test("is rejected if truncated", () => {
    const whole = makeZip([{ name: "a.csv", bytes: Buffer.from(text.slice(0, 600)) }]);
    for (let bytes = 4; bytes < whole.length; bytes++) {
      expect(() => contentOf(whole.subarray(0, bytes), "a.csv"), `${bytes} bytes`).toThrow(isDamaged);
    }
  });

  test.each([false, true])("is rejected if one bit of the data is changed (stored: %s)", (isStored) => {
    const bytes = makeZip([{ name: "a.csv", bytes: Buffer.from(text.slice(0, 600)), isStored }]);
    const start = 30 + "a.csv".length + 9;
    for (let at = start; at < start + 12; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 4;
      expect(() => contentOf(changed, "a.csv"), `byte ${at}`).toThrow(isDamaged);
    }
  });

  const filesOf = (parts: readonly ZipPart[]) => findZipFiles(stampFile(write(makeZip(parts))));
  const named = (...names: string[]) => names.map((name) => ({ name, bytes: Buffer.from("a,b\n") }));

  test("tables are read in archive order; folders are ignored, and other files are reported", () => {
    const { usable, passedOver } = filesOf(
      named("b/", "b/z.CSV", "a.tsv", "__MACOSX/x.csv", ".hidden.csv", "a/.b/c.csv", "notes.txt", "c.tab", "photo.png"),
    );
    expect(usable.map(({ name }) => name)).toEqual(["b/z.CSV", "a.tsv", "c.tab"]);
    expect(passedOver).toEqual(["__MACOSX/x.csv", ".hidden.csv", "a/.b/c.csv", "notes.txt", "photo.png"]);
  });

  test("only a document has both a type and a manifest", () => {
    for (const name of ["mimetype", "META-INF/manifest.xml"]) {
      expect(filesOf(named(name, "x.csv")).usable.map(({ name: usable }) => usable)).toEqual(["x.csv"]);
    }
  });

  test.each([
    [9, 9, undefined],
    [10, 10, undefined],
    [11, 11, undefined],
    [12, 10, "2"],
    [25, 10, "15"],
  ])("of %i names, %i are listed, and %s are counted", (count, listed, more) => {
    const shown = listNames(Array.from({ length: count }, (_, at) => `n${at}`));
    expect(shown.match(/n\d+/g)).toHaveLength(listed);
    expect(/ (\d+) more$/.exec(shown)?.[1]).toBe(more);
  });

  test("a text file is a table if there is no other", () => {
    expect(filesOf(named("export.txt", "logo.png")).usable.map(({ name }) => name)).toEqual(["export.txt"]);
  });

  test("control characters are removed from names", () => {
    expect(filesOf(named("a.csv", "\u001b[2Jx")).passedOver).toEqual(["?[2Jx"]);
  });

  test("names in code page 437 are decoded", () => {
    const bytes = makeZip(named("aé.csv"));
    const old = Buffer.from(bytes.toString("latin1").replaceAll("a\u00c3\u00a9.csv", "Gr\u0081.csv"), "latin1");
    // The flag for UTF-8 names.
    for (const at of [7, old.indexOf("PK\u0001\u0002") + 9]) old[at] = 0;
    expect(findZipFiles(stampFile(write(old))).usable.map(({ name }) => name)).toEqual([
      iconv.decode(Buffer.from("Gr\u0081.csv", "latin1"), "cp437"),
    ]);
  });

  test.each<[string, readonly ZipPart[], RegExp]>([
    ["no table", named("photo.png"), /photo\.png/],
    ["no files", [], /no CSV file.*empty/],
    ["an encrypted table", [{ ...part, isEncrypted: true }], /encrypted.*orders\.csv/],
    ["a table compressed with an unsupported method", [{ ...part, method: 14 }], /method 14/],
    ["a spreadsheet", named("mimetype", "META-INF/manifest.xml", "x.csv"), /an OpenDocument spreadsheet/],
  ])("with %s is rejected", (_name, parts, pattern) => {
    expect(() => filesOf(parts)).toThrow(pattern);
  });
});

describe("any file", () => {
  test.each([
    ["gzip", gzipSync(Buffer.alloc(100_000_000)), undefined],
    ["zip", makeZip([{ name: "a.csv", bytes: Buffer.alloc(100_000_000) }]), "a.csv"],
  ])("that expands to a thousand times its size is read in small chunks: %s", (_name, bytes, entry) => {
    let [total, largest] = [0, 0];
    for (const { length } of readBytes(openSource(write(bytes), entry))) {
      total += length;
      largest = Math.max(largest, length);
    }
    expect(total).toBe(100_000_000);
    expect(largest).toBeLessThan(600_000);
  });

  test.each([
    ["gzip", gzipSync(Buffer.alloc(200_000_000, "0")), undefined],
    ["zip", makeZip([{ name: "a.csv", bytes: Buffer.alloc(200_000_000, "0") }]), "a.csv"],
  ])("that expands to an absurd size is refused before it is read completely: %s", (_name, bytes, entry) => {
    let total = 0;
    const readIt = () => {
      for (const { length } of readBytes(openSource(write(bytes), entry))) total += length;
    };
    expect(readIt).toThrow(/expands to more than 128 MiB and 300 times its size/);
    expect(total).toBeLessThan(150_000_000);
  });

  test.skipIf(isMutationSuite)("that is large and as repetitive as exports get is accepted", () => {
    const row = (at: number) => `${at},n@example.com,${"the same long description ".repeat(100)}\n`;
    const bytes = gzipSync(Buffer.from(Array.from({ length: 60_000 }, (_, at) => row(at)).join("")));
    let total = 0;
    for (const { length } of readBytes(openSource(write(bytes)))) total += length;
    expect(total).toBeGreaterThan(150_000_000);
  });

  test.each([
    ["plain", content],
    ["gzip", makeGzip(content)],
  ])("that changes while it is read is reported: %s", (_name, bytes) => {
    const source = openSource(write(bytes));
    write(Buffer.concat([bytes, Buffer.from("more")]));
    expect(() => [...readBytes(source)]).toThrow(/changed/);
  });
});
