import type { MessagePort, Worker } from "node:worker_threads";
import { ServiceError, type ErrorKind, type OperationName, type RecordName } from "../contract/index.ts";
import type { Caller, CallEvent, CallOptions, EngineOptions, InputOf, OutputOf, Transport } from "./transport.ts";

/** A call to another thread. */
interface Request {
  readonly id: number;
  /** Undefined in the last request, which closes the transport. */
  readonly call?: {
    readonly operation: OperationName;
    /** The input as JSON, which is faster to transfer than objects. Absent if there is a short form. */
    readonly input?: string;
    readonly short?: unknown;
    readonly caller: Caller;
    readonly idempotencyKey: string | undefined;
    readonly engine: Pick<EngineOptions, "isChecked" | "inputText">;
  };
}

/** An answer; a value is JSON, which is faster to transfer than objects. */
type Answer = { readonly id: number } & (
  | { readonly type: "value"; readonly value: string | undefined }
  | { readonly type: "event"; readonly event: CallEvent }
  | { readonly type: "refusal"; readonly refusal: Refusal }
  | { readonly type: "fault"; readonly error: unknown }
  /** The call was not carried out, because its short form does not say enough. */
  | { readonly type: "notEnough" }
);

/** Writes a shorter form of an operation's calls, for another thread. */
export interface ShortFormWriter {
  readonly operation: OperationName;
  /** Returns undefined if a call has no short form; then the calls that follow are not shortened, either. */
  write(input: unknown): unknown;
}

/** Reads the short forms in the order in which they were written. */
export interface ShortFormReader {
  read(form: unknown): unknown;
  /** Whether a call was not carried out because its short form does not say enough. All that follow must fail, too. */
  isNotEnough(error: unknown): boolean;
}

/** The data of a `ServiceError`, in a form that can be transferred. */
interface Refusal {
  readonly kind: ErrorKind;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  readonly outcomeUnknown: boolean;
  readonly hint: string | undefined;
  readonly field: string | undefined;
  readonly record: RecordName | undefined;
}

type Call = NonNullable<Request["call"]>;
type OnEvent = (event: CallEvent) => void;

/** The other thread needs the complete input of a call. */
class CompleteInputNeededError extends Error {}

/** Stands for the answer of a call that must be repeated with its complete input. */
const notEnough = Symbol("not enough");

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onEvent: CallOptions["onEvent"];
}

/** Handles calls from a port with a transport of this thread, until the other side closes it. */
export function serveOverPort(port: MessagePort, transport: Transport, shortForms: ShortFormReader): void {
  let answers: Answer[] = [];
  // Calls that share a commit are answered in one message, because messages are expensive.
  const answer = (message: Answer) => {
    if (answers.push(message) > 1) return;
    setImmediate(() => {
      port.postMessage(answers);
      answers = [];
    });
  };
  const carryOut = async (
    { operation, input: text, short, caller, idempotencyKey, engine }: Call,
    onEvent: OnEvent,
  ) => {
    const input: unknown = text === undefined ? shortForms.read(short) : JSON.parse(text);
    const options = { idempotencyKey, engine: { inputText: text, ...engine }, onEvent };
    return transport.call(operation, input as never, caller, options);
  };
  const handle = ({ id, call }: Request) => {
    const onEvent = (event: CallEvent) => answer({ id, type: "event", event });
    const answered = call ? carryOut(call, onEvent) : transport.close();
    answered.then(
      (value: unknown) => answer({ id, type: "value", value: JSON.stringify(value) }),
      (error: unknown) => {
        if (error instanceof ServiceError) answer({ id, type: "refusal", refusal: describe(error) });
        else if (shortForms.isNotEnough(error)) answer({ id, type: "notEnough" });
        else answer({ id, type: "fault", error });
      },
    );
  };
  port.on("message", (requests: readonly Request[]) => {
    for (const request of requests) handle(request);
  });
}

