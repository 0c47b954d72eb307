import type { IncomingHttpHeaders } from "node:http";
import type { Effect, ServiceError } from "../contract/index.ts";
import type { CallOptions } from "./transport.ts";

/** An HTTP call, which need not be in the contract. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, relative to the address of the service. Starts with `/`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Decides whether the call may be retried. */
  readonly effect: Effect;
  /** Never shown, even if the response repeats it. */
  readonly utoken?: string | undefined;
}

/** A complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The error in the response, if the call was refused. */
  readonly refusal?: ServiceError | undefined;
}

/**
 * Sends a call unchanged, with the usual pacing and retries.
 * @throws ServiceError if there is no response
 */
export type SendRaw = (request: RawRequest, options?: CallOptions) => Promise<RawResponse>;

/** A call without credentials. */
export interface UnsignedCall {
  readonly method: string;
  /** Without the query. `{app_key}` and `{store_id}` are placeholders for the account. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Whether to add no credentials except the app key in the path. */
  readonly isAnonymous?: boolean | undefined;
}

/** A response, and the token that must not be shown. */
export interface SignedResponse extends RawResponse {
  readonly utoken: string | undefined;
}

/** Sends a call with the credentials of an account. */
export type SendSigned = (call: UnsignedCall, options?: CallOptions) => Promise<SignedResponse>;
