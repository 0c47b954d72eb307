import type { Service } from "../service/service.ts";
import type { ImportContext } from "./context.ts";
import type { ImportBehavior } from "./kind.ts";
import type { RunTally } from "./run/tally.ts";
import type { InputFile } from "./source/input-files.ts";

/** Observes an import without changing it; used by plans. */
export interface ImportObserver {
  readonly behavior: (behavior: ImportBehavior) => ImportBehavior;
  readonly files: (files: readonly InputFile[]) => void;
  readonly tally: (tally: RunTally) => void;
}

/** What an import needs from its caller. */
export interface ImportDeps extends ImportContext {
  /** Connects to the service; called when the first call is due, never in a dry run. */
  readonly openService: (options: {
    rate?: number | undefined;
    rateShare?: number | undefined;
    /** The run that changes data, for histories. */
    importId?: string | undefined;
  }) => Promise<{
    service: Service;
    concurrency: number;
    /** The number of concurrent calls with one record each (default: `concurrency`). */
    singleConcurrency?: number;
    /** Whether calls are carried out in the order in which they were made, even concurrent ones. */
    keepsOrder: boolean;
    /** Calls per second; undefined if calls are not paced. */
    ratePerSecond?: number | undefined;
    close(): Promise<void>;
  }>;
  /** Whether calls that are not paced carry more items than the contract recommends, because each call has a fixed cost in a database. */
  readonly prefersLargeCalls?: boolean;
  /** Whether details are reported that only help to find the cause of a problem. */
  readonly isVerbose?: boolean;
  /** Asks for confirmation before anything is sent; without it, the question is only reported. @throws if the answer is no */
  readonly confirm?: ((question: string) => Promise<void>) | undefined;
  readonly observer?: ImportObserver | undefined;
}
