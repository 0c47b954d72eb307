import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Item } from "../item.ts";
import type { Entry, Value } from "./previous-values.ts";

/** The outcome for a row: undone, kept because it should stay as it is, or not possible with the API. */
export const undoOutcomes = ["reversed", "kept", "impossible"] as const;
export type UndoOutcome = (typeof undoOutcomes)[number];

/** What the run recorded about the service before it changed anything. */
export interface PreviousState {
  /** Why nothing is known; undefined if something is. */
  readonly whyNot: string | undefined;
  get(key: string): Value | undefined;
  /** When the run began, in milliseconds since the epoch. */
  readonly startedMs: number;
}

/** Something that the run wrote: an order, a product, a subscription, or the codes of an action. */
export interface UndoTarget {
  readonly key: string;
  readonly rows: number;
  /** How many of them the service confirmed; the others' call was never answered. */
  readonly sureRows: number;
  /** What they wrote; later rows override earlier ones. */
  readonly written: Value;
  /** The service's current state of it. */
  readonly now: Value | undefined;
  /** Whether an interrupted undo may have reverted it already. */
  readonly wasSent: boolean;
}

export interface Decision {
  readonly outcome: UndoOutcome;
  readonly reason: string;
  /** What to send to undo it. */
  readonly send?: Value;
}

export interface Reversal {
  readonly key: string;
  readonly send: Value;
}

/** How runs of a kind are undone. */
export interface UndoBehavior {
  /** What a run records before it changes anything; absent if an undo needs no such record. */
  readonly previous?: {
    read(service: Service, options: CallOptions): AsyncIterable<readonly Entry[]>;
    /** Whether it is recorded only with `--undoable`, since that takes extra calls. */
    readonly isOnRequest?: boolean;
    /** Whether to record only the targets that the run writes. */
    readonly isOnlyWritten?: boolean;
  };
  /** False if `decide` works without a record of the previous state. */
  readonly needsPrevious?: boolean;
  /** The target of an item, and what it wrote to it. */
  targetOf(item: Item): { readonly key: string; readonly written: Value };
  /** Streams the service's current state for `decide`; absent if that is not needed. */
  now?(service: Service, options: CallOptions): AsyncIterable<readonly Entry[]>;
  decide(thing: UndoTarget, past: PreviousState): Decision;
  readonly itemsACall: number;
  /** Undoes targets; returns those that the service refused, with its messages. */
  send(service: Service, things: readonly Reversal[], options: CallOptions): Promise<ReadonlyMap<string, string>>;
}
