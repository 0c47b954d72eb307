import type { ExportEvent } from "../../../export/export.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";
import { ProgressMeter } from "../../program/output/progress-meter.ts";

/** From this part of its rate on, the pace is what holds. */
const heldFrom = 0.8;

/** How far an export is, from its events. What a service holds is not known before it was read. */
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

  take(event: Exclude<ExportEvent, { type: "notice" }>): void {
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

  /** In one line, as it is now. */
  word(): string {
    const nowMs = this.#clock();
    const wait = this.#wait && nowMs < this.#wait.untilMs ? this.#wait.message : "";
    return [...this.#parts(nowMs), wait].filter((part) => part !== "").join(" · ");
  }

  #parts(nowMs: number): string[] {
    if (!this.#last) return [];
    const { doing, rows, pages } = this.#last;
    const speed = this.#meter.speed(nowMs);
    const rate = this.#ratePerSecond;
    const isHeld =
      speed !== undefined && rate !== undefined && doing === "read" && speed.calls >= rate * heldFrom;
    return [
      `${formatNumber(rows)} ${doing}`,
      speed ? `${formatNumber(Math.round(speed.rows))}/s` : "",
      countOf(pages, "page"),
      isHeld ? `${formatNumber(rate)} calls/s, the service's limit` : "",
    ];
  }
}
