import { createHmac } from "node:crypto";
import { isSameSecret } from "./credentials.ts";
import type { RandomBytes } from "./handler.ts";

/** Source: Standard Webhooks: `whsec_` and the base64 of 24 bytes or more. */
const secretFormat = { prefix: "whsec_", bytes: 24 } as const;

export interface SignedMessage {
  readonly id: string;
  /** Unix time in seconds, as a string. */
  readonly timestamp: string;
  readonly body: string;
}

export function createWebhookSecret(random: RandomBytes): string {
  return `${secretFormat.prefix}${random(secretFormat.bytes).toString("base64")}`;
}

/** Returns a signature for the header `webhook-signature`. Source: Standard Webhooks. */
export function signMessage({ id, timestamp, body }: SignedMessage, secret: string): string {
  const key = Buffer.from(secret.slice(secretFormat.prefix.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}

/** Whether one of the space-separated signatures of a header is valid for the secret. */
export function isSignedWith(secret: string, message: SignedMessage, signatures: string): boolean {
  const expected = signMessage(message, secret);
  return signatures.split(" ", 16).some((signature) => isSameSecret(signature, expected));
}
