import { foldLine } from "./wrap-text.ts";
import { createPaint } from "./colors.ts";
import { layOutFields, layOutTable, rulerFor, toText } from "./text-table.ts";
import type { Format, View } from "./view.ts";

/** What the screen allows. */
export interface Screen {
  readonly width: number;
  readonly isColoured: boolean;
}

/** The text of a command's data in a format: `json` and `ndjson` are the very data, the others its view. */
export function renderData(data: unknown, view: View, format: Format, screen: Screen): Promise<string> {
  const render: Record<Format, () => Promise<string>> = {
    json: async () => toJson(data),
    ndjson: async () => (Array.isArray(data) ? data.map(toJson).join("") : toJson(data)),
    csv: () => renderCsv(view),
    table: () => renderText(view, screen),
  };
  return render[format]();
}

/** One JSON document on a line of its own. */
export function toJson(data: unknown): string {
  return `${JSON.stringify(data)}\n`;
}

async function renderCsv(view: View): Promise<string> {
  if (view.columns.length === 0) return "";
  const { stringify } = await import("csv-stringify/sync");
  return stringify([...view.rows], {
    header: true,
    columns: [...view.columns],
    cast: { boolean: String },
  });
}

async function renderText(view: View, screen: Screen): Promise<string> {
  const paint = await createPaint(screen.isColoured);
  const ruler = await rulerFor(view);
  const render: Record<View["layout"], () => string> = {
    silent: () => "",
    line: () => view.rows.map((row) => `${row[view.columns[0] ?? ""] ?? ""}\n`).join(""),
    fields: () => layOutFields(view, paint, ruler),
    table: () => layOutTable(view, screen.width, paint, ruler),
    text: () =>
      (view.lines ?? [])
        .flatMap((line, at) => {
          const tone = view.lineTones?.[at];
          const parts = foldLine(toText(line), screen.width, ruler);
          return parts.map((part) => `${tone ? paint[tone](part) : part}\n`);
        })
        .join(""),
  };
  return render[view.layout]();
}
