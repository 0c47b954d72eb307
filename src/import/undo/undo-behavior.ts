import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Item } from "../item.ts";
import type { ImportOptions } from "../options.ts";
import type { Entry, Value } from "./previous-values.ts";

/** What became of a row: taken back, left as it is since that is how it should be, or out of the API's reach. */
export const undoOutcomes = ["reversed", "kept", "impossible"] as const;
export type UndoOutcome = (typeof undoOutcomes)[number];

/** What the run knows of the service as it was before it. */
export interface PreviousState {
  /** Why nothing is known; nothing where something is. */
  readonly whyNot: string | undefined;
  get(key: string): Value | undefined;
  /** When the run began; milliseconds since the epoch. */
  readonly startedMs: number;
}

/** A thing that the run wrote: an order, a product, a person's subscription, an action's codes. */
export interface UndoTarget {
  readonly key: string;
  /** Rows of the run that wrote it. */
  readonly rows: number;
  /** Those of them that the service said it took; the others' call was never answered. */
  readonly sureRows: number;
  /** What they wrote, later rows over earlier ones. */
  readonly written: Value;
  /** What the service has of it now. */
  readonly now: Value | undefined;
  /** Whether an undo that was cut off may have taken it back already. */
  readonly wasSent: boolean;
}

export interface Decision {
  readonly outcome: UndoOutcome;
  readonly reason: string;
  /** What has to be sent for that. */
  readonly send?: Value;
}

export interface Reversal {
  readonly key: string;
  readonly send: Value;
}

/** How one kind of run is taken back. */
export interface UndoBehavior {
  /** False if `decide` works without a record of the previous state. */
  readonly needsPrevious?: boolean;
  /** Why the options of a run rule out a record of the previous state; undefined if they do not. */
  whyUnknown?(options: ImportOptions): string | undefined;
  /** What an item wrote to, and what. */
  targetOf(item: Item): { readonly key: string; readonly written: Value };
  /** Streams what the service has now, for `decide` to look at; absent where that is of no use. */
  now?(service: Service, options: CallOptions): AsyncIterable<readonly Entry[]>;
  decide(thing: UndoTarget, past: PreviousState): Decision;
  readonly itemsACall: number;
  /** Takes things back; gives those that the service refused, with its words. */
  send(
    service: Service,
    things: readonly Reversal[],
    options: CallOptions,
  ): Promise<ReadonlyMap<string, string>>;
}

/** What a run of a kind keeps before it changes anything, so that it can be taken back. */
export interface PreviousReader {
  /** Streams what is to be kept. */
  before(service: Service, options: CallOptions): AsyncIterable<readonly Entry[]>;
  /** Whether only what the run's own items write to is kept. */
  readonly onlyWritten: boolean;
}
