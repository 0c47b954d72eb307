import { text, type Tone, type View } from "../terminal/view.ts";
import { countOf } from "../terminal/plural.ts";
import type { Check, CheckStatus } from "./check.ts";
import { type ExitStatus, exitStatus } from "../cli/program/exit-status.ts";
import type { Diagnosis } from "./doctor.ts";

const marks: Readonly<Record<CheckStatus, string>> = { ok: "✔", warning: "!", problem: "✖", skipped: "-" };

const tones: Readonly<Partial<Record<CheckStatus, Tone>>> = {
  ok: "green",
  warning: "yellow",
  problem: "red",
};

/** A line a check: a mark, a word, the name, what was found, and below it what to do. */
export function viewOfDiagnosis({ checks }: Diagnosis): View {
  const widest = Math.max(...checks.map(({ name }) => name.length));
  const found = checks.map(({ name, status, message, fix }) => {
    const start = `${marks[status]} ${status.padEnd(8)}  ${name.padEnd(widest)}  `;
    const below = " ".repeat(start.length);
    return {
      tone: tones[status],
      lines: [`${start}${message}`, ...(fix === undefined ? [] : [`${below}${fix}`])],
    };
  });
  const rows = checks.map(({ name, status, message, fix = null }) => ({ name, status, message, fix }));
  return {
    ...text([...found.flatMap(({ lines }) => lines), "", summarise(checks)], rows, [
      "name",
      "status",
      "message",
      "fix",
    ]),
    lineTones: found.flatMap(({ tone, lines }) => lines.map((_, at) => (at === 0 ? tone : undefined))),
  };
}

function summarise(checks: readonly Check[]): string {
  const count = (status: CheckStatus) => checks.filter((check) => check.status === status).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (problems + warnings === 0) return "All is well.";
  return `${problems === 0 ? "No problem" : countOf(problems, "problem")}, ${warnings === 0 ? "no warning" : countOf(warnings, "warning")}.`;
}

/** What a script is told by the status, where one thing alone is wrong. */
const ownStatus: Readonly<Record<string, ExitStatus>> = {
  credentials: exitStatus.notSignedIn,
  reachability: exitStatus.temporary,
};

export function statusOfDiagnosis({ checks }: Diagnosis): ExitStatus {
  const wrong = checks.filter(({ status }) => status === "problem").map(({ name }) => name);
  const [first] = wrong;
  if (first === undefined) return exitStatus.done;
  return wrong.length === 1 ? (ownStatus[first] ?? exitStatus.failed) : exitStatus.failed;
}
