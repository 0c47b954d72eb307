import type * as z from "zod";
import type { EndpointOf, OperationName } from "../contract/index.ts";

/** Who is calling. `appKey` identifies the account, `utoken` authenticates it. Neither is part of the input. */
export interface Caller {
  readonly appKey?: string | undefined;
  readonly utoken?: string | undefined;
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
    }
  /** The service's rate limit: remaining requests, and when the window ends (Unix time in seconds). */
  | { readonly type: "limit"; readonly remaining: number; readonly resetAtSeconds: number };

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
  /**
   * Whether the input is the output of the contract's validation, so that an engine in the same process need not repeat
   * it. Ignored by remote services.
   */
  readonly isChecked?: boolean | undefined;
  /** Maximum number of attempts, if lower than the default of the transport. */
  readonly maxAttempts?: number | undefined;
}

/**
 * Carries a call to the engine, in this process or over HTTP.
 * @throws ServiceError if the call is refused or gets no response
 */
export interface Transport {
  call<N extends OperationName>(
    operation: N,
    input: InputOf<N>,
    caller: Caller,
    options?: CallOptions,
  ): Promise<OutputOf<N>>;
  close(): Promise<void>;
}
