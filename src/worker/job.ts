/** Number of times each outcome occurred. */
export type Counts<Outcome extends string = string> = Readonly<Record<Outcome, number>>;

export interface Round<Outcome extends string = string> {
  /** Counts of all outcomes, including those that did not occur. */
  readonly counts: Counts<Outcome>;
  /** Why the remaining work has to wait, for example because the mail server cannot be reached. */
  readonly problem?: string | undefined;
}

/** A kind of work that a worker does in rounds, independently of other jobs. */
export interface Job<Outcome extends string = string> {
  /** What the job processes, in the plural, for logs and summaries: `emails`. */
  readonly name: string;
  /**
   * Does everything that is due. Once `stop` is aborted, finishes what is in flight, releases its leases, and returns.
   * A failure of one item is an outcome.
   * @throws if no work is possible, for example because the database is unavailable
   */
  runDue(stop: AbortSignal): Promise<Round<Outcome>>;
  /** Finds when the next item is due, in milliseconds; undefined if nothing is pending. Cheap enough to poll. */
  nextDueAtMs(): Promise<number | undefined>;
  /** Called after the last round. */
  close?(): Promise<void>;
}
