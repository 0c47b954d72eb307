import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type * as z from "zod";
import {
  type contract,
  extensionPrefix,
  invalidField,
  ServiceError,
  signatureToleranceMs,
  unauthorizedMessage,
} from "../../../contract/index.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { readSettings, saveSetting } from "../../accounts/account-settings.ts";
import { createWebhookSecret, isSignedWith } from "../../kernel/standard-webhooks.ts";

type Received = z.output<typeof contract.emailEvents.receive.input>;
type SetUp = z.output<typeof contract.emailEvents.setUp.input>;
type SetUpResult = z.output<typeof contract.emailEvents.setUp.output>;

/** Account settings that are not listed with the others. */
const names = { secret: "mail_events_secret", publicKey: "mail_events_public_key" } as const;

/**
 * Checks that events are signed with the account's secret or the provider's key.
 * @throws ServiceError `unauthorized`
 * Source: Standard Webhooks; the signed event webhook of SendGrid.
 * Assumed: signatures by the provider's key do not expire, because the provider retries for a long time, and repeated
 * events are stored once.
 */
export async function requireSignature(received: Received, context: HandlerContext): Promise<void> {
  const { secret, publicKey } = await readKeys(context);
  if (isSignedBySecret(received, secret, context.nowMs)) return;
  if (isSignedByProvider(received, publicKey)) return;
  throw new ServiceError("unauthorized", unauthorizedMessage);
}

function isSignedBySecret(
  { body, webhook_id: id, webhook_timestamp: timestamp, webhook_signature: signatures }: Received,
  secret: string | undefined,
  nowMs: number,
): boolean {
  if (secret === undefined || !id || !timestamp || !signatures) return false;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > signatureToleranceMs) return false;
  return isSignedWith(secret, { id, timestamp, body }, signatures);
}

function isSignedByProvider(
  { body, provider_timestamp: timestamp, provider_signature: signature }: Received,
  publicKey: string | undefined,
): boolean {
  if (publicKey === undefined || !timestamp || !signature) return false;
  const key = parsePublicKey(publicKey);
  if (!key) return false;
  const signed = Buffer.from(timestamp + body, "utf8");
  return verify("sha256", signed, { key, dsaEncoding: "der" }, Buffer.from(signature, "base64"));
}

/** Parses a P-256 public key. Returns undefined if the text is anything else. */
function parsePublicKey(text: string): KeyObject | undefined {
  const base64 = text.replaceAll(/-----[A-Z ]+-----|\s/g, "");
  try {
    const key = createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Shows or changes how events are signed. Creates the secret on first use.
 * @throws ServiceError `invalidParams` if the key is not a P-256 key
 */
export async function setUpEmailEvents(
  { rotate = false, public_key }: SetUp,
  context: HandlerContext,
): Promise<SetUpResult> {
  let { secret, publicKey } = await readKeys(context);
  if (secret === undefined || rotate) {
    secret = createWebhookSecret(context.random);
    await save(names.secret, context.sealer.seal(secret), context);
  }
  if (public_key !== undefined) {
    publicKey = checkPublicKey(public_key);
    await save(names.publicKey, publicKey ?? null, context);
  }
  const url = `${context.publicUrl}${extensionPrefix}/apps/${accountOf(context).appKey}/mail_events`;
  return { url, secret, public_key: publicKey ?? null };
}

function checkPublicKey(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const key = parsePublicKey(text);
  if (key) return key.export({ format: "der", type: "spki" }).toString("base64");
  throw invalidField("public_key", "must be a P-256 public key (base64-encoded SPKI, or PEM)");
}

interface Keys {
  readonly secret: string | undefined;
  readonly publicKey: string | undefined;
}

async function readKeys(context: HandlerContext): Promise<Keys> {
  const stored = await readSettings(Object.values(names), context, accountOf(context).id);
  const { [names.secret]: sealed, [names.publicKey]: publicKey } = stored as Readonly<
    Record<string, string | undefined>
  >;
  return { secret: sealed === undefined ? undefined : context.sealer.open(sealed), publicKey };
}

/** Stores a setting; null deletes it. */
function save(name: (typeof names)[keyof typeof names], value: string | null, context: HandlerContext): Promise<void> {
  return saveSetting({ name, value }, context, accountOf(context).id);
}
