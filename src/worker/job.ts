/** What work came to: how often each outcome was met. */
export type Counts<Outcome extends string = string> = Readonly<Record<Outcome, number>>;

export interface Round<Outcome extends string = string> {
  /** All outcomes, also those that were not met. */
  readonly counts: Counts<Outcome>;
  /** Why all the rest has to wait, in words: what everything of this kind goes through cannot be reached. */
  readonly problem?: string | undefined;
}

/** One kind of work of a worker, done in rounds, beside the other kinds. */
export interface Job<Outcome extends string = string> {
  /** What is worked on, in the plural, as logs and summaries name it: `mails`. */
  readonly name: string;
  /**
   * Does all that is due now. Once `stop` is aborted it finishes what is in flight, gives back what it holds and returns.
   * What goes wrong with a single piece is an outcome; it throws where nothing can be done, such as a lost database.
   */
  runDue(stop: AbortSignal): Promise<Round<Outcome>>;
  /** When there is next something to do, milliseconds; nothing where nothing waits. Costs next to nothing. */
  nextDueAtMs(): Promise<number | undefined>;
  /** After the last round. */
  close?(): Promise<void>;
}
