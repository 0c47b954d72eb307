import { createPublicKey, type KeyObject, verify } from "node:crypto";
import type * as z from "zod";
import {
  type contract,
  extensionPrefix,
  ServiceError,
  signatureToleranceMs,
  unauthorizedMessage,
} from "../../../contract/index.ts";
import { accountOf, type HandlerContext } from "../../kernel/handler.ts";
import { createWebhookSecret, isSignedWith } from "../../kernel/standard-webhooks.ts";

type Received = z.output<typeof contract.emailEvents.receive.input>;
type SetUp = z.output<typeof contract.emailEvents.setUp.input>;
type Told = z.output<typeof contract.emailEvents.setUp.output>;

/** Settings of the account that nobody is shown among the others. */
const names = { secret: "mail_events_secret", publicKey: "mail_events_public_key" } as const;

/**
 * Refuses events that neither the account's secret nor the provider's key has signed.
 * @throws ServiceError `unauthorized`
 * Source: Standard Webhooks; practice of mail providers: the signed event webhook of SendGrid.
 * Assumed: what the provider's own key has signed holds at any time, since its repeats come late, and an event that is
 * sent again is stored once.
 */
export async function requireSignature(received: Received, context: HandlerContext): Promise<void> {
  const kept = await readKeys(context);
  if (isSignedBySecret(received, kept.secret, context.nowMs)) return;
  if (isSignedByProvider(received, kept.publicKey)) return;
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
  const key = readPublicKey(publicKey);
  if (!key) return false;
  const signed = Buffer.from(timestamp + body, "utf8");
  return verify("sha256", signed, { key, dsaEncoding: "der" }, Buffer.from(signature, "base64"));
}

/** A key of the curve that the provider signs with; nothing where it is none. */
function readPublicKey(text: string): KeyObject | undefined {
  const base64 = text.replaceAll(/-----[A-Z ]+-----|\s/g, "");
  try {
    const key = createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Tells how events are signed, and changes it where asked; the secret is made when it is first asked for.
 * @throws ServiceError `invalidParams` where the key is none of the curve P-256
 */
export async function setUpEmailEvents(
  { rotate = false, public_key }: SetUp,
  context: HandlerContext,
): Promise<Told> {
  const kept = await readKeys(context);
  let { secret, publicKey } = kept;
  if (secret === undefined || rotate) {
    secret = createWebhookSecret(context.random);
    await keep(names.secret, context.sealer.seal(secret), context);
  }
  if (public_key !== undefined) {
    publicKey = checkPublicKey(public_key);
    await keep(names.publicKey, publicKey ?? null, context);
  }
  const url = `${context.publicUrl}${extensionPrefix}/apps/${accountOf(context).appKey}/mail_events`;
  return { url, secret, public_key: publicKey ?? null };
}

function checkPublicKey(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const key = readPublicKey(text);
  if (key) return key.export({ format: "der", type: "spki" }).toString("base64");
  throw new ServiceError(
    "invalidParams",
    "public_key is not a key of the curve P-256 (SPKI in base64, or PEM)",
  );
}

interface Keys {
  readonly secret: string | undefined;
  readonly publicKey: string | undefined;
}

async function readKeys(context: HandlerContext): Promise<Keys> {
  const rows = await context.transaction
    .selectFrom("account_settings")
    .select(["name", "value"])
    .where("account_id", "=", accountOf(context).id)
    .where("name", "in", Object.values(names))
    .execute();
  const kept = new Map(rows.map(({ name, value }) => [name, JSON.parse(value) as string]));
  const sealed = kept.get(names.secret);
  return {
    secret: sealed === undefined ? undefined : context.sealer.open(sealed),
    publicKey: kept.get(names.publicKey),
  };
}

/** Null takes it away. */
async function keep(name: string, value: string | null, context: HandlerContext): Promise<void> {
  const account_id = accountOf(context).id;
  if (value === null) {
    await context.transaction
      .deleteFrom("account_settings")
      .where("account_id", "=", account_id)
      .where("name", "=", name)
      .execute();
    return;
  }
  const row = { value: JSON.stringify(value), updated_at: context.nowMs };
  await context.transaction
    .insertInto("account_settings")
    .values({ account_id, name, ...row })
    .onConflict((conflict) => conflict.columns(["account_id", "name"]).doUpdateSet(row))
    .execute();
}
