import { createHmac, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Harness, TestAccount } from "./backends.ts";

/** An event as an email provider posts it. */
export type Posted = Readonly<Record<string, unknown>>;

/** The input of `emailEvents.receive`. */
export interface Signed {
  readonly body: string;
  readonly webhook_id?: string;
  readonly webhook_timestamp?: string;
  readonly webhook_signature?: string;
  readonly provider_timestamp?: string;
  readonly provider_signature?: string;
}

/** Signs a body as specified by Standard Webhooks, independently of the implementation. */
export function signBySecret(body: string, secret: string, nowMs: number, id = "evt_1"): Signed {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { body, webhook_id: id, webhook_timestamp: timestamp, webhook_signature: `v1,${digest}` };
}

/** Creates a provider's key pair, with the public key in the format shown to customers. */
export function createProviderKey(curve = "P-256"): {
  readonly privateKey: KeyObject;
  readonly text: string;
} {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: curve });
  return { privateKey, text: publicKey.export({ format: "der", type: "spki" }).toString("base64") };
}

/** Signs a body as the provider does. */
export function signByProvider(body: string, privateKey: KeyObject, timestamp = "1600112502"): Signed {
  const signature = createSign("sha256")
    .update(timestamp + body)
    .sign(privateKey, "base64");
  return { body, provider_timestamp: timestamp, provider_signature: signature };
}

/** Posts events about the account's emails, signed with its secret. */
export async function postEvents(harness: Harness, { service }: TestAccount, events: readonly Posted[]) {
  const { secret } = await service.emailEvents.setUp({});
  return service.emailEvents.receive(signBySecret(JSON.stringify(events), secret, harness.clock()));
}
