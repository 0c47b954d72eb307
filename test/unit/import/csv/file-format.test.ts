import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { openSource, readUtf8 } from "../../../../src/import/csv/byte-source.ts";
import { describePlace, readFileHead, type FormatFlags, unitOf } from "../../../../src/import/csv/file-format.ts";
import { readRowBatches } from "../../../../src/import/csv/row-batches.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

function write(content: string | Buffer): string {
  const path = join(folder, "input");
  writeFileSync(path, content);
  return path;
}

function headOf(content: string | Buffer, flags: FormatFlags = {}) {
  return readFileHead(write(content), flags);
}

/** Each row with its line number, in the detected format. */
function rowsOf(content: string | Buffer, flags: FormatFlags = {}) {
  const { source, format } = headOf(content, flags);
  return [...readRowBatches(source, format, undefined)].flatMap(({ rows, lines }) =>
    rows.map((cells, at) => [lines[at], ...cells]),
  );
}

describe("characters that span chunks", () => {
  const pieceBytes = 256 * 1024;
  test.each(["utf-8", "utf-16le", "utf-16be", "gb18030", "shift_jis", "big5", "euc-jp", "utf-32le"])(
    "%s",
    (encoding) => {
      const letters = ["shift_jis", "big5", "euc-jp"].includes(encoding) ? "表漢字" : "😀\u{10000}\u{10ffff}漢é";
      const one = iconv.encode("x", encoding).length;
      for (let before = -9; before <= 9; before++) {
        const text = `${"x".repeat(Math.floor(pieceBytes / one) + before)}${letters}${"y".repeat(pieceBytes)}${letters}`;
        const found: Buffer[] = [];
        for (const piece of readUtf8(openSource(write(iconv.encode(text, encoding))), encoding)) {
          found.push(Buffer.from(piece));
        }
        expect(Buffer.concat(found).equals(Buffer.from(text)), `${before} before the end of a piece`).toBe(true);
      }
    },
  );

  test.each([
    ["windows-1252", [0x61, 0xe9], ["aé"]],
    ["gb18030", [0x61, 0x81], ["a", "\uFFFD"]],
    ["utf-16be", [0x00, 0x61, 0xd8, 0x3d], ["a", "\uFFFD"]],
    ["utf-16be", [0x00, 0x61, 0xdc, 0x00], ["a\uFFFD"]],
    ["utf-16be", [0x00, 0x61, 0xff, 0x5e], ["a～"]],
    ["utf-16be", [0xd8, 0x3d], ["\uFFFD"]],
    ["utf-16be", [], []],
    ["utf-8", [0x61], ["a"]],
    ["utf-8", [0xef, 0xbb, 0xbf], [""]],
    ["utf-8", [], []],
  ])("the pieces of a text in %s: %j", (encoding, bytes, pieces) => {
    const found = [...readUtf8(openSource(write(Buffer.from(bytes))), encoding)];
    expect(found.map((piece) => piece.toString())).toEqual(pieces);
  });

  test("a byte order mark is skipped in any encoding", () => {
    const parts = [Buffer.from([0xef]), Buffer.from([0xbb, 0xbf]), Buffer.from("id,name\n1,é\n")];
    const members = Buffer.concat(parts.map((part) => gzipSync(part)));
    expect(headOf(members).header).toEqual(["id", "name"]);
  });
});

