import { credentialErrors, ServiceError } from "../../contract/index.ts";
import type { Service } from "../../service/service.ts";
import type { CallOptions } from "../../service/transport.ts";
import type { Item } from "../item.ts";
import { listNames } from "../mapping/names.ts";
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
  /** `unchanged` counts as kept, unless the row has another target that does not. */
  readonly outcome: UndoOutcome | "unchanged";
  readonly reason: string;
  /** What to send to undo it. */
  readonly send?: Value;
}

export interface Reversal {
  readonly key: string;
  readonly send: Value;
}

/** What an item wrote to a target. */
export interface Written {
  readonly key: string;
  readonly written: Value;
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
    /** What an undo cannot restore because the service does not return it, by the note; a phrase. */
    describeLimits?(note: Value): string | undefined;
  };
  /** False if `decide` works without a record of the previous state. */
  readonly needsPrevious?: boolean;
  /** The target of an item, and what it wrote to it; `parts` are further targets, one for each row. */
  targetOf(item: Item): Written & { readonly parts?: readonly Written[] };
  /** Whether a record may be listed in several entries, each with some of its fields. */
  readonly isInParts?: boolean;
  /** Streams the service's current state for `decide`; absent if that is not needed. */
  now?(service: Service, options: CallOptions, past: PreviousState): AsyncIterable<readonly Entry[]>;
  decide(thing: UndoTarget, past: PreviousState): Decision;
  readonly itemsACall: number;
  /** Undoes targets; returns those that the service refused, with its messages. */
  send(service: Service, things: readonly Reversal[], options: CallOptions): Promise<ReadonlyMap<string, string>>;
}

/** Whether the service answered but does not support a call. */
export function isRefusal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError)) return false;
  return !error.temporary && !credentialErrors.has(error.kind);
}

interface Restoration {
  readonly before: Value;
  readonly now: Value;
  /** Whether the service considers two values of a field equal, neither of which is empty. */
  readonly isSame: (field: string, a: unknown, b: unknown) => boolean;
  /** Fields whose values the API can erase. */
  readonly erasable?: readonly string[];
}

/**
 * Decides whether a record gets back the values that it had before a run. `send` lists the fields to restore.
 * Assumed: a record with a field that has changed since is left alone, since restoring part of it would be inconsistent.
 */
export function decideRestored(
  { written, wasSent }: Pick<UndoTarget, "written" | "wasSent">,
  { before, now, isSame, erasable = [] }: Restoration,
): Omit<Decision, "send"> & { readonly send?: readonly string[] } {
  const isEqual = (field: string, a: unknown, b: unknown) =>
    isEmpty(a) || isEmpty(b) ? isEmpty(a) && isEmpty(b) : isSame(field, a, b);
  const fields = Object.keys(written);
  const isTold = (field: string) => field in before && field in now;
  const untold = fields.filter((field) => !isTold(field));
  const differing = fields.filter((field) => isTold(field) && !isEqual(field, now[field], before[field]));
  const changed = differing.filter((field) => !isEqual(field, now[field], written[field]));
  if (changed.length > 0) return { outcome: "kept", reason: `changed since: ${listFields(changed)}` };
  const isStuck = (field: string) => !erasable.includes(field) && isEmpty(before[field]);
  const stuck = differing.filter(isStuck);
  const restored = differing.filter((field) => !isStuck(field));
  const stays = [
    stuck.length > 0 ? `fields without a previous value stay, because the API erases none: ${listFields(stuck)}` : "",
    untold.length > 0 ? `fields that the service does not return stay: ${listFields(untold)}` : "",
  ].filter((text) => text !== "");
  const isBack = restored.length > 0 || wasSent;
  const result = isBack || stays.length === 0 ? "has its previous values" : "is as the run wrote it";
  const reason = stays.length > 0 ? `${result}, but: ${stays.join("; ")}` : result;
  const outcome = stuck.length > 0 ? "impossible" : isBack ? "reversed" : "unchanged";
  return { outcome, reason, ...(restored.length > 0 ? { send: restored } : {}) };
}

/** The most fields named in a reason. */
const maxFields = 5;

/** What follows the name of a field that a record has several times, such as the price of a line item's units. */
export const fieldNumber = "#";

function listFields(fields: readonly string[]): string {
  const names = [...new Set(fields.map((field) => field.split(fieldNumber, 1)[0] ?? field))];
  return listNames(names, maxFields);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "";
}
