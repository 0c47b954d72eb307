import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { openSource } from "../../../../src/import/csv/byte-source.ts";
import { findUtfFault } from "../../../../src/import/csv/encoding-detection.ts";
import { hashKey, KeyFilter, surveyFile, trimKey } from "../../../../src/import/csv/pre-scan.ts";
import { RowsOnDisk } from "../../../../src/import/csv/rows-on-disk.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

function write(content: string | Uint8Array): string {
  const path = join(folder, "input.csv");
  writeFileSync(path, content);
  return path;
}

/** Surveys a file below its header, in the given format. */
function survey(content: string | Uint8Array, keyColumn = 0, encoding = "utf-8") {
  const source = openSource(write(content));
  return surveyFile(source, { encoding, delimiter: ",", isCrOnly: false }, keyColumn);
}

describe("surveying a file", () => {
  test("counts records, bytes, and rows with the key of an earlier row", async () => {
    const text = 'id,n\na,1\nb,2\nb,3\n"a",4\n,5\n,6\n a ,7\nc,8\nb,9\n';
    const { repeated, ...found } = await survey(text);
    expect(found).toEqual({
      sha256: createHash("sha256").update(text).digest("hex"),
      sizeBytes: text.length,
      records: 9,
      invalidLine: 0,
      lostCharacters: 0,
      repeatedKeys: 2,
      firstRepeatLine: 5,
    });
    const isRepeated = (key: string) => repeated?.has(hashKey(Buffer.from(key), 0, key.length));
    expect(["a", "b", "c", ""].map(isRepeated)).toEqual([true, true, false, false]);
  });

  test("remembers no keys if all rows of a key are adjacent, or without a key column", async () => {
    expect(await survey("id\na\na\nb\n")).toMatchObject({ repeatedKeys: 0, firstRepeatLine: 0, repeated: undefined });
    expect(await survey("id\na\nb\na\n", -1)).toMatchObject({ repeatedKeys: 0, repeated: undefined });
    expect(await survey("id,key\na\nb,x\na\nc,y\nd,x\n", 1)).toMatchObject({ repeatedKeys: 1, firstRepeatLine: 6 });
  });

  test("uses a known hash", async () => {
    const source = openSource(write("id\n"));
    const format = { encoding: "utf-8", delimiter: ",", isCrOnly: false };
    expect((await surveyFile(source, format, -1, "known")).sha256).toBe("known");
  });

  test.each([
    ["utf-8", Buffer.from("id\n1\né\n\xff\n2\n\xff\n", "latin1"), 3],
    ["utf-8", Buffer.from("id\n1\n2\n\xff", "latin1"), 4],
    ["utf-8", "id\né\n漢\n", 0],
    ["gb18030", Buffer.concat([iconv.encode("id\n漢\n", "gb18030"), Buffer.from([0xff, 10, 0x31, 10, 0xff])]), 3],
    ["gb18030", iconv.encode("id\n漢\n", "gb18030"), 0],
    // A replacement character in UTF-16 is a letter of the text.
    ["utf-16le", iconv.encode("id\n\uFFFD\n", "utf-16le"), 0],
  ])("finds the first line that is not %s", async (encoding, content, invalidLine) => {
    expect((await survey(content, -1, encoding)).invalidLine).toBe(invalidLine);
  });

  test.each([
    ["utf-8", "id,n\n1,\uFFFDa \uFFFD\uFFFD\n2,\uFFFD\n", 4],
    ["utf-8", "id,n\n1,Müller\n", 0],
    ["utf-8", "id,n\n", 0],
    ["utf-8", `id\n${"\uFFFD\n".repeat(200_000)}`, 200_000],
    ["gb18030", iconv.encode("id\n\uFFFD\n", "gb18030"), 0],
  ])("counts the lost characters of %s", async (encoding, content, lost) => {
    const { lostCharacters, invalidLine } = await survey(content, -1, encoding);
    expect(lostCharacters).toBe(lost);
    if (encoding === "utf-8") expect(invalidLine).toBe(0);
  });

  test.each([
    ["a", "a"],
    [" a\t", "a"],
    ['"a"', "a"],
    ['" a b "', "a b"],
    ['"', '"'],
    ['""', ""],
    ['"a', '"a'],
    ['a"', 'a"'],
    ["  ", ""],
  ])("the key of the cell %j is %j", (cell, key) => {
    const bytes = Buffer.from(`x${cell}x`);
    expect(bytes.toString("utf8", ...trimKey(bytes, 1, cell.length + 1))).toBe(key);
  });

  test("a filter has what was added, and almost nothing else", () => {
    const filter = new KeyFilter(16);
    const keys = Array.from({ length: 500 }, (_, at) => hashKey(Buffer.from(`key ${at}`), 0, 9));
    expect(keys.some((key) => filter.has(key))).toBe(false);
    for (const key of keys) filter.add(key);
    expect(keys.every((key) => filter.has(key))).toBe(true);
    const others = Array.from({ length: 5_000 }, (_, at) => hashKey(Buffer.from(`other ${at}`), 0, 11));
    expect(others.filter((key) => filter.has(key)).length).toBeLessThan(5);
  });
});

