import { readRunReport } from "../../../import/report/run-report.ts";
import { recordKinds } from "../../../records/index.ts";
import type { Redactor } from "../../../terminal/redactor.ts";
import { countOf } from "../../../terminal/plural.ts";

/** The most reject reasons that are listed. */
const maxReasons = 10;

/** Lists why rows of a run were rejected, from its reject files. */
export function describeReportedReasons(runsFolder: string, id: string, redactor: Redactor | undefined): string[] {
  const report = readRunReport(runsFolder, id, recordKinds);
  const { reasons, rows_without_reason: unknown } = redactor?.data(report) ?? report;
  const omitted = reasons.length - maxReasons;
  return [
    "Rejected rows by reason:",
    ...reasons.slice(0, maxReasons).map(({ rows, examples: [example] }) => {
      const value = example?.value ? `: ${JSON.stringify(example.value)}` : "";
      return `  ${countOf(rows, "row")}  ${example?.reason} (line ${example?.line}${value})`;
    }),
    ...(omitted > 0 ? [`  and ${countOf(omitted, "more reason")}`] : []),
    ...(unknown > 0 ? [`  ${countOf(unknown, "row")}  reason not recorded yet; resume the import to record it`] : []),
  ];
}
