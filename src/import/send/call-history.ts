import type { ServiceError } from "../../contract/index.ts";
import { ImportError } from "../import-error.ts";

/** Consecutively refused items, with none accepted in between, after which the items are not the cause. */
const maxRefusedInARow = 50;

/** What a run learns about the service from its calls; shared by all concurrent calls. */
export class CallHistory {
  readonly #onSmaller: (maxItems: number, error: ServiceError) => void;
  /** The number of calls that the service has carried out. */
  taken: number;
  #refusedInARow = 0;
  #shrunkBy: ServiceError | undefined;
  #isBlind = false;
  /** The maximum number of items per call. */
  maxItems: number;

  /** @param onSmaller called once a smaller call has succeeded where a larger one failed */
  constructor({
    maxItems = Number.POSITIVE_INFINITY,
    hasTaken,
    onSmaller,
  }: {
    readonly maxItems?: number | undefined;
    /** Whether the service accepted something of the run in an earlier attempt. */
    readonly hasTaken: boolean;
    readonly onSmaller: (maxItems: number, error: ServiceError) => void;
  }) {
    this.maxItems = maxItems;
    this.taken = hasTaken ? 1 : 0;
    this.#onSmaller = onSmaller;
  }

  noteTaken(): void {
    this.taken++;
    this.#refusedInARow = 0;
    this.#isBlind = false;
    if (this.#shrunkBy) this.#onSmaller(this.maxItems, this.#shrunkBy);
    this.#shrunkBy = undefined;
  }

  /** @throws ImportError `failed` if too many items were refused for each to be invalid */
  noteRefusedAlone(error: ServiceError, { one, many }: { readonly one: string; readonly many: string }): void {
    this.#refusedInARow++;
    if (this.#refusedInARow < maxRefusedInARow) return;
    const problem = `the service refused ${maxRefusedInARow} ${many} in a row and accepted no ${one} in between`;
    const hint = "the rows are probably not the cause; check the account and the flags";
    throw new ImportError("failed", `${problem}: ${error.message}`, { hint, cause: error });
  }

  /** Halves the maximum size of calls after one that was too large or too slow. */
  shrink(items: number, error: ServiceError): void {
    const half = Math.max(1, Math.ceil(items / 2));
    if (half >= this.maxItems) return;
    this.maxItems = half;
    this.#shrunkBy = error;
  }

  /**
   * Whether an item may be considered invalid although the service has accepted nothing since: only if it accepted
   * something of this run before, and not twice in a row.
   */
  mayBlameBlindly(): boolean {
    const mayBlame = this.taken > 0 && !this.#isBlind;
    this.#isBlind = true;
    return mayBlame;
  }
}
