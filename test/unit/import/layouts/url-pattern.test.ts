import { describe, expect, test } from "vitest";
import { ImportError } from "../../../../src/import/import-error.ts";
import { readUrlPattern } from "../../../../src/import/layouts/url-pattern.ts";

const fields = ["product_id", "name", "url"].map((name) => ({ name }));
const header = ["Path", "", "Name"];

describe("a URL", () => {
  const values = (cells: Readonly<Record<string, string>>) => (name: string) => cells[name] ?? "";
  test.each([
    ["https://shop.example/{product_id}", { product_id: "a b/c" }, {}, "https://shop.example/a%20b/c"],
    ["https://shop.example/{Product ID}?x", { product_id: "é&" }, {}, "https://shop.example/%C3%A9%26?x"],
    ["https://shop.example/{ path }/{name}", { name: "cup" }, { Path: "a" }, "https://shop.example/a/cup"],
    ["https://shop.example/{path}/{name}", { name: "" }, { Path: "a" }, ""],
    ["https://shop.example/{path}", {}, {}, ""],
    ["https://shop.example/{path}", {}, { Path: "\ud800" }, "https://shop.example/%EF%BF%BD"],
  ])("of %j from %j and %j is %j", (pattern, row, cells, url) => {
    expect(readUrlPattern("a.csv", pattern, "url", fields, header)(values(row), values(cells))).toBe(url);
  });
});

/** The names in the hint of an unknown placeholder. */
function namesFor(placeholder: string, columns: readonly string[]) {
  try {
    readUrlPattern("a.csv", `https://shop.example/${placeholder}`, "url", fields, columns);
  } catch (error) {
    const { kind, hint = "" } = error as ImportError;
    expect(kind).toBe("usage");
    return hint.split("; ").map((list) => list.slice(list.indexOf(": ") + 2));
  }
  return [];
}

test("an unknown placeholder is refused with the known names, of which few are listed", () => {
  const many = Array.from({ length: 14 }, (_, at) => `c${at}`);
  const twelve = many.slice(0, 12);
  expect(namesFor("{other}", header)).toEqual(["product_id, name", "Path, Name"]);
  expect(namesFor("{url}", twelve)).toEqual(["product_id, name", twelve.join(", ")]);
  expect(namesFor("{}", many)).toEqual(["product_id, name", `${twelve.join(", ")}, and 2 more`]);
});

test.each(["https://shop.example/", "shop.example/{product_id}", "ftp://shop.example/{product_id}", "{product_id}"])(
  "the pattern %j is refused",
  (pattern) => {
    expect(() => readUrlPattern("a.csv", pattern, "url", fields, header)).toThrow(
      expect.objectContaining({ kind: "usage" }),
    );
  },
);
