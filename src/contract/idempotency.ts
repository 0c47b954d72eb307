import type { Endpoint } from "./endpoint.ts";
import { dayMs } from "./time.ts";

/** Names and limits of idempotency keys. Assumed (not in the specification): they work as in the Stripe API. */
export const idempotencyKeys = {
  /** The request header; responses of calls that honored the key repeat it. */
  header: "idempotency-key",
  /** The response header that marks the response of an earlier call. */
  replayHeader: "idempotent-replayed",
  maxLength: 255,
  lifetimeMs: dayMs,
} as const;

/**
 * Whether an operation honors idempotency keys if the call carries a token of the account: each POST that changes data,
 * except public ones that anyone can repeat without harm.
 */
export function acceptsIdempotencyKey({ method, effect, auth }: Endpoint): boolean {
  if (method !== "POST" || effect === "read" || auth === "open") return false;
  return auth !== "account" || effect === "once";
}
