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

/** Whether an operation honors idempotency keys: each POST that changes data and may carry a token of the account. */
export function acceptsIdempotencyKey({ method, effect, auth, acceptsUtoken = false }: Endpoint): boolean {
  return method === "POST" && effect !== "read" && (auth === "utoken" || auth === "core" || acceptsUtoken);
}
