import { describe, expect, test } from "vitest";
import type { ImportBehavior } from "../../../../src/import/kind.ts";
import type { Layout } from "../../../../src/import/layouts/layout.ts";
import { describeFiles, type InputFile } from "../../../../src/import/source/input-files.ts";

const layout: Layout = { name: "shop", title: "a shop export", signatures: [], fields: { order_id: { from: ["No"] } } };

interface Parts {
  readonly file?: Partial<InputFile>;
  readonly head?: object;
  readonly format?: object;
  readonly columns?: object;
  readonly survey?: object;
  readonly idField?: string | undefined;
}

/** The notes about a file, without its name. */
function notesOf({ file, head, format, columns, survey, ...behavior }: Parts, isVerbose = false) {
  const header = ["No", "SKU", "Name", "Items"];
  const columnOf = new Map(Object.entries({ order_id: 0, product_id: 1 }));
  const whole = {
    given: "shop/orders.csv",
    head: { header, format: { encoding: "utf-8", delimiter: ",", isCrOnly: false, ...format }, ...head },
    columns: { columnOf, ignored: [], layout: undefined, dateOrder: undefined, productIdColumns: [], ...columns },
    survey: { records: 1, repeatedKeys: 0, firstRepeatLine: 0, ...survey },
    ...file,
  } as unknown as InputFile;
  const notes = describeFiles([whole], { idField: "code", ...behavior } as unknown as ImportBehavior, {
    isVerbose,
  });
  const name = file?.entry === undefined ? "orders.csv" : "shop/orders.csv";
  for (const note of notes) expect(note.startsWith(`${name}: `)).toBe(true);
  return notes.map((note) => note.slice(name.length + 2));
}

describe("the notes about a file", () => {
  test.each<[string, Parts, readonly RegExp[]]>([
    ["nothing remarkable", {}, []],
    ["an entry of an archive", { file: { entry: "orders.csv" }, survey: { records: 0 } }, [/no rows/]],
    ["another encoding", { format: { encoding: "utf-16le" } }, [/^read as utf-16le, with ',' as the delimiter$/]],
    ["another delimiter", { format: { delimiter: "\t" } }, [/^read as utf-8, with tab as the delimiter$/]],
    [
      "an assumed encoding",
      { head: { assumption: "not UTF-8 (line 2)" }, format: { encoding: "windows-1252" } },
      [/^not UTF-8 \(line 2\); read as windows-1252; .*--encoding$/],
    ],
    [
      "an assumed encoding and another delimiter",
      { head: { assumption: "odd" }, format: { encoding: "windows-1252", delimiter: ";" } },
      [/^odd; read as windows-1252, with ';' as the delimiter; .*--encoding$/],
    ],
    ["the order of dates", { columns: { dateOrder: "day-first" } }, [/ the day$/]],
    [
      "one repeated key",
      { survey: { repeatedKeys: 1, firstRepeatLine: 7 } },
      [/^1 row repeats a code, first on line 7;/],
    ],
    ["a lost character", { survey: { lostCharacters: 1 } }, [/^1 character was lost before; export the file again$/]],
    ["lost characters", { survey: { lostCharacters: 455 } }, [/455 characters were lost before/]],
    ["repeated keys", { survey: { repeatedKeys: 2, firstRepeatLine: 7 } }, [/^2 rows repeat a code, first on line 7;/]],
    [
      "repeated keys of a sheet",
      { format: { origin: "sheet" }, survey: { repeatedKeys: 2, firstRepeatLine: 7 } },
      [/ first in row 7;/],
    ],
    ["repeated keys of a kind without keys", { idField: undefined, survey: { repeatedKeys: 2 } }, []],
    [
      "repeated keys of a layout that groups rows",
      { columns: { layout: { ...layout, groups: {} } }, survey: { repeatedKeys: 2 } },
      [/^read as a shop export/],
    ],
  ])("%s", (_what, parts, expected) => {
    expect(notesOf(parts)).toEqual(expected.map((note) => expect.stringMatching(note)));
  });

  test("list a few of the columns that are not read, or all of them in detail", () => {
    const ignored = Array.from({ length: 12 }, (_, at) => `c${at}`);
    expect(notesOf({ columns: { ignored } })).toEqual([
      `ignored columns: ${ignored.slice(0, 10).join(", ")}, and 2 more`,
    ]);
    expect(notesOf({ columns: { ignored } }, true)).toEqual([`ignored columns: ${ignored.join(", ")}`]);
    expect(notesOf({ columns: { ignored: ["c0", "c1"], layout } })[1]).toBe("ignored columns: c0, c1");
  });
});

describe("the note about a layout", () => {
  const noteOf = (columns: object, isVerbose = false) => notesOf({ columns: { layout, ...columns } }, isVerbose)[0];

  test("names the columns of IDs", () => {
    expect(noteOf({})).toMatch(/: product IDs are 'SKU'; order IDs are 'No'$/);
    expect(noteOf({ columnOf: new Map() })).toBe("read as a shop export");
    const productIdColumns = ["SKU", "Name", "Items"];
    expect(noteOf({ productIdColumns })).toContain("product IDs are 'SKU', else 'Name', else 'Items'; order IDs are");
  });

  test("names the flag for native columns only in detail", () => {
    expect(noteOf({}, true)).toMatch(/ \(.*--layout none\)$/);
  });

  test("names the column with the lines of an order", () => {
    const lines = { column: () => "SKU", read: () => [] };
    expect(noteOf({ layout: { ...layout, lines } })).toContain("product IDs are in 'SKU'; order IDs are 'No'");
  });

  test("includes the order of dates and its own notes", () => {
    const found = noteOf({ layout: { ...layout, notes: ["one", "two"] }, dateOrder: "month-first" });
    expect(found).toMatch(/ the month; one; two$/);
    expect(notesOf({ columns: { layout, dateOrder: "month-first" } })).toHaveLength(1);
  });

  test("offers no other layout if nothing is translated", () => {
    expect(noteOf({ layout: { ...layout, fields: {} }, columnOf: new Map() })).toBe("read as a shop export");
  });
});
