import {
  type contract,
  invalidField,
  maxLength,
  maxWebhooks,
  recordNotFound,
  ServiceError,
  type WebhookEvent,
} from "../../contract/index.ts";
import { findRow, findRows, sameAccount, selectAccountRows } from "../kernel/account-rows.ts";
import { accountOf, type HandlerContext, type Handlers } from "../kernel/handler.ts";
import { queueTestEvent } from "../kernel/outbox.ts";
import { iso } from "../kernel/times.ts";
import type { Row } from "../../storage/tables.ts";
import { explainRefusedUrl } from "./receiver-address.ts";
import { createWebhookSecret } from "../kernel/standard-webhooks.ts";
import { deletedReason, deleteWebhook } from "./outcomes.ts";
import { readWebhookOwner } from "./private-webhooks.ts";
import { dayMs } from "../../contract/time.ts";

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
    const found = await findRows("webhooks", columns, {}, context, "id");
    const healthOf = await readWebhookHealth(context);
    return { webhooks: found.map((row) => Object.assign(toWebhook(row), healthOf(row.id))) };
  },

  /** Assumed: without a webhook for the event, the call succeeds and sends nothing. */
  trigger: async ({ event_name }, context) => {
    const { id, appKey } = accountOf(context);
    const data = createSampleData(event_name, { appKey, at: iso(context.nowMs) });
    return { deliveries: await queueTestEvent(event_name, data, id, context) };
  },

  /**
   * Assumed: queued deliveries are not sent.
   * @throws ServiceError `recordNotFound`
   */
  delete: async ({ webhook_id }, context) => {
    const owned = await findRow("webhooks", ["id"], { id: webhook_id }, context);
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

function toWebhook({ created_at, ...row }: Pick<Row<"webhooks">, (typeof columns)[number]>) {
  return { ...row, created_at: iso(created_at) };
}

/** How deliveries to a webhook have gone. */
interface WebhookHealth {
  readonly last_success_at: string | null;
  /** Failed attempts in the last 24 hours. */
  readonly failures_24h: number;
  readonly next_attempt_at: string | null;
}

/** Reads the health of all webhooks of the account. */
async function readWebhookHealth(context: HandlerContext): Promise<(webhookId: number) => WebhookHealth> {
  const { transaction, nowMs } = context;
  const { id: accountId } = accountOf(context);
  // One index lookup per webhook for each of the times.
  const webhooks = await selectAccountRows("webhooks", accountId, transaction)
    .select((eb) => [
      "webhooks.id",
      eb
        .selectFrom("webhook_deliveries")
        .select(({ fn }) => fn.max<number | null>("delivered_at").as("delivered_at"))
        .where("webhook_deliveries.account_id", "=", accountId)
        .whereRef("webhook_deliveries.webhook_row", "=", "webhooks.id")
        .where("delivered_at", "is not", null)
        .as("delivered_at"),
      eb
        .selectFrom("webhook_deliveries")
        .select(({ fn }) => fn.min<number | null>("due_at").as("due_at"))
        .where("webhook_deliveries.account_id", "=", accountId)
        .where("webhook_deliveries.state", "=", "queued")
        .whereRef("webhook_deliveries.webhook_row", "=", "webhooks.id")
        .as("due_at"),
    ])
    .execute();
  const failed = await selectAccountRows("webhook_attempts", accountId, transaction)
    .innerJoin("webhook_deliveries", sameAccount("webhook_deliveries.id", "webhook_attempts.delivery_row"))
    .select(["webhook_deliveries.webhook_row", ({ fn }) => fn.countAll<number | bigint>().as("count")])
    .where("webhook_deliveries.account_id", "=", accountId)
    .where("webhook_attempts.problem", "is not", null)
    .where("webhook_attempts.started_at", ">", nowMs - dayMs)
    .groupBy("webhook_deliveries.webhook_row")
    .execute();
  const times = new Map(webhooks.map(({ id, ...found }) => [id, found]));
  const failures = new Map(failed.map(({ webhook_row, count }) => [webhook_row, Number(count)]));
  return (webhookId) => {
    const { delivered_at = null, due_at = null } = times.get(webhookId) ?? {};
    return {
      last_success_at: delivered_at === null ? null : iso(delivered_at),
      failures_24h: failures.get(webhookId) ?? 0,
      next_attempt_at: due_at === null ? null : iso(due_at),
    };
  };
}

interface Sample {
  readonly appKey: string;
  /** ISO 8601. */
  readonly at: string;
}

const person = { display_name: "Sam Example", email: "sam@mail.example" } as const;
const product = { product_id: "sample-product", product_title: "Sample product" } as const;

/** Data of an event that has not happened, with the fields of a real one. Nothing in it is stored. */
function createSampleData(event: WebhookEvent, { appKey, at }: Sample): Readonly<Record<string, unknown>> {
  if (event === "unsubscribed") {
    return { email: person.email, email_type_id: 1, email_type: "reviews", unsubscribed_by: "USER", created_at: at };
  }
  if (event === "question_asked" || event === "question_answered") {
    const question = { id: 0, content: "Is this a test?", ...product, ...person, created_at: at, app_key: appKey };
    if (event === "question_asked") return question;
    return { ...question, answer: { id: 0, content: "Yes.", by_store: true, created_at: at } };
  }
  return {
    id: 0,
    title: "Sample review",
    content: "This review is a test.",
    score: 5,
    user_type: "User",
    verified_buyer: false,
    votes_up: 0,
    votes_down: 0,
    created_at: at,
    updated_at: at,
    deleted: event === "review_hidden",
    archived: false,
    new: true,
    app_key: appKey,
    sku: product.product_id,
    product_title: product.product_title,
    product_url: "https://shop.example/sample-product",
    customer_name: person.display_name,
    customer_email: person.email,
    order_id: null,
    ...(event.startsWith("review_comment") && {
      comment: event === "review_comment_deleted" ? null : { content: "Thank you.", created_at: at },
    }),
  };
}
