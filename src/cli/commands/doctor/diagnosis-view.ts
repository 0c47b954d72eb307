import type { Check, CheckStatus } from "../../../doctor/check.ts";
import type { Diagnosis } from "../../../doctor/doctor.ts";
import { countOf } from "../../../terminal/plural.ts";
import { alignRows } from "../../../terminal/sections.ts";
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
  const lines = checks.flatMap(({ name, status, message, fix }) => [
    { cells: [`${marks[status]} ${name}`, message], tone: tones[status] },
    ...(fix === undefined ? [] : [{ cells: ["", `fix: ${fix}`], tone: undefined }]),
  ]);
  const aligned = alignRows(
    lines.map(({ cells }) => cells),
    { indent: "" },
  );
  const rows = checks.map(({ name, status, message, fix = null }) => ({ name, status, message, fix }));
  return {
    ...text([...aligned, "", formatSummary(checks)], rows, ["name", "status", "message", "fix"]),
    lineTones: lines.map(({ tone }) => tone),
  };
}

/** For example, `22 checks: 19 passed, 1 warning, 2 skipped`. */
function formatSummary(checks: readonly Check[]): string {
  const count = (status: CheckStatus) => checks.filter((check) => check.status === status).length;
  const counts = [
    `${count("ok")} passed`,
    countOf(count("warning"), "warning"),
    countOf(count("problem"), "problem"),
    `${count("skipped")} skipped`,
  ].filter((part) => !part.startsWith("0 "));
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
