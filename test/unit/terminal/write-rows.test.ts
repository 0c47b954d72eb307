import { expect, test } from "vitest";
import { cellOf, RowStream } from "../../../src/terminal/row-stream.ts";
import { writeRows } from "../../../src/terminal/render.ts";
import type { Format } from "../../../src/terminal/view.ts";
import { capture } from "../../cli/support.ts";

const screen = { width: 80, isColored: false };

async function* pagesOf(...pages: readonly object[][]) {
  for (const page of pages) yield page as Record<string, unknown>[];
}

test.each<Format>(["table", "csv", "json", "ndjson"])(
  "prints a page with more rows than a function call can take arguments as %s",
  async (format) => {
    const page = Array.from({ length: 200_000 }, (_, id) => ({ id }));
    const { stream, text } = capture();
    const rows = new RowStream(pagesOf(page), { columns: ["id"] });
    expect(await writeRows(stream, rows, format, ["id"], screen)).toBe(page.length);
    stream.end();
    expect(text()).toContain("199999");
  },
);

test("a column is an own property of the row, whatever its name", () => {
  expect(cellOf({ a: { b: 1 } }, "a.b")).toBe(1);
  for (const column of ["constructor", "constructor.name", "a.constructor.name", "__proto__.constructor"])
    expect(cellOf({ a: {} }, column)).toBeNull();
  const named = JSON.parse('{"__proto__": "own"}') as Record<string, unknown>;
  expect(cellOf(named, "__proto__")).toBe("own");
});

test("control characters in column names are removed", async () => {
  const { stream, text } = capture();
  const column = "\u001B[31mred\u009B31m";
  const rows = new RowStream(pagesOf([{ [column]: "x" }]), { columns: [column] });
  await writeRows(stream, rows, "table", [column], screen);
  expect(text()).not.toMatch(/[^\P{Cc}\n]/u);
});
