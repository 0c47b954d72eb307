import { ServiceError } from "../../contract/index.ts";
import type { CallHistory } from "./call-history.ts";
import type { Item, RowError } from "../item.ts";

/** Attempts for a part of a failed call, and for an item alone. */
const fewAttempts = { part: 2, alone: 4 } as const;

/** Consecutive failed calls after which the service is considered down. */
const maxFailedInARow = { failed: 24, late: 12 } as const;
/** Consecutive failed calls after which the service is probed. */
const doubtfulFrom = 3;

export interface BisectionDeps {
  /**
   * Sends items in one call, whose outcome is known when it returns.
   * @returns the errors of items that were not accepted
   * @throws ServiceError if the call was not carried out
   */
  readonly send: (items: readonly Item[], maxAttempts: number | undefined) => Promise<ReadonlyMap<Item, RowError>>;
  readonly history: CallHistory;
  readonly itemName: { readonly one: string; readonly many: string };
  /** Whether the service responds at all. */
  readonly probe: () => Promise<boolean>;
  /** Whether sending must end, whatever was refused. */
  readonly mustEnd: (error: unknown) => boolean;
  readonly readRefusal: (error: ServiceError) => RowError;
}

/**
 * Why a call of many items may succeed in parts: one of its items is refused or makes the service fail, or the call is too
 * large or takes too long.
 */
type Fault = "refused" | "failed" | "large" | "late";

/**
 * Sends items. If the service refuses the call, sends halves recursively until the invalid items are alone: about
 * `2·k·log2(n)` calls for `k` invalid items of `n`.
 * @returns the errors of items that were not accepted
 * @throws ServiceError if the items are not the cause; ImportError `failed` if all are refused
 */
export async function sendInParts(items: readonly Item[], deps: BisectionDeps): Promise<Map<Item, RowError>> {
  const bisection = new Bisection(deps);
  await bisection.send(items);
  await bisection.conclude(items.length);
  return bisection.problems;
}

interface Suspect {
  readonly item: Item;
  readonly error: ServiceError;
  /** How many calls the service had carried out when it failed on the item. */
  readonly taken: number;
}

class Bisection {
  readonly #deps: BisectionDeps;
  readonly problems = new Map<Item, RowError>();
  /** Items on which the service failed when they were alone, unless it was down. */
  readonly #suspects: Suspect[] = [];
  /** How many calls the service had carried out at the first failure. */
  #takenAtFirst: number | undefined;
  #takenAtLast = -1;
  #failedInARow = 0;

  constructor(deps: BisectionDeps) {
    this.#deps = deps;
  }

  /** @returns whether the items were sent in one call that was carried out */
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

  /**
   * Decides which items are invalid.
   * @throws ServiceError if the service may be the cause
   */
  async conclude(sent: number): Promise<void> {
    const { history, probe, itemName } = this.#deps;
    const open = this.#suspects.filter(({ taken }) => taken === history.taken);
    const [last] = open.slice(-1);
    if (last) {
      const wasUp = history.taken > (this.#takenAtFirst ?? history.taken);
      const isSure = wasUp || (sent === 1 && history.mayBlameBlindly());
      if (!isSure || !(await probe())) throw last.error;
    }
    for (const { item, error } of this.#suspects) {
      const reason = `the service fails on this ${itemName.one} even alone, while it accepts others: ${error.message}`;
      this.problems.set(item, { field: "", code: "call_failed", reason });
    }
  }

  async #sendPieces(items: readonly Item[], isPart: boolean): Promise<boolean> {
    const { history } = this.#deps;
    let isWhole = true;
    for (let at = 0; at < items.length;) {
      // Each piece profits from what the previous ones have shown.
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
    // The refused item must be in this half; no call is needed to find out.
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

  /** @throws ServiceError if the service is down */
  async #noteFailed(error: ServiceError, fault: "failed" | "late"): Promise<void> {
    const { probe, history } = this.#deps;
    const { taken } = history;
    this.#takenAtFirst ??= taken;
    if (taken !== this.#takenAtLast) this.#failedInARow = 0;
    this.#takenAtLast = taken;
    this.#failedInARow++;
    if (this.#failedInARow >= maxFailedInARow[fault]) throw error;
    // Failures are slow, and timeouts slower, so a probe is worth a call.
    const isDoubtful = fault === "late" || this.#failedInARow === doubtfulFrom;
    if (isDoubtful && !(await probe())) throw error;
  }
}

/** Whether a failed call may succeed in parts; not if the service is known to be away. */
function faultOf(error: unknown): Fault | undefined {
  if (!(error instanceof ServiceError)) return undefined;
  const { kind, outcomeUnknown } = error;
  if (kind === "invalidParams" || kind === "malformedBody") return "refused";
  if (kind === "bodyTooLarge") return "large";
  if (kind === "timeout") return outcomeUnknown ? "late" : undefined;
  // A connection that repeatedly breaks on the same items means the same as a 500 response.
  const isFailing = kind === "internal" || (kind === "unavailable" && outcomeUnknown);
  return isFailing ? "failed" : undefined;
}
