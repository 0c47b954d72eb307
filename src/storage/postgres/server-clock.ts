import { type Kysely, sql } from "kysely";

/** How often the clock is compared with that of the server, in milliseconds. */
const measureEachMs = 10_000;

/** The shortest round trip among this many of the last measurements is the most precise one. */
const keptMeasurements = 8;

/** How much the monotonic clock and that of the server may drift apart between these measurements, in milliseconds. */
const maxDriftMs = 100;

/** The clock does not go back by less than this, in milliseconds, so that no lease is shorter for others than for its holder. */
const maxHoldMs = 60_000;

interface Measurement {
  /** The time of the server minus the monotonic one, halfway between question and answer. It is off by half of `tripMs` at most. */
  readonly offsetMs: number;
  readonly tripMs: number;
}

/**
 * The time of a server, on which all processes that use it agree, whatever the clocks of their machines show. Between
 * measurements, the monotonic clock of the process counts. Reading the time starts a measurement that is due, but does not
 * wait for it. While the server is unreachable, the last measurements remain valid.
 */
export class ServerClock {
  readonly #measure: () => Promise<Measurement>;
  readonly #monotonic: () => number;
  #recent: readonly Measurement[] = [];
  #offsetMs = 0;
  #measuredMs = 0;
  #lastMs = 0;

  constructor(measure: () => Promise<Measurement>, monotonic = () => performance.now()) {
    this.#measure = measure;
    this.#monotonic = monotonic;
  }

  /** Measures for the first time. */
  async start(): Promise<void> {
    this.#measuredMs = this.#monotonic();
    this.#note(await this.#measure());
  }

  now(): number {
    const monotonicMs = this.#monotonic();
    // A failed measurement is repeated when the next one is due.
    if (monotonicMs - this.#measuredMs >= measureEachMs) void this.start().catch(() => {});
    const nowMs = Math.floor(monotonicMs + this.#offsetMs);
    const isHeld = nowMs < this.#lastMs && this.#lastMs - nowMs < maxHoldMs;
    return isHeld ? this.#lastMs : (this.#lastMs = nowMs);
  }

  #note(found: Measurement): void {
    // If both cannot be right, the clock of the server was set, or another server has taken over.
    const agrees = ({ offsetMs, tripMs }: Measurement) =>
      Math.abs(offsetMs - found.offsetMs) <= (tripMs + found.tripMs) / 2 + maxDriftMs;
    this.#recent = [...this.#recent.filter(agrees), found].slice(-keptMeasurements);
    this.#offsetMs = this.#recent.reduce((best, other) => (other.tripMs < best.tripMs ? other : best)).offsetMs;
  }
}

/** Reads the time of a server. The connection is opened or waited for before, which would distort the measurement. */
export async function openServerClock<T>(db: Kysely<T>): Promise<() => number> {
  const clock = new ServerClock(() =>
    db.connection().execute(async (connection) => {
      const sentMs = performance.now();
      const { rows } = await sql<{ ms: number }>`select extract(epoch from clock_timestamp()) * 1000 as ms`.execute(
        connection,
      );
      const tripMs = performance.now() - sentMs;
      return { offsetMs: (rows[0]?.ms ?? 0) - sentMs - tripMs / 2, tripMs };
    }),
  );
  await clock.start();
  return () => clock.now();
}
