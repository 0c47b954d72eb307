import { expect, test } from "vitest";
import { createCsvLayout } from "../../../src/export/csv-layout.ts";
import type { Service } from "../../../src/service/service.ts";

const layout = createCsvLayout({
  fields: ["name", "date", "reply"],
  columns: ["n", "text", "on", "unused"],
  dateColumn: "on",
  toRows: ({ name, date, reply }, n) => [
    { n, text: name, on: date },
    ...(reply === null ? [] : [{ n: n + 100, text: reply }]),
  ],
});
const csv = { toText: (text: string) => `<${text}>`, hasByteOrderMark: false };

test("a layout writes its columns, and one or more rows for each record, numbered across all pieces", async () => {
  const form = await layout.createForm(csv, {} as Service, {});
  expect(form.start).toBe("n,text,on,unused\n");
  expect(
    form.rows(
      [
        ["a", "2026-01-01", null],
        ["b", "2026-01-02", "r"],
      ],
      true,
    ),
  ).toBe("1,<a>,<2026-01-01>,\n2,<b>,<2026-01-02>,\n102,<r>,,\n");
  expect(form.rows([["c", "2026-01-03", null]], false)).toBe("3,<c>,<2026-01-03>,\n");
  expect(form.end).toBe("");
});

test("records are sorted by date, and then by what the layout holds", () => {
  const key = (name: string, date: string | null, id = 1) => layout.sortKeyOf({ name, date, reply: null, id });
  expect(key("z", "2026-01-01") < key("a", "2026-01-02")).toBe(true);
  expect(key("a", "2026-01-01") < key("b", "2026-01-01")).toBe(true);
  expect(key("a", "2026-01-01", 1)).toBe(key("a", "2026-01-01", 2));
  expect(key("a", null) < key("a", "2026-01-01")).toBe(true);
});
