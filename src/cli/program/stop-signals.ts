import type { Io, SignalName } from "./io.ts";
import { exitStatus } from "./exit-status.ts";

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

export interface StopHandling {
  readonly onStop?: (name: SignalName) => void;
  /** Reports how to continue, before the process ends without waiting for the command. */
  readonly onExit?: () => Promise<void> | void;
  /** Whether the command may take as long as it needs after the first signal. */
  readonly isUnlimited?: boolean;
  /** The signals to handle (default: all). */
  readonly signals?: readonly SignalName[];
}

const names: readonly SignalName[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** How long after the first SIGTERM or SIGHUP a command is aborted, and the process ends. */
const abortAfterMs = 800;
const exitAfterMs = 1_500;

/** How long after a second signal the process ends. */
const lastExitAfterMs = 250;

/**
 * The first signal requests a stop, the second an immediate one; if the command does not end soon after, the process
 * does. Nobody can press a key after SIGTERM or SIGHUP, so these limit the time from the first signal on.
 */
export function listenForStop({ signals, exit }: Pick<Io, "signals" | "exit">, handling: StopHandling): StopSignals {
  const { onStop, onExit, isUnlimited = false, signals: handled = names } = handling;
  const [stop, abort] = [new AbortController(), new AbortController()];
  const leave = async () => {
    try {
      await onExit?.();
    } finally {
      exit(exitStatus.interrupted);
    }
  };
  // Not canceled by `release`: output that nobody reads can also keep the process from ending.
  const leaveAfter = (ms: number) => void setTimeout(() => void leave(), ms).unref();
  const onSignal = (name: SignalName) => {
    if (abort.signal.aborted) {
      void leave();
      return;
    }
    if (stop.signal.aborted) {
      abort.abort();
      leaveAfter(lastExitAfterMs);
      return;
    }
    stop.abort();
    onStop?.(name);
    if (name === "SIGINT" || isUnlimited) return;
    setTimeout(() => abort.abort(), abortAfterMs).unref();
    leaveAfter(exitAfterMs);
  };
  const listeners = handled.map((name) => [name, () => onSignal(name)] as const);
  const release = () => {
    for (const [name, listener] of listeners) signals.off(name, listener);
  };
  const listen = () => {
    for (const [name, listener] of listeners) signals.on(name, listener);
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
