import { createPaceState, type PaceState } from "./pace-state.ts";

/** Stores the state of one or more pacers. */
export interface PaceStore {
  /** The state as of the last use; may be outdated. */
  readonly seen: PaceState;
  /** Whether other pacers, of this process or another, may use it, too. */
  readonly isShared: boolean;
  /**
   * Reads and changes the state exclusively.
   * @throws the signal's reason if it is aborted first
   */
  use<T>(change: (state: PaceState) => T, signal?: AbortSignal): Promise<T>;
  /** Changes the state immediately if possible; otherwise, before its next use by this process. */
  changeSoon(change: (state: PaceState) => void): void;
}

export class MemoryPace implements PaceStore {
  readonly seen = createPaceState();
  readonly isShared: boolean;

  constructor({ isShared = false }: { readonly isShared?: boolean } = {}) {
    this.isShared = isShared;
  }

  async use<T>(change: (state: PaceState) => T): Promise<T> {
    return change(this.seen);
  }

  changeSoon(change: (state: PaceState) => void): void {
    change(this.seen);
  }
}
