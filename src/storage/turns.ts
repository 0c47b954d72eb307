/** After this time, another can take the turn, so that what waits for a lock of another process does not stop the others. */
const maxTurnMs = 250;

/** Lets a few use something at a time, in the order in which they asked. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a turn, and returns a function that ends it. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isOver = false;
    const end = () => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    };
    const timer = setTimeout(end, maxTurnMs).unref();
    return end;
  }
}
