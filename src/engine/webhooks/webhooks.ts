import {
  type contract,
  invalidField,
  maxLength,
  maxWebhooks,
  recordNotFound,
  ServiceError,
} from "../../contract/index.ts";
import { selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { queueTestEvent } from "../kernel/outbox.ts";
import { iso } from "../kernel/times.ts";
import { readWebhookHealth } from "./health.ts";
import { createSampleData } from "./sample-events.ts";
import { explainRefusedUrl } from "./receiver-address.ts";
import { createWebhookSecret } from "../kernel/standard-webhooks.ts";
import { deletedReason, deleteWebhook } from "./outcomes.ts";
import { readWebhookOwner } from "./private-webhooks.ts";

const allowPrivateHint =
  "On the machine of the service, its operator can allow private addresses for an account with " +
  "`starpost account allow-private-webhooks`, or for its own account with `starpost webhooks configure --allow-private on`.";

const columns = ["id", "url", "event_name", "created_at"] as const;

export const webhookHandlers: Handlers<typeof contract.webhooks> = {
  /**
   * Creates a webhook.
   * @throws ServiceError `invalidParams`, also if the account has the maximum number of webhooks
   * Assumed: creating a webhook for the same URL and event again returns the existing one with the same secret, so that
   * repeated and concurrent calls do not break the receiver. To get a new secret, delete the webhook first.
   */
  create: async ({ url, event_name }, context) => {
    await checkUrl(url, context);
    const stored = await findWebhook(url, event_name, context);
    if (stored) {
      const { secret_sealed, ...row } = stored;
      return { webhook: { ...toWebhook(row), secret: context.sealer.open(secret_sealed) } };
    }
    await checkWebhookLimit(context);
    const secret = createWebhookSecret(context.random);
    const added = await context.transaction
      .insertInto("webhooks")
      .values({
        account_id: accountOf(context).id,
        url,
        event_name,
        secret_sealed: context.sealer.seal(secret),
        created_at: context.nowMs,
      })
      .returning(columns)
      .executeTakeFirstOrThrow();
    return { webhook: { ...toWebhook(added), secret } };
  },

  /** Assumed: webhooks are listed in order of creation. */
  list: async (_input, context) => {
    const found = await selectAccountRows("webhooks", accountOf(context).id, context.transaction)
      .select(columns)
      .orderBy("id")
      .execute();
    const healthOf = await readWebhookHealth(context);
    return { webhooks: found.map((row) => Object.assign(toWebhook(row), healthOf(row.id))) };
  },

  /** Assumed: without a webhook for the event, the call succeeds and sends nothing. */
  trigger: async ({ event_name }, context) => {
    const { id } = accountOf(context);
    const { app_key: appKey } = await context.transaction
      .selectFrom("accounts")
      .select("app_key")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    const data = createSampleData(event_name, { appKey, at: iso(context.nowMs) });
    return { deliveries: await queueTestEvent(event_name, data, id, context) };
  },

  /**
   * Assumed: queued deliveries are not sent.
   * @throws ServiceError `recordNotFound`
   */
  delete: async ({ webhook_id }, context) => {
    const owned = await selectAccountRows("webhooks", accountOf(context).id, context.transaction)
      .select("id")
      .where("id", "=", webhook_id)
      .executeTakeFirst();
    if (owned) {
      await deleteWebhook(webhook_id, deletedReason, context);
      return {};
    }
    throw recordNotFound("Webhook", "id", webhook_id);
  },
};

/** Stricter than the check of URLs that are only displayed. The length limit is in bytes because the URL is indexed. */
async function checkUrl(url: string, context: HandlerContext): Promise<void> {
  const { isPrivateAllowed } = await readWebhookOwner(accountOf(context).id, context);
  const refusal = explainRefusedUrl(url, isPrivateAllowed);
  if (refusal !== undefined) {
    throw new ServiceError("invalidParams", `url ${refusal}`, {
      field: "url",
      hint: explainRefusedUrl(url, true) === undefined ? allowPrivateHint : undefined,
    });
  }
  if (Buffer.byteLength(url) <= maxLength.url) return;
  throw invalidField("url", `is longer than ${maxLength.url} bytes`);
}

function findWebhook(url: string, event_name: string, context: HandlerContext) {
  return selectAccountRows("webhooks", accountOf(context).id, context.transaction)
    .select([...columns, "secret_sealed"])
    .where("event_name", "=", event_name)
    .where("url", "=", url)
    .executeTakeFirst();
}

async function checkWebhookLimit(context: HandlerContext): Promise<void> {
  const { count } = await selectAccountRows("webhooks", accountOf(context).id, context.transaction)
    .select(({ fn }) => fn.countAll<number | bigint>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) < maxWebhooks) return;
  throw new ServiceError("invalidParams", `the account already has the maximum of ${maxWebhooks} webhooks`);
}

interface WebhookRow {
  readonly id: number;
  readonly url: string;
  readonly event_name: string;
  readonly created_at: number;
}

function toWebhook({ id, url, event_name, created_at }: WebhookRow) {
  return { id, url, event_name, created_at: new Date(created_at).toISOString() };
}
