import { describe, expect, test } from "vitest";
import stringWidth from "string-width";
import {
  createRuler,
  cutText,
  loadRuler,
  paintedRuler,
  plainRuler,
} from "../../src/terminal/display-width.ts";
import { noPaint } from "../../src/terminal/colors.ts";
import { renderData } from "../../src/terminal/render.ts";
import { layOutFields, layOutTable, rulerFor } from "../../src/terminal/text-table.ts";
import { fields, table } from "../../src/terminal/view.ts";

describe("a table", () => {
  const rows = [
    { id: "20260101-000000-abcdef", files: "/a/very/long/path/to/a/file.csv", rows: 1_000 },
    { id: "2", files: "b.csv", rows: 2 },
  ];

  test("may have more rows than a call takes arguments", () => {
    const many = Array.from({ length: 200_000 }, (_, id) => ({ id }));
    expect(layOutTable(table(many, ["id"]), 80, noPaint).length).toBeGreaterThan(many.length);
  });

  test("is never wider than the terminal", () => {
    for (const width of [46, 60, 80]) {
      const lines = layOutTable(table(rows, ["id", "files", "rows"]), width, noPaint).split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    }
  });

  test("shows that something was cut", () => {
    expect(layOutTable(table(rows, ["id", "files", "rows"]), 50, noPaint)).toContain("…");
  });

  test("of nothing is nothing", () => {
    expect(layOutTable(table([], ["id"]), 80, noPaint)).toBe("");
  });

  test("shows moments to the minute, and other texts as they are", () => {
    const moment = {
      at: "2026-01-31T10:15:42.123Z",
      day: "2026-01-31",
      text: "from 2026-01-31T10:15:42Z on",
    };
    const [, row] = layOutTable(table([moment], Object.keys(moment)), 80, noPaint).split("\n");
    expect(row).toBe("2026-01-31 10:15Z  2026-01-31  from 2026-01-31T10:15:42Z on");
  });

  test("lets no control character through", () => {
    const text = layOutTable(table([{ a: "x\u001b[31my\u0007z\nw" }], ["a"]), 80, noPaint);
    expect(text).toBe("A\nx [31my z w\n");
  });
});

test("a record is a line a field, and nothing of it is cut", () => {
  const long = "x".repeat(500);
  expect(layOutFields(fields({ app_key: "k", url: long, none: null }), noPaint)).toBe(
    `app key  k\nurl      ${long}\nnone\n`,
  );
});

describe("a table of many scripts", () => {
  const names = ["Tee", "お茶とコーヒー", "👩‍👩‍👧‍👦 Familie", "e\u0301clair", "مرحبا", "naïve — “x”"];
  const view = table(
    names.map((name, at) => ({ id: `p-${at}`, name, stars: at })),
    ["id", "name", "stars"],
  );

  test("lines up, as wide as a terminal shows it", async () => {
    const lines = layOutTable(view, 60, noPaint, await rulerFor(view))
      .trimEnd()
      .split("\n");
    // Numbers stand at the right end.
    expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1);
  });

  test("cuts no letter in two", async () => {
    const ruler = await loadRuler();
    for (const name of names) {
      for (let width = 1; width < 12; width++) {
        const cut = cutText(name, width, ruler);
        expect(stringWidth(cut)).toBeLessThanOrEqual(width);
        const letters = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment);
        const kept = cut.endsWith("…") ? cut.slice(0, -1) : cut;
        const beginnings = letters.map((_, at) => letters.slice(0, at).join("").trimEnd());
        expect([...beginnings, name]).toContain(kept);
      }
    }
  });

  test("lets text from right to left turn nothing beside it", () => {
    const text = layOutTable(view, 60, noPaint);
    expect(text).toContain("\u2068مرحبا\u2069");
    const turned = layOutTable(table([{ a: "x\u202Egnp.exe" }], ["a"]), 60, noPaint);
    expect(turned).toBe("A\nxgnp.exe\n");
  });

  test("loads what measures them only where it is needed", async () => {
    expect(await createRuler(["plain — “Latin” words…", "naïve"])).toBe(plainRuler);
    expect(await createRuler(["お茶"])).not.toBe(plainRuler);
  });
});

test("painted text is as wide as it is without its colours", () => {
  const painted = "\u001b[32mgreen\u001b[39m and more";
  expect(paintedRuler.widthOf(painted)).toBe(14);
  expect(painted.slice(0, paintedRuler.fit(painted, 7))).toBe("\u001b[32mgreen\u001b[39m a");
});

describe("a screen that is too narrow for a table", () => {
  const columns = ["id", "kind", "state", "rows", "accepted"];
  const row = {
    id: "20260101-000000-abcdef",
    kind: "unsubscribers",
    state: "finished",
    rows: 10,
    accepted: 9,
  };
  const view = table([row, { ...row, rows: 7 }], columns);

  test("has each row as a record, and leaves nothing out", () => {
    const text = layOutTable(view, 40, noPaint);
    expect(text).toBe(
      [
        "id        20260101-000000-abcdef",
        "kind      unsubscribers",
        "state     finished",
        "rows      10",
        "accepted  9",
        "",
        "id        20260101-000000-abcdef",
        "kind      unsubscribers",
        "state     finished",
        "rows      7",
        "accepted  9",
        "",
      ].join("\n"),
    );
  });

  test("has a table as long as the first column need not give way", () => {
    const text = layOutTable(view, 70, noPaint);
    expect(text.split("\n")[1]).toContain("20260101-000000-abcdef");
  });
});

test("a value is coloured by its column's rule, and padded outside of the colour", async () => {
  const view = {
    ...table(
      [
        { id: "1", failed: 0 },
        { id: "2", failed: 12 },
      ],
      ["id", "failed"],
    ),
    tones: { failed: (cell: unknown) => (Number(cell) > 0 ? ("red" as const) : undefined) },
  };
  const text = await renderData([], view, "table", { width: 80, isColoured: true });
  expect(text.split("\n").slice(1, 3)).toEqual(["1        0", "2       \u001b[31m12\u001b[39m"]);
});
