import type { Check, CheckStatus } from "../../../doctor/check.ts";
import type { Diagnosis } from "../../../doctor/doctor.ts";
import { countOf } from "../../../terminal/plural.ts";
import { text, type Tone, type View } from "../../../terminal/view.ts";
import { type ExitStatus, exitStatus } from "../../program/exit-status.ts";

const marks: Readonly<Record<CheckStatus, string>> = { ok: "✔", warning: "!", problem: "✖", skipped: "-" };

const tones: Readonly<Partial<Record<CheckStatus, Tone>>> = {
  ok: "green",
  warning: "yellow",
  problem: "red",
};

/** One line per check (mark, name, message), its fix on a line below, and a summary at the end. */
export function formatDiagnosis({ checks }: Diagnosis): View {
  const nameWidth = Math.max(...checks.map(({ name }) => name.length));
  const indent = " ".repeat(nameWidth + 4);
  const lines = checks.flatMap(({ name, status, message, fix }) => [
    { text: `${marks[status]} ${name.padEnd(nameWidth)}  ${message}`, tone: tones[status] },
    ...(fix === undefined ? [] : [{ text: `${indent}fix: ${fix}`, tone: undefined }]),
  ]);
  const rows = checks.map(({ name, status, message, fix = null }) => ({ name, status, message, fix }));
  return {
    ...text([...lines.map((line) => line.text), "", formatSummary(checks)], rows, [
      "name",
      "status",
      "message",
      "fix",
    ]),
    lineTones: lines.map(({ tone }) => tone),
  };
}

/** For example, `22 checks: 19 passed, 1 warning, 2 skipped`. */
function formatSummary(checks: readonly Check[]): string {
  const count = (status: CheckStatus) => checks.filter((check) => check.status === status).length;
  const [passed, warnings, problems, skipped] = [
    count("ok"),
    count("warning"),
    count("problem"),
    count("skipped"),
  ];
  const counts = [
    ...(passed > 0 ? [`${passed} passed`] : []),
    ...(warnings > 0 ? [countOf(warnings, "warning")] : []),
    ...(problems > 0 ? [countOf(problems, "problem")] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  return `${countOf(checks.length, "check")}: ${counts.join(", ")}`;
}

/** Exit statuses for scripts, used if the check is the only problem. */
const ownStatuses: Readonly<Record<string, ExitStatus>> = {
  credentials: exitStatus.notSignedIn,
  reachability: exitStatus.temporary,
};

export function statusOfDiagnosis({ checks }: Diagnosis): ExitStatus {
  const [first, ...others] = checks.filter(({ status }) => status === "problem").map(({ name }) => name);
  if (first === undefined) return exitStatus.done;
  return others.length === 0 ? (ownStatuses[first] ?? exitStatus.failed) : exitStatus.failed;
}
