import type { Io, SignalName } from "./io.ts";

export interface StopSignals {
  /** Stop after the requests in flight. */
  readonly stop: AbortSignal;
  /** Stop immediately. */
  readonly abort: AbortSignal;
  /** Does not listen while the work runs, so that a prompt can handle signals. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Stops listening. */
  release(): void;
}

const names: readonly SignalName[] = ["SIGINT", "SIGTERM"];

/** The first signal requests a stop, the second an immediate one; a third ends the process. */
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
