import { type contract, maxLength, maxWebhooks, ServiceError, recordNotFound } from "../../contract/index.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { explainRefusedUrl } from "./receiver-address.ts";
import { createWebhookSecret } from "../kernel/standard-webhooks.ts";
import { endSubscription } from "./delivery-end.ts";

const howToAllow =
  "addresses of the own network are allowed by `starpost webhooks configure --allow-private on`, where the service runs";

const columns = ["id", "url", "event_name", "created_at"] as const;

export const webhookHandlers: Handlers<typeof contract.webhooks> = {
  /**
   * Subscribes an address to an event.
   * @throws ServiceError `invalidParams` also when the account has as many subscriptions as it can
   * Assumed: the same address and event again are the same subscription with the same secret, so that a call that is
   * made again, or by two at once, breaks no receiver; a new secret takes a deletion.
   */
  create: async ({ url, event_name }, context) => {
    checkUrl(url, context);
    const stored = await findWebhook(url, event_name, context);
    if (stored) {
      const { secret_sealed, ...row } = stored;
      return { webhook: { ...toWebhook(row), secret: context.sealer.open(secret_sealed) } };
    }
    await checkRoom(context);
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

  /** Assumed: in the order of their creation. */
  list: async (_input, context) => {
    const found = await context.transaction
      .selectFrom("webhooks")
      .select(columns)
      .where("account_id", "=", accountOf(context).id)
      .orderBy("id")
      .execute();
    return { webhooks: found.map(toWebhook) };
  },

  /**
   * Assumed: what waits to be delivered is sent no more.
   * @throws ServiceError `recordNotFound`
   */
  delete: async ({ webhook_id }, context) => {
    const owned = await context.transaction
      .selectFrom("webhooks")
      .select("id")
      .where("id", "=", webhook_id)
      .where("account_id", "=", accountOf(context).id)
      .executeTakeFirst();
    if (owned) {
      await endSubscription(webhook_id, "its subscription was deleted", context);
      return {};
    }
    throw recordNotFound("Webhook", "id", webhook_id);
  },
};

/** Stricter than a URL that is only shown: it will be called. Bytes count, since an index holds them. */
function checkUrl(url: string, { allowsPrivateWebhooks = false }: HandlerContext): void {
  const refusal = explainRefusedUrl(url, allowsPrivateWebhooks);
  if (refusal !== undefined) {
    throw new ServiceError("invalidParams", `url ${refusal}`, {
      hint: explainRefusedUrl(url, true) === undefined ? howToAllow : undefined,
    });
  }
  if (Buffer.byteLength(url) <= maxLength.url) return;
  throw new ServiceError("invalidParams", `url is longer than ${maxLength.url} bytes`);
}

function findWebhook(url: string, event_name: string, context: HandlerContext) {
  return context.transaction
    .selectFrom("webhooks")
    .select([...columns, "secret_sealed"])
    .where("account_id", "=", accountOf(context).id)
    .where("event_name", "=", event_name)
    .where("url", "=", url)
    .executeTakeFirst();
}

async function checkRoom(context: HandlerContext): Promise<void> {
  const { held } = await context.transaction
    .selectFrom("webhooks")
    .select(({ fn }) => fn.countAll<number | bigint>().as("held"))
    .where("account_id", "=", accountOf(context).id)
    .executeTakeFirstOrThrow();
  if (Number(held) < maxWebhooks) return;
  throw new ServiceError("invalidParams", `the account has ${maxWebhooks} webhooks, which is the most`);
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
