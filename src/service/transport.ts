import type * as z from "zod";
import type { EndpointOf, OperationName } from "../contract/index.ts";

/** Who is calling. `appKey` names the account, `utoken` proves it; neither is part of a call's input. */
export interface Caller {
  readonly appKey?: string | undefined;
  readonly utoken?: string | undefined;
}

/** A call's input as a caller gives it: flat, before the contract's shapes are applied. */
export type InputOf<N extends OperationName> = z.input<EndpointOf<N>["input"]>;
export type OutputOf<N extends OperationName> = z.output<EndpointOf<N>["output"]>;

/** What happens on the way of one call, for progress, books and reply headers. */
export type CallEvent =
  /** A request leaves; the second and later ones of a call are retries. */
  | { readonly type: "attempt"; readonly attempt: number }
  /** Nothing is sent for `ms` milliseconds, and why. */
  | {
      readonly type: "wait";
      readonly reason: "pace" | "throttled" | "retry";
      readonly ms: number;
      readonly message: string;
    }
  /** The service's own limit: requests left in its window, and when that ends (Unix seconds). */
  | { readonly type: "limit"; readonly remaining: number; readonly resetAtSeconds: number };

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
  /**
   * The contract's shapes were applied to every element of the input in this process, and what is sent is what they
   * gave: an engine in this process need not apply them again. Means nothing to a service elsewhere.
   */
  readonly isChecked?: boolean | undefined;
  /** Tries of this call at most, the first included, where what carries it would make more. */
  readonly maxAttempts?: number | undefined;
}

/**
 * The one seam: carries a call to whatever answers it, here or elsewhere.
 * @throws ServiceError when the call is refused or not answered
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
