/** Progress at a point in time. */
export interface Reading {
  readonly atMs: number;
  readonly rows: number;
  readonly calls: number;
}

/** Rows and calls per second. */
export interface Speed {
  readonly rows: number;
  readonly calls: number;
}

/** Speed is averaged over this period. */
const windowMs = 15_000;

/** Minimum time between stored readings. */
const intervalMs = 250;

/** Minimum period for a meaningful speed. */
const minMs = 500;

/** Measures the speed of the last seconds. */
export class ProgressMeter {
  #readings: Reading[] = [];

  /** Discards earlier readings. */
  restart(reading: Reading): void {
    this.#readings = [reading];
  }

  add(reading: Reading): void {
    const { atMs, rows } = reading;
    const last = this.#readings.at(-1);
    // The same command has started another run.
    if (last && rows < last.rows) return this.restart(reading);
    const isClose = this.#readings.length > 1 && atMs - (this.#readings.at(-2)?.atMs ?? 0) < intervalMs;
    if (isClose) this.#readings[this.#readings.length - 1] = reading;
    else this.#readings.push(reading);
    // Keeps one older reading, so that infrequent readings also have a speed.
    while (this.#readings.length > 2 && (this.#readings[1]?.atMs ?? atMs) < atMs - windowMs) this.#readings.shift();
  }

  /** Undefined if there are too few readings. Decreases while no readings arrive. */
  speed(nowMs: number): Speed | undefined {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    if (!first || !last || last === first) return undefined;
    const ms = Math.max(nowMs, last.atMs) - first.atMs;
    if (ms < minMs) return undefined;
    return {
      rows: ((last.rows - first.rows) * 1_000) / ms,
      calls: ((last.calls - first.calls) * 1_000) / ms,
    };
  }
}

/** The rate limit of the calls. */
export interface Pace {
  readonly ratePerSecond: number;
  /** What set the limit, for messages. */
  readonly source: string;
}

/** From this share of the limit on, the limit determines the speed. */
const limitedFrom = 0.8;

/** Whether the rate limit determines the speed. */
export function isPaced(speed: Speed, pace: Pace | undefined): pace is Pace {
  return pace !== undefined && speed.calls >= pace.ratePerSecond * limitedFrom;
}

/** A line of progress, with the reason for the current wait at its end. */
export class ProgressLine {
  readonly nowMs: () => number;
  #wait: { readonly message: string; readonly untilMs: number } | undefined;

  constructor(clock: () => number) {
    this.nowMs = clock;
  }

  wait({ message, ms }: { readonly message: string; readonly ms: number }): void {
    this.#wait = { message, untilMs: this.nowMs() + ms };
  }

  format(describe: (nowMs: number) => readonly string[]): string {
    const nowMs = this.nowMs();
    const wait = this.#wait && nowMs < this.#wait.untilMs ? this.#wait.message : "";
    return [...describe(nowMs), wait].filter((part) => part !== "").join(" · ");
  }
}