function describe(error: ServiceError): Refusal {
  const { kind, message, retryAfterMs, outcomeUnknown, hint, field, record } = error;
  return { kind, message, retryAfterMs, outcomeUnknown, hint, field, record };
}

/** Makes calls to a transport in another thread. Signals are ignored, because calls finish quickly. */
export class PortTransport implements Transport {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  /** Requests of this turn, which are sent in one message. */
  #requests: Request[] = [];
  #ended: Error | undefined;
  #lastId = 0;
  #shortForms: ShortFormWriter | undefined;
  /** The number of calls in the short form that are not answered. */
  #short = 0;
  /** Calls that wait until those in the short form have been repeated, so that they do not overtake them. */
  #waiting: (() => void)[] = [];

  constructor(worker: Worker, shortForms?: ShortFormWriter) {
    this.#worker = worker;
    this.#shortForms = shortForms;
    worker.on("message", (answers: readonly Answer[]) => {
      for (const answer of answers) this.#settle(answer);
    });
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => this.#fail(new Error("the thread of the service ended")));
  }

  async call<N extends OperationName>(
    operation: N,
    input: InputOf<N>,
    caller: Caller,
    { idempotencyKey, engine: { isChecked = false, inputText } = {}, onEvent }: CallOptions = {},
  ): Promise<OutputOf<N>> {
    const engine = inputText === undefined ? { isChecked } : { isChecked, inputText };
    const call = { operation, caller, idempotencyKey, engine };
    const short = isChecked && this.#shortForms?.operation === operation ? this.#shorten(input) : undefined;
    if (short !== undefined) {
      const answer = await this.#askShort({ ...call, short }, onEvent);
      if (answer !== notEnough) return answer as OutputOf<N>;
    } else if (this.#mustWait) await new Promise<void>((proceed) => this.#waiting.push(proceed));
    return this.#ask({ ...call, input: JSON.stringify(input) }, onEvent) as Promise<OutputOf<N>>;
  }

  /** Whether a complete call would overtake one that is repeated, or one that waits. */
  get #mustWait(): boolean {
    return !this.#shortForms && (this.#short > 0 || this.#waiting.length > 0);
  }

  #shorten(input: unknown): unknown {
    const short = this.#shortForms?.write(input);
    if (short === undefined) this.#shortForms = undefined;
    return short;
  }

  /** Returns `notEnough` if the call must be repeated with its complete input. */
  async #askShort(call: Call, onEvent: CallOptions["onEvent"]): Promise<unknown> {
    this.#short += 1;
    try {
      return await this.#ask(call, onEvent);
    } catch (error) {
      if (!(error instanceof CompleteInputNeededError)) throw error;
      this.#shortForms = undefined;
      return notEnough;
    } finally {
      this.#short -= 1;
      if (this.#short === 0) setImmediate(() => this.#proceed());
    }
  }

  #proceed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const proceed of waiting) proceed();
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    try {
      await this.#ask(undefined, undefined);
    } finally {
      this.#ended ??= new Error("the thread of the service was closed");
      await this.#worker.terminate();
    }
  }

  #ask(call: Request["call"], onEvent: CallOptions["onEvent"]): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onEvent });
      if (this.#requests.push(call ? { id, call } : { id }) === 1) queueMicrotask(() => this.#post());
    });
  }

  #post(): void {
    const requests = this.#requests;
    this.#requests = [];
    this.#worker.postMessage(requests);
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.id);
    if (answer.type === "event") {
      pending?.onEvent?.(answer.event);
      return;
    }
    this.#pending.delete(answer.id);
    if (answer.type === "value") pending?.resolve(answer.value === undefined ? undefined : JSON.parse(answer.value));
    else if (answer.type === "fault") pending?.reject(answer.error);
    else if (answer.type === "notEnough") pending?.reject(new CompleteInputNeededError());
    else {
      const { kind, message, ...options } = answer.refusal;
      pending?.reject(new ServiceError(kind, message, options));
    }
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
