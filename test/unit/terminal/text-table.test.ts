import { describe, expect, test } from "vitest";
import stringWidth from "string-width";
import { layoutFor, loadLayout, narrowLayout } from "../../../src/terminal/text-layout.ts";
import { noPaint, resolveColors } from "../../../src/terminal/colors.ts";
import { renderData } from "../../../src/terminal/render.ts";
import { createTable, formatFields, formatTable, layoutForView } from "../../../src/terminal/text-table.ts";
import { fields, table } from "../../../src/terminal/view.ts";

describe("a table", () => {
  const rows = [
    { id: "20260101-000000-abcdef", files: "/a/very/long/path/to/a/file.csv", rows: 1_000 },
    { id: "2", files: "b.csv", rows: 2 },
  ];

  test("formats more rows than a function call can take arguments", () => {
    const many = Array.from({ length: 200_000 }, (_, id) => ({ id }));
    expect(formatTable(table(many, ["id"]), 80, noPaint).length).toBeGreaterThan(many.length);
  });

  test("is never wider than the terminal", () => {
    for (const width of [46, 60, 80]) {
      const lines = formatTable(table(rows, ["id", "files", "rows"]), width, noPaint).split("\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    }
  });

  test("marks truncated cells", () => {
    expect(formatTable(table(rows, ["id", "files", "rows"]), 50, noPaint)).toContain("…");
  });

  test("prints nothing if there are no rows", () => {
    expect(formatTable(table([], ["id"]), 80, noPaint)).toBe("");
  });

  test("shortens timestamps to the minute, but not dates or other text", () => {
    const row = { at: "2026-01-31T10:15:42.123Z", day: "2026-01-31", text: "from 2026-01-31T10:15:42Z on" };
    const [, line] = formatTable(table([row], Object.keys(row)), 80, noPaint).split("\n");
    expect(line).toBe("2026-01-31 10:15Z  2026-01-31  from 2026-01-31T10:15:42Z on");
  });

  test("removes control characters", () => {
    const text = formatTable(table([{ a: "x\u001b[31my\u0007z\nw" }], ["a"]), 80, noPaint);
    expect(text).toBe("A\nx [31my z w\n");
  });
});

test("a record has one line per field and truncates nothing", () => {
  const long = "x".repeat(500);
  expect(formatFields(fields({ app_key: "k", url: long, none: null }), noPaint)).toBe(
    `app key  k\nurl      ${long}\nnone\n`,
  );
});

describe("a table with text in several scripts", () => {
  const names = ["Tee", "お茶とコーヒー", "👩‍👩‍👧‍👦 Familie", "e\u0301clair", "مرحبا", "naïve — “x”"];
  const view = table(
    names.map((name, at) => ({ id: `p-${at}`, name, stars: at })),
    ["id", "name", "stars"],
  );

  test("aligns columns by their width on a terminal", async () => {
    const lines = formatTable(view, 60, noPaint, await layoutForView(view))
      .trimEnd()
      .split("\n");
    // The last column is numeric, so all lines end in the same column.
    expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1);
  });

  test("truncates between graphemes", async () => {
    const layout = await loadLayout();
    for (const name of names) {
      for (let width = 1; width < 12; width++) {
        const cut = layout.truncate(name, width);
        expect(stringWidth(cut)).toBeLessThanOrEqual(width);
        const letters = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment);
        const kept = cut.endsWith("…") ? cut.slice(0, -1) : cut;
        const prefixes = letters.map((_, at) => letters.slice(0, at).join(""));
        expect([...prefixes, ...prefixes.map((prefix) => prefix.trimEnd()), name]).toContain(kept);
      }
    }
  });

  test("isolates right-to-left text", () => {
    const text = formatTable(view, 60, noPaint);
    expect(text).toContain("\u2068مرحبا\u2069");
    const reversed = formatTable(table([{ a: "x\u202Egnp.exe" }], ["a"]), 60, noPaint);
    expect(reversed).toBe("A\nxgnp.exe\n");
  });

  test("loads the packages for wide scripts only if needed", async () => {
    expect(await layoutFor(["plain — “Latin” words…", "naïve"])).toBe(narrowLayout);
    expect(await layoutFor(["お茶"])).not.toBe(narrowLayout);
  });
});

test("colors do not count toward the width of text", () => {
  const painted = "\u001b[32mgreen\u001b[39m and more";
  expect(narrowLayout.widthOf(painted)).toBe(14);
  expect(narrowLayout.wrap(painted, 9)).toEqual(["\u001b[32mgreen\u001b[39m and", "more"]);
});

describe("on a terminal that is too narrow", () => {
  const columns = ["id", "kind", "state", "rows", "accepted"];
  const row = { id: "20260101-000000-abcdef", kind: "unsubscribers", state: "finished", rows: 10, accepted: 9 };
  const view = table([row, { ...row, rows: 7 }], columns);

  test("each row is printed as a complete record", () => {
    const text = formatTable(view, 40, noPaint);
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

  test("a table is printed if the first column fits", () => {
    const text = formatTable(view, 70, noPaint);
    expect(text.split("\n")[1]).toContain("20260101-000000-abcdef");
  });
});

test("a cell has the color of its tone, without the padding", async () => {
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
  const text = await renderData([], view, "table", { width: 80, isColored: true });
  expect(resolveColors(text).split("\n").slice(1, 3)).toEqual(["1        0", "2       \u001b[31m12\u001b[39m"]);
});

test("secrets are never truncated, at any width and in any row", () => {
  const secret = "s3cr3t".repeat(12);
  const rows = [
    { id: 1, url: "https://shop.example/hook".repeat(4), secret: "short" },
    { id: 2, url: "https://shop.example/hook", secret },
  ];
  for (const name of ["secret", "webhook.secret", "utoken", "access_token", "image_upload_token", "app_key", "code"]) {
    const named = rows.map(({ id, url, secret: value }) => ({ id, url, [name]: value }));
    for (let width = 10; width < 150; width += 7) {
      expect(formatTable(table(named, ["id", "url", name]), width, noPaint)).toContain(secret);
      // The widths are those of earlier rows.
      const { formatRows } = createTable(table(named.slice(0, 1), ["id", "url", name]), width, noPaint);
      expect(formatRows(table(named, ["id", "url", name]), narrowLayout)).toContain(secret);
    }
  }
});
