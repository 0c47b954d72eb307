import { ServiceError } from "../../contract/index.ts";
import type { CallHistory } from "./call-history.ts";
import type { Item, RowError } from "../item.ts";

/** Tries of a call that stands in for a larger one which failed: it, and an item that is alone. */
const fewAttempts = { part: 2, alone: 4 } as const;

/** Failed calls in a row, with none carried out between, after which the service is down. */
const maxFailedInARow = { failed: 24, late: 12 } as const;
/** Failed calls in a row after which the service is asked whether it is there. */
const doubtfulFrom = 3;

export interface BisectionDeps {
  /**
   * Sends items in one call, of which the outcome is known when it comes back.
   * @returns the problems of those that were not taken
   * @throws ServiceError when the call was not carried out
   */
  readonly send: (
    items: readonly Item[],
    maxAttempts: number | undefined,
  ) => Promise<ReadonlyMap<Item, RowError>>;
  readonly history: CallHistory;
  readonly itemName: { readonly one: string; readonly many: string };
  /** Whether the service answers anything at all. */
  readonly probe: () => Promise<boolean>;
  /** Whether sending is to end, whatever was refused. */
  readonly mustEnd: (error: unknown) => boolean;
  /** Makes a problem of the words with which the service refused an item that was alone. */
  readonly readRefusal: (error: ServiceError) => RowError;
}

/** Why a call of many items may go through in parts. */
type Fault =
  /** Something in it is refused. */
  | "refused"
  /** It is too large. */
  | "large"
  /** Something in it makes the service fail. */
  | "failed"
  /** It takes the service too long. */
  | "late";

/**
 * Sends items; where the service refuses them as a whole, in halves and halves of halves, until those at fault are
 * alone. With `k` of `n` at fault that takes about `2·k·log2(n)` calls.
 * @returns the problems of the items that were not taken
 * @throws ServiceError where it is not the items; ImportError `failed` where all are refused
 */
export async function sendInParts(items: readonly Item[], deps: BisectionDeps): Promise<Map<Item, RowError>> {
  const bisection = new Bisection(deps);
  await bisection.send(items);
  await bisection.judge(items.length);
  return bisection.problems;
}

interface Suspect {
  readonly item: Item;
  readonly error: ServiceError;
  /** What the service had taken when it failed with the item. */
  readonly taken: number;
}

class Bisection {
  readonly #deps: BisectionDeps;
  readonly problems = new Map<Item, RowError>();
  /** Items with which the service failed when they were alone; or it was down. */
  readonly #suspects: Suspect[] = [];
  /** What the service had taken when it failed first. */
  #takenAtFirst: number | undefined;
  #takenAtLast = -1;
  #failedInARow = 0;

  constructor(deps: BisectionDeps) {
    this.#deps = deps;
  }

  /** @returns whether the items went in one call, which was carried out */
  async send(items: readonly Item[], isPart = false): Promise<boolean> {
    const { send, history, mustEnd } = this.#deps;
    if (items.length > history.maxItems) return this.#sendPieces(items, isPart);
    const attempts = isPart ? fewAttempts[items.length === 1 ? "alone" : "part"] : undefined;
    try {
      for (const [item, problem] of await send(items, attempts)) this.problems.set(item, problem);
      history.noteTaken();
      return true;
    } catch (error) {
      const fault = faultOf(error);
      if (!(error instanceof ServiceError) || !fault || mustEnd(error)) throw error;
      if (fault === "failed" || fault === "late") await this.#noteFailed(error, fault);
      const [item] = items;
      if (items.length === 1 && item) this.#suspect(item, error, fault);
      else {
        if (fault === "large" || fault === "late") history.shrink(items.length, error);
        await this.#split(items, fault);
      }
      return false;
    }
  }

  /** Says which items are at fault. @throws ServiceError when it may as well be the service */
  async judge(sent: number): Promise<void> {
    const { history, probe, itemName } = this.#deps;
    const open = this.#suspects.filter(({ taken }) => taken === history.taken);
    const [last] = open.slice(-1);
    if (last) {
      const wasUp = history.taken > (this.#takenAtFirst ?? history.taken);
      const isSure = wasUp || (sent === 1 && history.mayBlameBlindly());
      if (!isSure || !(await probe())) throw last.error;
    }
    for (const { item, error } of this.#suspects) {
      const reason = `the service fails with this ${itemName.one} alone, and takes others: ${error.message}`;
      this.problems.set(item, { field: "", code: "call_failed", reason });
    }
  }

  async #sendPieces(items: readonly Item[], isPart: boolean): Promise<boolean> {
    const { history } = this.#deps;
    let isWhole = true;
    for (let at = 0; at < items.length;) {
      // What is learnt from one piece holds for the next.
      const piece = items.slice(at, at + history.maxItems);
      at += piece.length;
      isWhole = (await this.send(piece, isPart)) && isWhole;
    }
    return isWhole;
  }

  async #split(items: readonly Item[], fault: Fault): Promise<void> {
    const middle = Math.ceil(items.length / 2);
    const [left, right] = [items.slice(0, middle), items.slice(middle)];
    const isLeftTaken = await this.send(left, true);
    // What was refused in the whole is in this half then: no call is needed to know.
    if (fault === "refused" && isLeftTaken && right.length > 1) await this.#split(right, fault);
    else await this.send(right, true);
  }

  #suspect(item: Item, error: ServiceError, fault: Fault): void {
    const { history, itemName, readRefusal } = this.#deps;
    if (fault === "failed" || fault === "late") {
      this.#suspects.push({ item, error, taken: history.taken });
      return;
    }
    this.problems.set(item, readRefusal(error));
    history.noteRefusedAlone(error, itemName);
  }

  /** @throws ServiceError when the service is down */
  async #noteFailed(error: ServiceError, fault: "failed" | "late"): Promise<void> {
    const { probe, history } = this.#deps;
    const { taken } = history;
    this.#takenAtFirst ??= taken;
    if (taken !== this.#takenAtLast) this.#failedInARow = 0;
    this.#takenAtLast = taken;
    this.#failedInARow++;
    if (this.#failedInARow >= maxFailedInARow[fault]) throw error;
    // Failing takes long, and waiting for an answer longer: whether there is any to be had is worth a call.
    const isDoubtful = fault === "late" || this.#failedInARow === doubtfulFrom;
    if (isDoubtful && !(await probe())) throw error;
  }
}

/** Whether a call that was not carried out may be in parts; a service that is known to be away is left alone. */
function faultOf(error: unknown): Fault | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const { kind, outcomeUnknown } = error;
  if (kind === "invalidParams" || kind === "malformedBody") return "refused";
  if (kind === "bodyTooLarge") return "large";
  if (kind === "timeout") return outcomeUnknown ? "late" : undefined;
  // A connection that breaks with the same items again and again says as much as an answer of 500.
  const isFailing = kind === "internal" || (kind === "unavailable" && outcomeUnknown);
  return isFailing ? "failed" : undefined;
}
