import { createPaint } from "./colors.ts";
import { indentLabels, sanitizeText } from "./safe-text.ts";
import type { TextLayout } from "./text-layout.ts";
import { formatFields, formatTable, layoutForView } from "./text-table.ts";
import type { Format, View } from "./view.ts";
import { wrapLine } from "./wrap-text.ts";

/** The properties of the output terminal. */
export interface Screen {
  readonly width: number;
  readonly isColored: boolean;
  /** Changes the texts in CSV output, to protect spreadsheets and terminals. */
  readonly toCsvText?: (text: string) => string;
}

/** Renders the result of a command. `json` and `ndjson` print the data itself; `table` and `csv` print its view. */
export function renderData(data: unknown, view: View, format: Format, screen: Screen): Promise<string> {
  const render: Record<Format, () => Promise<string>> = {
    json: async () => toJson(data),
    ndjson: async () => (Array.isArray(data) ? data.map(toJson).join("") : toJson(data)),
    csv: () => renderCsv(view, screen),
    table: () => renderText(view, screen),
  };
  return render[format]();
}

export function toJson(data: unknown): string {
  return `${JSON.stringify(data)}\n`;
}

async function renderCsv(view: View, screen: Screen): Promise<string> {
  if (view.columns.length === 0) return "";
  const { stringify } = await import("csv-stringify/sync");
  return stringify([...view.rows], { header: true, columns: [...view.columns], cast: csvCasts(screen) });
}

/** How values are written in CSV. */
export function csvCasts({ toCsvText = (text) => text }: Screen) {
  return { boolean: String, string: toCsvText };
}

async function renderText(view: View, screen: Screen): Promise<string> {
  const paint = await createPaint(screen.isColored);
  const layout = await layoutForView(view);
  const render: Record<View["layout"], () => string> = {
    silent: () => "",
    line: () => view.rows.map((row) => `${row[view.columns[0] ?? ""] ?? ""}\n`).join(""),
    fields: () => [formatFields(view, paint, layout), ...formatLines(view, screen, paint, layout)].join("\n"),
    table: () => formatTable(view, screen.width, paint, layout),
    text: () => formatLines(view, screen, paint, layout).join(""),
  };
  return indentLabels(render[view.layout]());
}

/** The lines of a view as one text, or nothing if it has none. */
function formatLines(
  { lines, lineTones }: View,
  { width }: Screen,
  paint: Awaited<ReturnType<typeof createPaint>>,
  layout: TextLayout,
): readonly string[] {
  if (!lines) return [];
  const formatted = lines.flatMap((line, at) => {
    const tone = lineTones?.[at];
    return wrapLine(sanitizeText(line), width, layout).map((part) => `${tone ? paint[tone](part) : part}\n`);
  });
  return [formatted.join("")];
}
