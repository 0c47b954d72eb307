import type { Io, SignalName } from "./io.ts";

/** Two wishes to stop, one more urgent than the other. */
export interface StopSignals {
  /** What is in flight is finished. */
  readonly stop: AbortSignal;
  /** Nothing is waited for. */
  readonly abort: AbortSignal;
  /** Leaves signals to others while they work, as a question does. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Signals act as they usually do again. */
  release(): void;
}

const names: readonly SignalName[] = ["SIGINT", "SIGTERM"];

/** The first signal asks to stop, the second to stop at once; a third ends the process as usual. */
export function listenForStop({ signals }: Pick<Io, "signals">, onStop: () => void): StopSignals {
  const [stop, abort] = [new AbortController(), new AbortController()];
  const release = () => {
    for (const name of names) signals.off(name, onSignal);
  };
  const onSignal = () => {
    if (stop.signal.aborted) {
      release();
      abort.abort();
      return;
    }
    stop.abort();
    onStop();
  };
  const listen = () => {
    for (const name of names) signals.on(name, onSignal);
  };
  const aside = async <T>(work: () => Promise<T>) => {
    release();
    try {
      return await work();
    } finally {
      listen();
    }
  };
  listen();
  return { stop: stop.signal, abort: abort.signal, aside, release };
}
