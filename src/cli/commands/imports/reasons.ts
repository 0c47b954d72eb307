import { describePlace } from "../../../import/csv/file-format.ts";
import type { RejectReason } from "../../../import/report/reject-reasons.ts";
import { readRunReport } from "../../../import/report/run-report.ts";
import { recordKinds } from "../../../records/index.ts";
import type { Redactor } from "../../../terminal/redactor.ts";
import { alignRows } from "../../../terminal/sections.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";

/** The most reject reasons that are listed. */
const maxReasons = 10;

/** Lists why rows of a run were rejected, from its reject files. */
export function describeReportedReasons(runsFolder: string, id: string, redactor: Redactor | undefined): string[] {
  const report = readRunReport(runsFolder, id, recordKinds);
  const { reasons, rows_without_reason: unknown, summary } = redactor?.data(report) ?? report;
  const lost = summary.rows.rejected + summary.rows.failed;
  const omitted = reasons.slice(maxReasons);
  const shown = reasons.slice(0, maxReasons);
  const rest = omitted.reduce((sum, { rows }) => sum + rows, 0);
  const entries = [
    ...shown.map((reason) => [reason.rows, describeReason(reason)] as const),
    ...(omitted.length > 0
      ? [[rest, `${countOf(omitted.length, "more reason")}; for all, run: starpost imports report ${id}`] as const]
      : []),
    ...(unknown > 0 ? [[unknown, "reason not recorded yet; resume the import to record it"] as const] : []),
  ];
  return [
    `${formatNumber(lost)} of ${countOf(summary.rows.read, "row")} ${lost === 1 ? "was" : "were"} not imported:`,
    ...alignRows(
      entries.map(([rows, text]) => [`${formatNumber(rows)} ${rows === 1 ? "row " : "rows"}`, text]),
      { rightColumn: 0 },
    ),
  ];
}

function describeReason({ code, examples: [example], hint }: RejectReason): string {
  const remedy = hint === null ? "" : `; ${hint}`;
  if (!example) return `${code}${remedy}`;
  const { file, line, unit } = example;
  const place = file === null ? `${unit} ${line}` : describePlace(file, line, unit);
  const value = example.value ? `: ${JSON.stringify(example.value)}` : "";
  return `${example.reason} (${place}${value})${remedy}`;
}