describe("lines that are not UTF-8", () => {
  const bad = "\xe9";
  const good = Buffer.from("é").toString("latin1");
  const long = "x".repeat(300 * 1024);
  const mark = "\xef\xbb\xbf";
  test.each([
    ["none", `a\n${good}\n`, undefined],
    ["one", `a\n${bad}\nb\n`, { line: 2, isUtf8Meant: false }],
    ["one below a byte order mark", `${mark}a\n${bad}\n`, { line: 2, isUtf8Meant: true }],
    ["one, and a line that is", `${good}\n\n${bad}`, { line: 3, isUtf8Meant: true }],
    ["two, before a line that is", `a\n${bad}\n${bad}\n${good}`, { line: 2, isUtf8Meant: true }],
    ["ten, and a line that is", `${good}\n${`${bad}\n`.repeat(10)}`, { line: 2, isUtf8Meant: false }],
    ["nine, and a line that is", `${good}\n${`${bad}\n`.repeat(9)}`, { line: 2, isUtf8Meant: true }],
    ["one after long lines", `${long}\n${long}\na\n${bad}${long}\n`, { line: 4, isUtf8Meant: false }],
    ["one after lines in many pieces", `a\n${`${long}\n`.repeat(3)}${good}\n${bad}`, { line: 6, isUtf8Meant: true }],
    ["one in a line of many pieces", `a\n${long}${long}${bad}${long}\n${good}`, { line: 2, isUtf8Meant: true }],
    ["one in a line of a dozen pieces", `${bad}${long.repeat(12)}\n${good}`, { line: 1, isUtf8Meant: true }],
    ["a letter across pieces", `${"x".repeat(256 * 1024 - 1)}${good}\n${bad}\n`, { line: 2, isUtf8Meant: true }],
  ])("%s", (_name, text, expected) => {
    expect(findUtfFault(openSource(write(Buffer.from(text, "latin1"))), false)).toEqual(expected);
  });

  test("lines may end in CR", () => {
    const path = write(Buffer.from(`a\r${good}\r${bad}\n\r`, "latin1"));
    expect(findUtfFault(openSource(path), true)).toEqual({ line: 3, isUtf8Meant: true });
    expect(findUtfFault(openSource(path), false)).toEqual({ line: 1, isUtf8Meant: false });
  });
});

describe("spilled rows", () => {
  const row = (key: string, line: number) => ({ key, line, cells: [key, `${line}`], problem: undefined });

  test("come back by key, in the order of their first lines, under the name of their key", () => {
    using onDisk = new RowsOnDisk(folder);
    for (const [at, key] of ["b", "a", "alias", "b", "other", "a"].entries()) onDisk.add(row(key, at + 2));
    onDisk.add({ ...row("c", 20), problem: "bad_quote" });
    onDisk.addAlias("alias", "b");
    onDisk.addAlias("alias", "c");
    onDisk.addAlias("other", "alias");
    onDisk.seal();
    const groups = [...onDisk.groups()].map(({ firstLine, rows }) => [
      firstLine,
      rows.map(({ key, line, cells, problem }) => [key, line, cells.join(), problem]),
    ]);
    expect(groups).toEqual([
      [
        2,
        [
          ["b", 2, "b,2", undefined],
          ["b", 4, "alias,4", undefined],
          ["b", 5, "b,5", undefined],
          ["b", 6, "other,6", undefined],
        ],
      ],
      [
        3,
        [
          ["a", 3, "a,3", undefined],
          ["a", 7, "a,7", undefined],
        ],
      ],
      [20, [["c", 20, "c,20", "bad_quote"]]],
    ]);
  });

  test("of a large group come in pieces with the same first line", () => {
    using onDisk = new RowsOnDisk(folder);
    for (let line = 2; line < 12_002; line++) onDisk.add(row("a", line));
    onDisk.add(row("b", 1));
    onDisk.seal();
    const sizes = [...onDisk.groups()].map(({ firstLine, rows }) => [firstLine, rows.length]);
    expect(sizes).toEqual([
      [1, 1],
      [2, 5_000],
      [2, 5_000],
      [2, 2_000],
    ]);
  });
});
