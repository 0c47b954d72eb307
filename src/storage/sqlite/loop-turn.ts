import { setImmediate as nextTurn } from "node:timers/promises";

/** How long statements may run before other events are handled, in milliseconds. */
const maxTurnMs = 20;

/** Interrupts sequences of statements that together take long, because SQLite runs them in the thread of the event loop. */
export class LoopTurn {
  #startedMs: number | undefined;

  async interruptIfLong(): Promise<void> {
    if (this.#startedMs === undefined) {
      this.#startedMs = performance.now();
      setImmediate(() => (this.#startedMs = undefined));
    } else if (performance.now() - this.#startedMs > maxTurnMs) await nextTurn();
  }
}
