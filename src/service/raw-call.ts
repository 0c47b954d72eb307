import type { IncomingHttpHeaders } from "node:http";
import type { Effect, ServiceError } from "../contract/index.ts";
import type { CallOptions } from "./transport.ts";

/** A call as it goes over the wire, whether or not the contract has it. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, to be put behind the address of the service; begins with `/`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** What it does, which decides whether it may be repeated. */
  readonly effect: Effect;
  /** Sent along, and never shown, also where an answer repeats it. */
  readonly utoken?: string | undefined;
}

/** What came back, whole. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** What the answer says was wrong; nothing where the call was carried out. */
  readonly refusal?: ServiceError | undefined;
}

/**
 * Sends a call as it is, paced and repeated as others are.
 * @throws ServiceError where there was no answer
 */
export type SendRaw = (request: RawRequest, options?: CallOptions) => Promise<RawAnswer>;

/** A call before who is calling was put into it. */
export interface UnsignedCall {
  readonly method: string;
  /** Without the query; `{app_key}` and `{store_id}` stand for the account. */
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Nothing is put in but the account's key where the path has a place for it. */
  readonly isAnonymous?: boolean | undefined;
}

/** An answer, and what must not be shown of it. */
export interface SignedAnswer extends RawAnswer {
  readonly utoken: string | undefined;
}

/** Sends a call with the credentials of an account. */
export type SendSigned = (call: UnsignedCall, options?: CallOptions) => Promise<SignedAnswer>;
