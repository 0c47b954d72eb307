import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { makeZip } from "../../../support/archives.ts";
import { importFile, type Part, say } from "../bench.ts";
import { orderColumns, realistic, writeOrders } from "../files.ts";
import { figure } from "../../support/figures.ts";

/** The peak memory and the speed of the same rows as an Excel workbook, as NDJSON, and as CSV. */
export const formats: Part = async (bench) => {
  const rows = bench.rows ?? 100_000;
  const csv = writeOrders(bench.folder, realistic(rows));
  const paths = { xlsx: writeWorkbook(csv), ndjson: writeNdjson(csv), csv };
  const figures = [];
  for (const [format, path] of Object.entries(paths)) {
    const peaks: number[] = [];
    const speeds: number[] = [];
    for (let round = 1; round <= bench.rounds; round++) {
      const run = await importFile(bench, path);
      say(`  round ${round}: ${format} ${run.seconds.toFixed(2)} s, ${run.peakMb.toFixed(0)} MB`);
      peaks.push(run.peakMb);
      speeds.push(rows / run.seconds);
    }
    figures.push(figure(`peak of ${format}`, "MB", peaks, { required: 256 }), figure(format, "rows/s", speeds));
  }
  return figures;
};

function* readRows(csv: string): Generator<string[]> {
  for (const line of readFileSync(csv, "utf8").trimEnd().split("\n").slice(1)) {
    yield [...line.matchAll(/"([^"]*)"|([^,]+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  }
}

function writeNdjson(csv: string): string {
  const path = csv.replace(/csv$/, "ndjson");
  if (existsSync(path)) return path;
  const lines = [...readRows(csv)].map((row) =>
    JSON.stringify(Object.fromEntries(orderColumns.map((name, at) => [name, row[at]]))),
  );
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** Writes texts as shared strings and prices as numbers, as Excel does. */
function writeWorkbook(csv: string): string {
  const path = csv.replace(/csv$/, "xlsx");
  if (existsSync(path)) return path;
  const texts = new Map<string, number>();
  const cell = (value: string) => {
    if (/^\d+\.\d+$/.test(value)) return `<c><v>${Number(value)}</v></c>`;
    const known = texts.get(value) ?? texts.size;
    texts.set(value, known);
    return `<c t="s"><v>${known}</v></c>`;
  };
  const rows = [[...orderColumns], ...readRows(csv)].map((row) => `<row>${row.map(cell).join("")}</row>`);
  const strings = [...texts.keys()].map((text) => `<si><t>${text}</t></si>`);
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`;
  const parts = {
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": `<Relationships>${relation("main", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    "xl/workbook.xml":
      '<workbook xmlns:r="r"><sheets><sheet name="Orders" sheetId="1" r:id="sheet"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": `<Relationships>${relation("sheet", "worksheet", "sheet.xml")}${relation("texts", "sharedStrings", "texts.xml")}</Relationships>`,
    "xl/sheet.xml": `<worksheet><sheetData>${rows.join("")}</sheetData></worksheet>`,
    "xl/texts.xml": `<sst>${strings.join("")}</sst>`,
  };
  writeFileSync(path, makeZip(Object.entries(parts).map(([name, text]) => ({ name, bytes: Buffer.from(text) }))));
  return path;
}