describe("detecting the encoding", () => {
  const table = `id,name\n${Array.from({ length: 40 }, (_, at) => `${at},Zoë “${at}” €\n`).join("")}`;
  test.each([
    ["utf-16le", true, undefined],
    ["utf-16be", true, undefined],
    ["utf-16le", false, "UTF-16 without a byte order mark"],
    ["utf-16be", false, "UTF-16 without a byte order mark"],
    ["windows-1252", false, "not UTF-8 (line 2)"],
    ["utf-8", false, undefined],
    ["utf-8", true, undefined],
  ])("detects %s with byte order mark: %s", (encoding, addBOM, assumption) => {
    const bytes = iconv.encode(table, encoding, { addBOM });
    const head = headOf(bytes);
    expect(head.format.encoding).toBe(encoding);
    expect(head.assumption).toBe(assumption);
    expect(rowsOf(bytes)[39]).toEqual([41, "39", "Zoë “39” €"]);
  });

  test("detects a header that is not UTF-8", () => {
    const head = headOf(iconv.encode("id,größe\n1,a\n", "windows-1252"));
    expect([head.header, head.assumption]).toEqual([["id", "größe"], "not UTF-8 (line 1)"]);
  });

  test.each(["é", "漢", "😀"])("accepts the character %s across the end of the first block", (letter) => {
    for (let less = 0; less <= 4; less++) {
      const start = `id,name\n1,${"x".repeat(1_048_576 - 10 - less)}`;
      expect(headOf(`${start}${letter}\n`)).toMatchObject({ format: { encoding: "utf-8" } });
    }
  });

  test("judges UTF-8 by the first block; a later line is judged by the scan", () => {
    const rest = iconv.encode("\n2,Zoë\n", "windows-1252");
    for (const letter of ["x", "é", "漢", "😀"]) {
      const start = Buffer.from(`id,name\n1,${"x".repeat(1_048_576 - 11)}${letter}`);
      const { format, assumption } = headOf(Buffer.concat([start, rest]));
      expect([letter, format.encoding, assumption]).toEqual([letter, "utf-8", undefined]);
    }
  });

  test.each([
    ["utf8", "utf-8"],
    ["UTF-8", "utf-8"],
    ["Latin1", "Latin1"],
    ["unicode-1-1-utf-8", "unicode-1-1-utf-8"],
  ])("the flag may name it %s", (encoding, expected) => {
    const { format, header, assumption } = headOf("id,name\n1,a\n", { encoding });
    expect([format.encoding, header, assumption]).toEqual([expected, ["id", "name"], undefined]);
  });

  test("an unknown name is an error", () => {
    expect(() => headOf("id\n", { encoding: "utf-9" })).toThrow(/"utf-9"/);
  });

  test("a text that ends within a letter is not UTF-8", () => {
    expect(headOf(Buffer.from("id,name\n1,Zo\xc3", "latin1"))).toMatchObject({
      format: { encoding: "windows-1252" },
      assumption: "not UTF-8 (line 2)",
    });
  });

  test("reports the line of a single invalid line in UTF-8 text", () => {
    const lines = Buffer.concat([Buffer.from("id,name\n1,Zoë\n2,Chloé\n"), Buffer.from([0x33, 0x2c, 0xe9, 0x0a])]);
    expect(() => headOf(lines)).toThrow(
      expect.objectContaining({ line: 4, message: expect.stringMatching(/not UTF-8/) }),
    );
    const marked = Buffer.concat([Buffer.from("\ufeffid,name\n1,"), Buffer.from([0xe9, 0x0a])]);
    expect(() => headOf(marked)).toThrow(expect.objectContaining({ line: 2 }));
    expect(rowsOf(lines, { encoding: "windows-1252" })).toHaveLength(3);
  });

  test("rejects a header that is invalid in the given encoding", () => {
    const bytes = iconv.encode("id,größe\n1,a\n", "windows-1252");
    expect(() => headOf(bytes, { encoding: "utf-8" })).toThrow(expect.objectContaining({ line: 1 }));
    expect(() => headOf(Buffer.from([0x69, 0x64, 0x2c, 0x81, 0x0a]))).toThrow(/not windows-1252/);
  });
});

