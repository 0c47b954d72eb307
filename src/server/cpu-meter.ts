/** The time in which the event loop of this thread had work, in milliseconds. */
const readBusyTime = () => performance.eventLoopUtilization().active;

/** Measures the CPU time of calls: those that run at the same time share the time of the thread. */
export class CpuMeter {
  readonly #readCpu: () => number;
  #running = 0;
  #measuredMs = 0;
  /** The time that a call would have taken which had always run. */
  #shareMs = 0;

  /** @param readCpu returns the CPU time of the thread, in milliseconds */
  constructor(readCpu: () => number = readBusyTime) {
    this.#readCpu = readCpu;
  }

  /** Starts to measure a call. @returns a function that stops it and returns its CPU time, in milliseconds */
  start(): () => number {
    this.#measure();
    this.#running += 1;
    const startedMs = this.#shareMs;
    return () => {
      this.#measure();
      this.#running -= 1;
      return this.#shareMs - startedMs;
    };
  }

  #measure(): void {
    const nowMs = this.#readCpu();
    if (this.#running > 0) this.#shareMs += (nowMs - this.#measuredMs) / this.#running;
    this.#measuredMs = nowMs;
  }
}
