import type { TraceEvent } from "../../../service/trace.ts";
import type { Redactor } from "../../../terminal/redactor.ts";

/** Formats what a connection does: `>` what is sent, `<` what is received, `*` everything else. */
export function formatTrace(event: TraceEvent): string {
  const { type } = event;
  if (type === "request") return `> ${event.method} ${event.target}`;
  if (type === "wait") return `* ${event.message}`;
  if (type === "call") return `* ${event.operation}: ${event.outcome} (${event.duration_ms} ms)`;
  const { method, path, duration_ms } = event;
  if (type === "failure") return `* ${method} ${path} failed after ${duration_ms} ms: ${event.message}`;
  const request = event.request_id === undefined ? "" : `, request ${event.request_id}`;
  return `< ${event.status} ${method} ${path} (${duration_ms} ms, ${event.bytes} bytes${request})`;
}

/** Hides addresses in paths, and personal data in queries by the names of the fields. */
export function redactTrace(event: TraceEvent, redactor: Redactor): TraceEvent {
  if (event.type === "request") return { ...event, target: redactTarget(event.target, redactor) };
  if (event.type === "response") return { ...event, path: redactor.text(event.path) };
  if (event.type === "failure") {
    return { ...event, path: redactor.text(event.path), message: redactor.text(event.message) };
  }
  return event;
}

function redactTarget(target: string, redactor: Redactor): string {
  const [path, query] = splitOnce(target);
  if (query === undefined) return redactor.text(path);
  const pairs = [...new URLSearchParams(query)];
  const record = Object.fromEntries(pairs);
  const shown = pairs.map(([name, value]) => {
    const hidden = redactor.data({ ...record, [name]: value })[name] ?? "";
    return `${encodeURIComponent(name)}=${hidden === "***" ? hidden : encodeURIComponent(hidden)}`;
  });
  return `${redactor.text(path)}?${shown.join("&")}`;
}

function splitOnce(target: string): readonly [string, string | undefined] {
  const at = target.indexOf("?");
  return at === -1 ? [target, undefined] : [target.slice(0, at), target.slice(at + 1)];
}

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

/** What the document of an error also contains. */
export interface Attachment extends Partial<TraceDocument> {
  readonly notices?: readonly { readonly message: string }[];
}

const byError = new WeakMap<object, Attachment>();

/** Adds the notices and traces of a command to the error that ended it. */
export function attach(error: unknown, attachment: Attachment): void {
  if (typeof error === "object" && error !== null) byError.set(error, attachment);
}

export function findAttachment(error: unknown): Attachment | undefined {
  return typeof error === "object" && error !== null ? byError.get(error) : undefined;
}