describe("detecting the delimiter", () => {
  test.each([
    ["id,name\n1,a\n", ","],
    ["id;name\n1;a\n", ";"],
    ["id\tname\n1\ta\n", "\t"],
    ["id|name\n1|a\n", "|"],
    ["email\na@example.com\n", ","],
    // The header contains another delimiter more often than its own.
    ["id;name (first, last, title)\n1;Ada\n2;Bo\n", ";"],
    ["id\tprice, EUR, net\n1\t12,50\n2\t13,50\n", "\t"],
    ["id|a;b;c;d|name\n1|x|Ada\n2|y|Bo\n", "|"],
    // Every row has as many commas as the header.
    ["id;price, EUR;name\n1;12,50;Ada\n2;13,50;Bo\n", ";"],
    ['"id, of the shop";"name"\n"1, 2";"Ada"\n', ";"],
    ['"id";"name"\r\n"1";"Ada, Bo"\r\n', ";"],
    ['"id"\n"1,2"\n', ","],
  ])("%j", (text, delimiter) => {
    expect(headOf(text).format.delimiter).toBe(delimiter);
  });

  test.each([
    ["sep=;\r\nid;name, first\r\n1;a\r\n", ";"],
    ['"sep=;"\nid;name\n1;a\n', ";"],
    ["sep=\t\nid\tname\n1\ta\n", "\t"],
    ["SEP=^\nid^name\n1^a\n", "^"],
    ["\ufeffsep=,\nid,name\n1,a\n", ","],
    ["sep=|\rid|name\r1|a\r", "|"],
  ])("reads a sep= line above the header, as Excel writes it: %j", (text, delimiter) => {
    const { format, header } = headOf(text);
    expect([format.delimiter, header[0], header.length]).toEqual([delimiter, "id", 2]);
    expect(rowsOf(text)).toEqual([[3, "1", "a"]]);
  });

  test.each(["id,sep=;\n1,a\n", "id,x\nsep=;,b\n", "sep=ab,id\n1,2\n"])(
    "which is only a line of its own: %j",
    (text) => {
      const { format, header } = headOf(text);
      expect([format.delimiter, format.rowsAbove, header.length]).toEqual([",", undefined, 2]);
    },
  );

  test("a flag takes precedence over the sep= line", () => {
    expect(rowsOf("sep=;\nid,name;x\n1,a;b\n", { delimiter: "," })).toEqual([[3, "1", "a;b"]]);
  });
});

describe("line endings", () => {
  test.each([
    [
      "LF and CRLF in turn",
      'id,name\r\n1,a\n2,"b\r\nc"\r\n3,d\n',
      [
        [2, "1", "a"],
        [3, "2", "b\r\nc"],
        [5, "3", "d"],
      ],
    ],
    [
      "CR, with LF in quoted cells",
      'id,name\r1,"a\nb"\r2,"c\rd"\r3,e\r',
      [
        [2, "1", "a\nb"],
        [3, "2", "c\rd"],
        [5, "3", "e"],
      ],
    ],
    [
      "LF, with CR in quoted cells",
      'id,"na\rme"\n1,"a\rb"\n2,c\n',
      [
        [2, "1", "a\rb"],
        [3, "2", "c"],
      ],
    ],
    [
      "CR, with a quote that is never closed",
      'id,name\r1,"open\r2,"a\nb"\r3,c\r',
      [
        [2, '1,"open'],
        [3, "2", "a\nb"],
        [4, "3", "c"],
      ],
    ],
  ])("%s", (_name, text, rows) => {
    expect(rowsOf(text)).toEqual(rows);
  });
});

