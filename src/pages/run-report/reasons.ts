import { isolate } from "../bidi.ts";
import { type Html, markup } from "../markup.ts";
import { baseName, formatShare } from "./format.ts";
import { countOf, formatNumber } from "../../terminal/plural.ts";
import type { RejectReason } from "../../import/report/reject-reasons.ts";
import type { RunReport } from "../../import/report/run-report.ts";

type Example = RejectReason["examples"][number];

/** The reasons with several examples; further ones are listed in a table. */
const maxDetailed = 10;

/** Lists every reason for rejected and failed rows, most frequent first. */
export function renderReasons({ reasons, rows_without_reason: without, summary }: RunReport): Html | false {
  const lost = summary.rows.rejected + summary.rows.failed;
  if (lost === 0) return false;
  const others = reasons.slice(maxDetailed);
  return markup`<section>
<h2>Why rows were rejected</h2>
${reasons.length > 1 && markup`<p>${countOf(reasons.length, "reason")}, most frequent first.</p>`}
${reasons.slice(0, maxDetailed).map((reason) => renderReason(reason, reasons.length > 1 ? ` (${formatShare(reason.rows, lost)})` : ""))}
${others.length > 0 && renderOthers(others)}
${without > 0 && markup`<p>The reason for ${countOf(without, "row")} is not known yet, because the import did not finish. Resume it to record the reasons.</p>`}
</section>`;
}

function renderReason(reason: RejectReason, share: string): Html {
  const { code, rows, hint, examples } = reason;
  return markup`<article class="reason">
<h3>${countOf(rows, "row")}${share}: ${renderCause(reason)}</h3>
<p class="about"><code>${code}</code>${hint !== null && markup` · ${hint.charAt(0).toUpperCase() + hint.slice(1)}.`}</p>
<ul class="examples">
${examples.map((example) => renderExample(example, describeCause(reason)))}</ul>
</article>
`;
}

/** What is wrong, and in which column. */
function renderCause(reason: RejectReason): Html {
  return markup`${reason.column !== "" && markup`${isolate(reason.column)}: `}${isolate(describeCause(reason))}`;
}

function describeCause({ message, means, code }: RejectReason): string {
  return message ?? means?.replaceAll("`", "") ?? code;
}

function renderExample({ value, reason, ...place }: Example, cause: string): Html {
  return markup`<li><span class="line">${renderPlace(place)}</span> ${renderValue(value)}${reason !== cause && markup` <span class="why">${isolate(reason)}</span>`}</li>
`;
}

function renderPlace({ file, line, unit }: Pick<Example, "file" | "line" | "unit">): Html {
  return markup`${file !== null && markup`${isolate(baseName(file))}, `}${unit} ${formatNumber(line)}`;
}

function renderValue(value: string | null): Html {
  if (value === null) return markup`<span class="value none">entire row</span>`;
  return value === ""
    ? markup`<span class="value none">empty</span>`
    : markup`<span class="value">${isolate(value)}</span>`;
}

function renderOthers(reasons: readonly RejectReason[]): Html {
  return markup`<h3>${countOf(reasons.length, "more reason")}</h3>
<table class="others">
<thead><tr><th scope="col" class="number">Rows</th><th scope="col">Reason</th><th scope="col">First example</th></tr></thead>
<tbody>
${reasons.map((reason) => {
  const [example] = reason.examples;
  return markup`<tr><td class="number">${formatNumber(reason.rows)}</td><td>${renderCause(reason)} <code>${reason.code}</code></td><td>${example && markup`<span class="line">${renderPlace(example)}</span> ${renderValue(example.value)}`}</td></tr>\n`;
})}</tbody>
</table>`;
}
