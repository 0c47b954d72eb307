import type { TraceEvent } from "../../../service/trace.ts";

/** The traces of a command, for a document. */
export interface TraceDocument {
  readonly trace: readonly TraceEvent[];
  /** The number of earlier traces; present only if there are any. */
  readonly trace_omitted?: number;
}

/** Keeps this many traces, the latest. */
export const keptTraces = 1_000;

/**
 * The traces of a command whose standard error must hold one JSON document: they become part of the error, or a document of
 * their own after success.
 */
export class KeptTraces {
  #traces: TraceEvent[] = [];
  #omitted = 0;

  add(event: TraceEvent): void {
    this.#traces.push(event);
    // Rarely, because the others move.
    if (this.#traces.length < 2 * keptTraces) return;
    this.#traces = this.#traces.slice(-keptTraces);
    this.#omitted += keptTraces;
  }

  /** Removes and returns the traces, or undefined without any. */
  take(): TraceDocument | undefined {
    const trace = this.#traces.slice(-keptTraces);
    const omitted = this.#omitted + this.#traces.length - trace.length;
    [this.#traces, this.#omitted] = [[], 0];
    return trace.length === 0 ? undefined : { trace, ...(omitted > 0 && { trace_omitted: omitted }) };
  }
}

const byError = new WeakMap<object, TraceDocument>();

/** Adds the traces of a command to the error that ended it. */
export function addTraces(error: unknown, traces: TraceDocument | undefined): void {
  if (traces && typeof error === "object" && error !== null) byError.set(error, traces);
}

export function findTraces(error: unknown): TraceDocument | undefined {
  return typeof error === "object" && error !== null ? byError.get(error) : undefined;
}
