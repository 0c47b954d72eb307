import type * as z from "zod";
import type { EndpointOf, Language, OperationName, PageStyle, Role } from "../contract/index.ts";

/** Who is calling. `appKey` identifies the account, `utoken` authenticates it. None of it is part of the input. */
export interface Caller {
  readonly appKey?: string | undefined;
  readonly utoken?: string | undefined;
  /** The person or job that changes data, for histories (default: the store). Ignored without a valid utoken. */
  readonly by?: string | undefined;
}

/** The input of a call as passed by the caller: flat, before validation. */
export type InputOf<N extends OperationName> = z.input<EndpointOf<N>["input"]>;
export type OutputOf<N extends OperationName> = z.output<EndpointOf<N>["output"]>;

/** What happens during a call, for progress, statistics, and response headers. */
export type CallEvent =
  /** A request is sent. The second and later attempts of a call are retries. */
  | { readonly type: "attempt"; readonly attempt: number }
  /** Nothing is sent for `ms` milliseconds. */
  | {
      readonly type: "wait";
      readonly reason: "pace" | "throttled" | "retry";
      readonly ms: number;
      readonly message: string;
      /** Whether the failed attempt may have been carried out nevertheless. */
      readonly mayBeDone?: boolean;
    }
  /** The service has found the account, and whether the token of the call, if it has one, is valid. A token may have a role. */
  | {
      readonly type: "account";
      readonly appKey: string;
      readonly hasToken: boolean;
      readonly role?: Role | undefined;
    }
  /** The service's rate limit: remaining requests, and when the window ends (Unix time in seconds). */
  | { readonly type: "limit"; readonly remaining: number; readonly resetAtSeconds: number }
  /** The service honored the idempotency key. If `isReplay`, the result is that of an earlier call. */
  | { readonly type: "idempotency"; readonly isReplay: boolean };

export interface PageOptions {
  /** The language that the reader prefers, if the page belongs to no email. */
  readonly preferred: Language | undefined;
  /** Called before the result. Not called if the account is unknown. */
  readonly onStyle: (style: PageStyle) => void;
}

/** What only an engine in the same process understands about a call. */
export interface EngineOptions {
  /**
   * How far the caller has taken the input: `checked` is the output of the contract's validation, `prepared` that of the
   * operation's step `prepare`. Neither is repeated.
   */
  readonly inputStage?: "checked" | "prepared" | undefined;
  /** The input as JSON, or another text that identifies it, to be compared with that of an earlier call with the same key. */
  readonly inputText?: string | undefined;
  /** The IP address of the client that a server makes the call for, for limits by address. Absent for calls of this process. */
  readonly clientAddress?: string | undefined;
  /**
   * Called with the version of the account, before a read whose response depends on nothing else. If it returns true, the
   * caller has the response: the call ends with `NotModified`.
   */
  readonly hasVersion?: ((version: number) => boolean) | undefined;
  /** For a response that is a page. */
  readonly page?: PageOptions | undefined;
  /** Runs work that takes long but does not occupy the thread of the event loop, so that other calls can run meanwhile. */
  readonly outside?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
}

/** What an engine decides about the requests of a server, before and after the calls. */
export interface CallGate {
  /** Refuses a client with too many failures. @throws ServiceError `tooManyRequests` */
  readonly checkFailures: (clientAddress: string) => Promise<void>;
  /** Counts a request against its client that the server has refused. @throws ServiceError `tooManyRequests` */
  readonly countRefusal: (clientAddress: string) => Promise<void>;
  /** Charges a client for a call without a valid token. @param cpuMs CPU time, in milliseconds */
  readonly charge: (clientAddress: string, cpuMs: number) => Promise<void>;
}

/** The options of `EngineOptions` that a transport honors. */
export type EngineCapability = Readonly<Partial<Record<keyof EngineOptions, true>>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
  /**
   * A key under which the call runs once in 24 hours: repeats return the first result. Ignored by operations that do not
   * honor keys, by calls without a token, and by services that do not know them.
   */
  readonly idempotencyKey?: string | undefined;
  /** Ignored by transports that do not declare these options. */
  readonly engine?: EngineOptions | undefined;
  /** Maximum number of attempts, if lower than the default of the transport. */
  readonly maxAttempts?: number | undefined;
}

/** A call ended early, because the caller has its response. */
export class NotModified extends Error {
  override readonly name = "NotModified";
}

/**
 * Carries a call to the engine, in this process or over HTTP.
 * @throws ServiceError if the call is refused or gets no response
 */
export interface Transport {
  /** Undefined for remote services. */
  readonly engine?: EngineCapability | undefined;
  /** Undefined for remote services. */
  readonly gate?: CallGate | undefined;
  call<N extends OperationName>(
    operation: N,
    input: InputOf<N>,
    caller: Caller,
    options?: CallOptions,
  ): Promise<OutputOf<N>>;
  close(): Promise<void>;
}

/** A transport that makes its calls through another one, and declares what that one does. */
export function wrapTransport(
  inner: Transport,
  call: Transport["call"],
  close: Transport["close"] = () => inner.close(),
): Transport {
  return { engine: inner.engine, gate: inner.gate, call, close };
}
