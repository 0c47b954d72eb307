import type { ServiceError } from "../../contract/index.ts";
import { ImportError } from "../import-error.ts";

/** Items refused one by one, with none taken between, after which it is not the items that are at fault. */
const maxRefusedInARow = 50;

/** What a run learns of the service from its calls: shared by all that are under way. */
export class CallHistory {
  readonly #onSmaller: (maxItems: number, error: ServiceError) => void;
  #taken: number;
  #refusedInARow = 0;
  #shrunkBy: ServiceError | undefined;
  #isBlind = false;
  /** The most items that one call is to carry. */
  #maxItems: number;

  /** @param onSmaller told once it is known that a smaller call goes through where a larger one did not */
  constructor({
    maxItems = Number.POSITIVE_INFINITY,
    hasTaken,
    onSmaller,
  }: {
    readonly maxItems?: number | undefined;
    /** Whether the service took something of the run before. */
    readonly hasTaken: boolean;
    readonly onSmaller: (maxItems: number, error: ServiceError) => void;
  }) {
    this.#maxItems = maxItems;
    this.#taken = hasTaken ? 1 : 0;
    this.#onSmaller = onSmaller;
  }

  /** Calls that the service has carried out; grows with each. */
  get taken(): number {
    return this.#taken;
  }

  get maxItems(): number {
    return this.#maxItems;
  }

  noteTaken(): void {
    this.#taken++;
    this.#refusedInARow = 0;
    this.#isBlind = false;
    if (this.#shrunkBy) this.#onSmaller(this.#maxItems, this.#shrunkBy);
    this.#shrunkBy = undefined;
  }

  /** @throws ImportError `failed` when too many were refused for it to be their own fault */
  noteRefusedAlone(
    error: ServiceError,
    { one, many }: { readonly one: string; readonly many: string },
  ): void {
    this.#refusedInARow++;
    if (this.#refusedInARow < maxRefusedInARow) return;
    throw new ImportError(
      "failed",
      `the service refused ${maxRefusedInARow} ${many} one by one, and took no ${one} between them: ${error.message}`,
      {
        hint: "it is hardly the rows: see whether the account and the flags are the right ones",
        cause: error,
      },
    );
  }

  /** A call of so many items is too large, or takes too long: from here on calls hold half as many, at most. */
  shrink(items: number, error: ServiceError): void {
    const half = Math.max(1, Math.ceil(items / 2));
    if (half >= this.#maxItems) return;
    this.#maxItems = half;
    this.#shrunkBy = error;
  }

  /**
   * Whether an item may be held to be at fault although nothing was taken since: only where the service took something
   * of this run, and not twice without its taking something between.
   */
  mayBlameBlindly(): boolean {
    const mayBlame = this.#taken > 0 && !this.#isBlind;
    this.#isBlind = true;
    return mayBlame;
  }
}