describe("headers", () => {
  const columns = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`).join();
  test.each([
    ["empty", "", /is empty/],
    ["with blank lines only", " \n\r\n\t\n", /is empty/],
    ["without names", '"",, \n1,2,3\n', /no column names/],
    ["with an open quote", 'id,"name\n1,a\n', /cannot read the first row/],
    ["with more than 1,000 columns", `${columns(1_001)}\n`, /1001 columns.*1000/],
    ["with a control character", "id,\u0001name\n", /control characters/],
    ["with the last control character", "id\u001f\n", /control characters/],
  ])("that are invalid: %s", (_what, text, message) => {
    expect(() => headOf(text)).toThrow(message);
  });

  test.each([
    ["1,000 columns", `${columns(1_000)}\n`, 1_000],
    ["an empty name", "id,,name\n", 3],
    ["tabs, and control characters below", "id\tname\n1\t\u0001\n", 2],
    ["blank lines above", "\n\r\n\nid,name\n", 2],
    ["spaces around names", " id , name \n", 2],
  ])("that are valid: %s", (_what, text, count) => {
    const { header } = headOf(text);
    expect([header.length, header.every((name) => name === name.trim())]).toEqual([count, true]);
  });

  test("of a converted file have its format", () => {
    const known = { encoding: "utf-8", delimiter: ";", isCrOnly: true, origin: "sheet" } as const;
    const { format, header } = headOf("a,b;c\r1;2\r", { known });
    expect([format, header]).toEqual([known, ["a,b", "c"]]);
  });

  test("of a file whose format is known are where the format says", () => {
    const known = { encoding: "windows-1252", delimiter: ";", isCrOnly: false, rowsAbove: 2 };
    const text = iconv.encode("sep=;\nÜbersicht\n\nid;größe\n1;a\n", "windows-1252");
    const { format, header } = headOf(text, { known });
    expect([format, header]).toEqual([known, ["id", "größe"]]);
    expect(rowsOf(text, { known })).toEqual([[5, "1", "a"]]);
  });

  test.each([
    ["orders.csv", undefined, "line", "orders.csv:12"],
    ["orders.ndjson", "ndjson", "line", "orders.ndjson:12"],
    ["orders.xlsx", "sheet", "row", "orders.xlsx, row 12"],
    ["orders.json", "json", "element", "orders.json, element 12"],
  ] as const)("the place of a record in %s", (given, origin, unit, place) => {
    const format = { encoding: "utf-8", delimiter: ",", isCrOnly: false, ...(origin && { origin }) };
    expect([unitOf(format), describePlace(given, 12, unit)]).toEqual([unit, place]);
  });

  test("a record of a converted JSON file has the number of its element", () => {
    for (const [origin, line] of [
      ["json", 1],
      ["ndjson", 1],
      ["sheet", 2],
    ] as const) {
      const known = { encoding: "utf-8", delimiter: ",", isCrOnly: true, origin };
      expect(rowsOf("id\ra\r", { known })).toEqual([[line, "a"]]);
    }
  });
});

describe("files in other formats", () => {
  const compound = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600, 0xfe)]);
  test.each([
    ["bzip2", Buffer.from("BZh91AY&SY"), /compressed with bzip2/],
    ["xz", Buffer.from("fd377a585a0000", "hex"), /compressed with xz/],
    ["zstd", Buffer.from("28b52ffd2400", "hex"), /compressed with zstd/],
    ["lz4", Buffer.from("04224d186440", "hex"), /compressed with lz4/],
    ["7-Zip", Buffer.from("377abcaf271c0004", "hex"), /7-Zip archive/],
    ["RAR", Buffer.from("526172211a070100", "hex"), /RAR archive/],
    ["tar", Buffer.concat([Buffer.alloc(257, "x"), Buffer.from("ustar"), Buffer.alloc(250)]), /tar archive/],
    ["PDF", Buffer.from("%PDF-1.7\n"), /PDF document/],
    ["an old workbook", compound, /old Excel workbook/],
    [
      "an encrypted workbook",
      Buffer.concat([compound, Buffer.from("EncryptedPackage", "utf16le"), compound]),
      /encrypted with a password/,
    ],
  ])("%s is named", (_name, bytes, message) => {
    expect(() => headOf(bytes)).toThrow(message);
    expect(() => headOf(bytes, { encoding: "windows-1252" })).toThrow(message);
  });
});

describe("rows that are quoted as a whole", () => {
  test.each([",", ";"])("are refused if '%s' separates their cells", (delimiter) => {
    const text = '"a,b,c"\n"1,""x, y"",3"\n\n"4,5,6"\n'.replaceAll(",", delimiter);
    expect(() => headOf(text)).toThrow("each row is quoted as a whole");
  });

  test.each(['"name"\n"Ada, Ltd"\n', '"a,b"\n', '"a,b"\n"x"\n', '"a","b"\n"1","2"\n', '"a,b",c\n"1,2",3\n'])(
    "are not assumed: %j",
    (text) => {
      expect(() => headOf(text)).not.toThrow();
    },
  );
});

test("a replacement character in a UTF-8 header is a lost character", () => {
  expect(headOf("id,Gr\uFFFD\uFFFDe\n").format.encoding).toBe("utf-8");
});

describe("letters that are not UTF-8", () => {
  const french = "id,name\n1,Théâtre\n2,l’été, Hélène\n3,Grüße aus Zürich\n";
  test.each([
    ["macintosh", french, "macintosh"],
    ["macintosh", french.replaceAll("\n", "\r"), "macintosh"],
    ["windows-1252", french, "windows-1252"],
    ["windows-1252", "id,name\n1,don’t\n2,cœur\n3,Mišo – Aleš™\n4,“Ž”…\n", "windows-1252"],
    ["cp850", "id,name\n1,Zürich\n2,Théâtre\n", "windows-1252"],
    ["shift_jis", "id,name\n1,表示テスト漢字\n2,チケット購入\n", "windows-1252"],
  ])("in %s: %j are read as %s", (encoding, text, expected) => {
    const found = headOf(iconv.encode(text, encoding)).format.encoding;
    expect(found).toBe(expected);
    if (encoding === expected) {
      expect(iconv.decode(iconv.encode(text, encoding), found)).toBe(text);
    }
  });
});
