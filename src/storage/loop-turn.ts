/**
 * How long work may take before other events are handled, in milliseconds: a fraction of the 20 ms of a slice, because the
 * last statement or element of a slice may take longer.
 */
const maxTurnMs = 5;

/** When the work of this turn of the event loop started. Undefined before it starts. */
let startedMs: number | undefined;

const waiting: (() => void)[] = [];

/**
 * Called between pieces of work in the thread of the event loop, such as statements of SQLite or elements of a bulk call. If
 * they have taken long together, returns a promise to await, so that other events are handled first. Of all work that
 * waits, one piece continues per turn, in the order of waiting.
 */
export function letOthersRun(): Promise<void> | undefined {
  if (startedMs === undefined) startTurn();
  else if (performance.now() - startedMs >= maxTurnMs) return new Promise((resolve) => waiting.push(resolve));
  return undefined;
}

function startTurn(): void {
  startedMs = performance.now();
  setImmediate(() => {
    startedMs = undefined;
    const resume = waiting.shift();
    if (!resume) return;
    startTurn();
    resume();
  });
}

/** Runs work that takes long, and lets others run where it yields. @returns what it returns */
export async function runInSlices<R>(work: Generator<undefined, R>): Promise<R> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    const others = letOthersRun();
    if (others) await others;
  }
}
