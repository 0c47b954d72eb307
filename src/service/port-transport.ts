import type { MessagePort, Worker } from "node:worker_threads";
import { endpointOf, ServiceError, type ErrorKind, type OperationName, type RecordName } from "../contract/index.ts";
import type {
  Caller,
  CallEvent,
  CallOptions,
  EngineCapability,
  EngineOptions,
  InputOf,
  OutputOf,
  Transport,
} from "./transport.ts";

/** The other options are those of servers, which make no calls to another thread. */
const capability = { inputStage: true, inputText: true } as const satisfies EngineCapability;

/** A call to another thread. */
interface Request {
  readonly id: number;
  /** Undefined in the last request, which closes the transport. */
  readonly call?: {
    readonly operation: OperationName;
    /** As JSON, which is faster to transfer than objects, unless this thread has prepared it. */
    readonly input: unknown;
    readonly caller: Caller;
    readonly idempotencyKey: string | undefined;
    readonly engine: Pick<EngineOptions, keyof typeof capability>;
  };
}

/** An answer; a value is JSON, which is faster to transfer than objects, unless it has bytes. */
type Answer = { readonly id: number } & (
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "event"; readonly event: CallEvent }
  | { readonly type: "refusal"; readonly refusal: Refusal }
  | { readonly type: "fault"; readonly error: unknown }
);

/** The steps `prepare` of operations that can run in the caller's thread, for checked input. They return plain data. */
export type Preparations = Readonly<Partial<Record<OperationName, (input: never) => unknown>>>;

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

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onEvent: CallOptions["onEvent"];
}

/** Handles calls from a port with a transport of this thread, until the other side closes it. */
export function serveOverPort(port: MessagePort, transport: Transport): void {
  let answers: Answer[] = [];
  // Calls that share a commit are answered in one message, because messages are expensive.
  const answer = (message: Answer) => {
    if (answers.push(message) > 1) return;
    setImmediate(() => {
      port.postMessage(answers);
      answers = [];
    });
  };
  const carryOut = async ({ operation, input, caller, idempotencyKey, engine }: Call, onEvent: OnEvent) => {
    const json = typeof input === "string" ? input : undefined;
    const given: unknown = json === undefined ? input : JSON.parse(json);
    const { inputStage, inputText = json } = engine;
    const options = { idempotencyKey, engine: { inputStage, inputText }, onEvent };
    return transport.call(operation, given as never, caller, options);
  };
  const handle = ({ id, call }: Request) => {
    const onEvent = (event: CallEvent) => answer({ id, type: "event", event });
    const answered = call ? carryOut(call, onEvent) : transport.close();
    answered.then(
      (value: unknown) => {
        const isBytes = call && endpointOf(call.operation).reply.media === "bytes";
        answer({ id, type: "value", value: isBytes ? value : JSON.stringify(value) });
      },
      (error: unknown) => {
        if (error instanceof ServiceError) answer({ id, type: "refusal", refusal: describe(error) });
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
  readonly engine = capability;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  /** Requests of this turn, which are sent in one message. */
  #requests: Request[] = [];
  #ended: Error | undefined;
  #lastId = 0;
  readonly #preparations: Preparations;

  constructor(worker: Worker, preparations: Preparations = {}) {
    this.#worker = worker;
    this.#preparations = preparations;
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
    { idempotencyKey, engine: { inputStage, inputText } = {}, onEvent }: CallOptions = {},
  ): Promise<OutputOf<N>> {
    const prepare = inputStage === "checked" ? this.#preparations[operation] : undefined;
    const sent: unknown = prepare ? prepare(input as never) : JSON.stringify(input);
    const engine = { inputStage: prepare ? ("prepared" as const) : inputStage, inputText };
    const call = { operation, input: sent, caller, idempotencyKey, engine };
    return this.#ask(call, onEvent) as Promise<OutputOf<N>>;
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
    if (answer.type === "value")
      pending?.resolve(typeof answer.value === "string" ? JSON.parse(answer.value) : answer.value);
    else if (answer.type === "fault") pending?.reject(answer.error);
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
