import type { ImportEvent } from "../../../import/events.ts";
import { countOf, formatBytes, formatDuration, formatNumber } from "../../../terminal/plural.ts";
import { ProgressMeter, type Speed } from "../../program/output/progress-meter.ts";

type ProgressEvent = Extract<ImportEvent, { type: "progress" }>;
type WaitEvent = Extract<ImportEvent, { type: "wait" }>;

/** What calls are held to. */
export interface HeldPace {
  readonly ratePerSecond: number;
  /** Whose wish it is, as a person knows it. */
  readonly whose: string;
}

/** From this part of its rate on, the pace is what holds. */
const heldFrom = 0.8;

/** How far a run is, from its events. */
export class ImportProgress {
  readonly #meter = new ProgressMeter();
  readonly #clock: () => number;
  #pace: HeldPace | undefined;
  #wait: { readonly message: string; readonly untilMs: number } | undefined;
  #describe: (nowMs: number) => string = () => "";

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** What the calls of the run are held to; nothing where they are not paced. */
  holdTo(pace: HeldPace | undefined): void {
    this.#pace = pace;
  }

  take(event: Exclude<ImportEvent, { type: "notice" }>): void {
    const atMs = this.#clock();
    if (event.type === "wait") this.#takeWait(event, atMs);
    else if (event.type === "reading") this.#describe = () => describeReading(event);
    else if (event.type === "readBack") {
      const { records, calls } = event;
      this.#meter.add({ atMs, rows: records, calls });
      this.#describe = (nowMs) => describeReadBack(event, this.#meter.speed(nowMs), this.#pace);
    } else {
      const reading = { atMs, rows: event.rows.read, calls: event.calls.sent };
      // What an earlier attempt did goes by quickly, and says nothing of what is to come.
      if (event.isReplay) this.#meter.restart(reading);
      else this.#meter.add(reading);
      this.#describe = (nowMs) => describeProgress(event, this.#meter.speed(nowMs), this.#pace);
    }
  }

  /** In one line, as it is now. */
  word(): string {
    const nowMs = this.#clock();
    const line = this.#describe(nowMs);
    const wait = this.#wait && nowMs < this.#wait.untilMs ? this.#wait.message : "";
    return [line, wait].filter((part) => part !== "").join(" · ");
  }

  #takeWait({ message, ms }: WaitEvent, atMs: number): void {
    this.#wait = { message, untilMs: atMs + ms };
  }
}

/** How far an import is, in one line; what matters most comes first, since a narrow screen cuts the rest. */
export function describeProgress(
  { rows, calls, rowsTotal, isReplay }: ProgressEvent,
  speed: Speed | undefined,
  pace: HeldPace | undefined,
): string {
  const total = rowsTotal === undefined ? "" : ` of about ${formatNumber(rowsTotal)}`;
  const counted = `${formatNumber(rows.read)}${total} rows`;
  if (isReplay) return `going over what was done: ${counted}`;
  const rowsLeft = rowsTotal === undefined ? 0 : Math.max(0, rowsTotal - rows.read);
  const leftMs = speed && findLeftMs(rowsLeft, speed, pace);
  const parts = [
    counted,
    speed ? `${formatRate(speed.rows)}/s` : "",
    leftMs === undefined ? "" : `${formatDuration(leftMs)} left`,
    speed && isHeld(speed, pace) ? describePace(pace) : "",
    `${formatNumber(rows.accepted)} accepted`,
    `${formatNumber(rows.rejected)} rejected`,
    rows.failed > 0 ? `${formatNumber(rows.failed)} failed` : "",
    countOf(calls.sent, "call"),
    calls.retried > 0 ? `${formatNumber(calls.retried)} repeated` : "",
    calls.throttled > 0 ? `${formatNumber(calls.throttled)} held back` : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Where the pace holds, time is calls; nothing where nothing is left, or nothing goes on. */
function findLeftMs(rowsLeft: number, speed: Speed, pace: HeldPace | undefined): number | undefined {
  if (rowsLeft === 0 || speed.rows === 0) return undefined;
  if (!isHeld(speed, pace)) return (rowsLeft * 1_000) / speed.rows;
  const callsLeft = Math.round((rowsLeft * speed.calls) / speed.rows);
  return (callsLeft * 1_000) / pace.ratePerSecond;
}

function isHeld(speed: Speed, pace: HeldPace | undefined): pace is HeldPace {
  return pace !== undefined && speed.calls >= pace.ratePerSecond * heldFrom;
}

function describePace({ ratePerSecond, whose }: HeldPace): string {
  return `${formatRate(ratePerSecond)} calls/s, ${whose}`;
}

/** How much of what the service holds was read back. */
function describeReadBack(
  { records, calls }: Extract<ImportEvent, { type: "readBack" }>,
  speed: Speed | undefined,
  pace: HeldPace | undefined,
): string {
  const parts = [
    `${countOf(records, "record")} read back`,
    speed ? `${formatRate(speed.rows)}/s` : "",
    countOf(calls, "call"),
    speed && isHeld(speed, pace) ? describePace(pace) : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Before anything is sent, or while it is gone over once more. */
function describeReading({ doing, file, rows, bytes }: Extract<ImportEvent, { type: "reading" }>): string {
  const words = { keeping: "keeping a copy of", checking: "looking through", again: "going over" }[doing];
  const name = file === "-" ? "standard input" : file;
  return `${words} ${name}: ${bytes === undefined ? countOf(rows ?? 0, "row") : formatBytes(bytes)}`;
}

/** Few rows a second are no whole number of them. */
function formatRate(perSecond: number): string {
  return perSecond > 0 && perSecond < 9.95
    ? String(Number(perSecond.toFixed(1)))
    : formatNumber(Math.round(perSecond));
}
