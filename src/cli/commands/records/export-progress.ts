import type { ExportEvent } from "../../../export/export.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";
import { ProgressMeter } from "../../program/output/progress-meter.ts";

/** From this share of the limit on, the limit determines the speed. */
const limitedFrom = 0.8;

/** Formats the progress of an export from its events. The total is unknown until the end. */
export class ExportProgress {
  readonly #meter = new ProgressMeter();
  readonly #clock: () => number;
  readonly #ratePerSecond: number | undefined;
  #last: Extract<ExportEvent, { type: "progress" }> | undefined;
  #wait: { readonly message: string; readonly untilMs: number } | undefined;

  constructor(clock: () => number, ratePerSecond: number | undefined) {
    this.#clock = clock;
    this.#ratePerSecond = ratePerSecond;
  }

  add(event: Exclude<ExportEvent, { type: "notice" }>): void {
    const atMs = this.#clock();
    if (event.type === "wait") {
      this.#wait = { message: event.message, untilMs: atMs + event.ms };
      return;
    }
    const reading = { atMs, rows: event.rows, calls: event.pages };
    if (event.doing === this.#last?.doing) this.#meter.add(reading);
    else this.#meter.restart(reading);
    this.#last = event;
  }

  /** Returns the current status line. */
  format(): string {
    const nowMs = this.#clock();
    const wait = this.#wait && nowMs < this.#wait.untilMs ? this.#wait.message : "";
    return [...this.#parts(nowMs), wait].filter((part) => part !== "").join(" · ");
  }

  #parts(nowMs: number): string[] {
    if (!this.#last) return [];
    const { doing, rows, pages } = this.#last;
    const speed = this.#meter.speed(nowMs);
    const rate = this.#ratePerSecond;
    const isLimited =
      speed !== undefined && rate !== undefined && doing === "read" && speed.calls >= rate * limitedFrom;
    return [
      `${formatNumber(rows)} ${doing}`,
      speed ? `${formatNumber(Math.round(speed.rows))}/s` : "",
      countOf(pages, "page"),
      isLimited ? `${formatNumber(rate)} calls/s (service limit)` : "",
    ];
  }
}
