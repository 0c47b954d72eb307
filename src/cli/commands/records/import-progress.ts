import type { ImportEvent } from "../../../import/events.ts";
import { countOf, formatBytes, formatDuration, formatNumber } from "../../../terminal/plural.ts";
import { isPaced, type Pace, ProgressLine, ProgressMeter, type Speed } from "../../program/output/progress-meter.ts";

type ProgressEvent = Extract<ImportEvent, { type: "progress" }>;

/** Formats the progress of a run from its events. */
export class ImportProgress {
  readonly #meter = new ProgressMeter();
  readonly #line: ProgressLine;
  #pace: Pace | undefined;
  #describe: (nowMs: number) => string = () => "";

  constructor(clock: () => number) {
    this.#line = new ProgressLine(clock);
  }

  /** Sets the rate limit; undefined if calls are not paced. */
  setPace(pace: Pace | undefined): void {
    this.#pace = pace;
  }

  add(event: Exclude<ImportEvent, { type: "notice" | "rejects" | "begun" }>): void {
    const atMs = this.#line.nowMs();
    if (event.type === "wait") this.#line.wait(event);
    else if (event.type === "reading") this.#describe = () => describeReading(event);
    else if (event.type === "readBack") {
      const { records, calls } = event;
      this.#meter.add({ atMs, rows: records, calls });
      this.#describe = (nowMs) => describeReadBack(event, this.#meter.speed(nowMs), this.#pace);
    } else {
      const reading = { atMs, rows: event.rows.read, calls: event.calls.sent };
      // Replaying an earlier attempt is fast and does not predict the remaining time.
      if (event.isReplay) this.#meter.restart(reading);
      else this.#meter.add(reading);
      this.#describe = (nowMs) => describeProgress(event, this.#meter.speed(nowMs), this.#pace);
    }
  }

  format(): string {
    return this.#line.format((nowMs) => [this.#describe(nowMs)]);
  }
}

/** Formats the progress of an import. The most important values come first, because narrow terminals truncate the line. */
export function describeProgress(
  { rows, calls, rowsTotal, isReplay }: ProgressEvent,
  speed: Speed | undefined,
  pace: Pace | undefined,
): string {
  const total = rowsTotal === undefined ? "" : ` of about ${formatNumber(rowsTotal)}`;
  const progress = `${formatNumber(rows.read)}${total} rows`;
  if (isReplay) return `reading previous progress: ${progress}`;
  const rowsLeft = rowsTotal === undefined ? 0 : Math.max(0, rowsTotal - rows.read);
  const leftMs = speed && findLeftMs(rowsLeft, speed, pace);
  const parts = [
    progress,
    speed ? `${formatRate(speed.rows)}/s` : "",
    leftMs === undefined ? "" : `${formatDuration(leftMs)} left`,
    speed && isPaced(speed, pace) ? describePace(pace) : "",
    `${formatNumber(rows.accepted)} accepted`,
    `${formatNumber(rows.rejected)} rejected`,
    rows.failed > 0 ? `${formatNumber(rows.failed)} failed` : "",
    countOf(calls.sent, "call"),
    calls.retried > 0 ? `${formatNumber(calls.retried)} retried` : "",
    calls.throttled > 0 ? `${formatNumber(calls.throttled)} rate limited` : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Estimates the remaining time, from calls if the rate limit determines the speed. Undefined if done or stalled. */
function findLeftMs(rowsLeft: number, speed: Speed, pace: Pace | undefined): number | undefined {
  if (rowsLeft === 0 || speed.rows === 0) return undefined;
  if (!isPaced(speed, pace)) return (rowsLeft * 1_000) / speed.rows;
  const callsLeft = Math.round((rowsLeft * speed.calls) / speed.rows);
  return (callsLeft * 1_000) / pace.ratePerSecond;
}

function describePace({ ratePerSecond, source }: Pace): string {
  return `${formatRate(ratePerSecond)} calls/s (${source})`;
}

function describeReadBack(
  { records, calls }: Extract<ImportEvent, { type: "readBack" }>,
  speed: Speed | undefined,
  pace: Pace | undefined,
): string {
  const parts = [
    `${countOf(records, "record")} read back`,
    speed ? `${formatRate(speed.rows)}/s` : "",
    countOf(calls, "call"),
    speed && isPaced(speed, pace) ? describePace(pace) : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function describeReading({ doing, file, rows, bytes }: Extract<ImportEvent, { type: "reading" }>): string {
  const verb = { keeping: "copying", converting: "converting", checking: "checking", again: "reading again" }[doing];
  const name = file === "-" ? "standard input" : file;
  return `${verb} ${name}: ${bytes === undefined ? countOf(rows ?? 0, "row") : formatBytes(bytes)}`;
}

/** Shows a decimal for low rates. */
function formatRate(perSecond: number): string {
  return perSecond > 0 && perSecond < 9.95 ? String(Number(perSecond.toFixed(1))) : formatNumber(Math.round(perSecond));
}
