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
