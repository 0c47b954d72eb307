import { createPaceState, type PaceState } from "./pace-state.ts";

/** Where the state of a pace is kept, by one pacer or by several. */
export interface PaceStore {
  /** The state at the last look, perhaps not the newest. */
  readonly seen: PaceState;
  /** Whether others, of this process or another, may use it as well. */
  readonly isShared: boolean;
  /**
   * Reads and changes the state while nobody else does.
   * @throws the signal's reason when it is aborted before that
   */
  use<T>(change: (state: PaceState) => T, signal?: AbortSignal): Promise<T>;
  /** Changes the state at once where that is possible, and else before its next use by this process. */
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
