/** Where something countable was at a moment. */
export interface Reading {
  readonly atMs: number;
  readonly rows: number;
  readonly calls: number;
}

/** How fast it went of late; rows and calls a second. */
export interface Speed {
  readonly rows: number;
  readonly calls: number;
}

/** Speeds are those of so long a time: what was before says little of what comes. */
const windowMs = 15_000;

/** No more readings are kept than one in so long. */
const everyMs = 250;

/** Less than this says nothing of a speed. */
const leastMs = 500;

/** Measures speed over the last seconds. */
export class ProgressMeter {
  #readings: Reading[] = [];

  /** Forgets what was before: what follows goes at another speed. */
  restart(reading: Reading): void {
    this.#readings = [reading];
  }

  add(reading: Reading): void {
    const { atMs, rows } = reading;
    const last = this.#readings.at(-1);
    // Another run has begun, of the same command.
    if (last && rows < last.rows) return this.restart(reading);
    const isClose = this.#readings.length > 1 && atMs - (this.#readings.at(-2)?.atMs ?? 0) < everyMs;
    if (isClose) this.#readings[this.#readings.length - 1] = reading;
    else this.#readings.push(reading);
    // One that is older stays, so that what comes seldom has a speed too.
    while (this.#readings.length > 2 && (this.#readings[1]?.atMs ?? atMs) < atMs - windowMs)
      this.#readings.shift();
  }

  /** Nothing where too little was seen. Falls while nothing comes. */
  speed(nowMs: number): Speed | undefined {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    if (!first || !last || last === first) return undefined;
    const ms = Math.max(nowMs, last.atMs) - first.atMs;
    if (ms < leastMs) return undefined;
    return {
      rows: ((last.rows - first.rows) * 1_000) / ms,
      calls: ((last.calls - first.calls) * 1_000) / ms,
    };
  }
}
