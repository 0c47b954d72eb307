import { Kysely } from "kysely";
import { isMissingFile, parseDatabaseAddress } from "./address.ts";
import type { DialectFacts } from "./dialect.ts";
import { dialects, toStorageError } from "./dialects.ts";
import {
  findSchemaProblem,
  listPending,
  newestSchema,
  readSchemaVersion,
  type SchemaProblem,
} from "./schema/migrate.ts";
import { missingDatabase, type StorageProblem } from "./storage-error.ts";
import type { Tables } from "./tables.ts";

export interface DatabaseFacts extends DialectFacts {
  /** The version of the schema; null if the database has no starpost tables. */
  readonly schema: number | null;
  readonly newestSchema: number;
  readonly schemaProblem?: SchemaProblem | undefined;
  /** Versions and names of the migrations that the next use carries out. */
  readonly pendingMigrations: readonly string[];
  readonly tables: number;
  readonly accounts: number;
  /** The chosen account, or else the first one; null if it does not exist, or a server of a cluster cannot be reached. */
  readonly account: {
    readonly id: number;
    readonly appKey: string;
    readonly secretSealed: string;
    readonly validTokens: number;
  } | null;
  /** When the newest order of the account was stored, in milliseconds; null without orders, undefined if the tables are of an older version. */
  readonly newestOrderMs?: number | null | undefined;
  /** Emails that are held, by reason, if there are any; empty if the tables are of an older version. */
  readonly heldEmails: Readonly<Record<string, number>>;
  /** Whether the account has sent emails, but has no postal address for them. */
  readonly lacksPostalAddress?: boolean | undefined;
  /** What waits to be sent; undefined if the tables are of an older version. */
  readonly backlog?: Backlog | undefined;
  /** How deliveries have gone in the last 24 hours; undefined if the tables are of an older version. */
  readonly webhooks?: readonly WebhookFacts[] | undefined;
  /** The coupon codes that are issued to customers; undefined if the tables are of an older version. */
  readonly coupons?: readonly CouponFacts[] | undefined;
}

/** The failures of 24 hours are counted. */
const webhookPeriodMs = 86_400_000;

/** The codes issued in seven days are counted. */
const couponPeriodMs = 7 * 86_400_000;

interface Backlog {
  /** When the oldest email became due that is not sent yet, in milliseconds; null without one. */
  readonly emailDueAtMs: number | null;
  /** The same for webhooks. */
  readonly webhookDueAtMs: number | null;
}

/** The servers of a cluster that the coordinator cannot reach. */
export function listLostNodes({ cluster }: Pick<DialectFacts, "cluster">): readonly string[] {
  return (cluster?.nodes ?? []).flatMap(({ node, isReachable }) => (isReachable ? [] : [node]));
}

/** Why a database could not be inspected. */
export interface DatabaseFailure {
  readonly problem: StorageProblem | "bug";
  readonly message: string;
  /** What to do, if that does not follow from the problem. */
  readonly hint?: string | undefined;
}

export type DatabaseInspection = { readonly facts: DatabaseFacts } | { readonly failure: DatabaseFailure };

/**
 * Inspects an existing database, and changes nothing in it or next to it.
 * @param options.busyTimeoutMs how long to wait for a lock
 * @param options.appKey the account to inspect (default: the first one)
 */
export async function inspectDatabase(
  url: string,
  {
    clock,
    busyTimeoutMs,
    appKey,
  }: { readonly clock: () => number; readonly busyTimeoutMs: number; readonly appKey?: string | undefined },
): Promise<DatabaseInspection> {
  let shownAs = "the database";
  let db: Kysely<Tables> | undefined;
  try {
    const address = parseDatabaseAddress(url);
    shownAs = address.shownAs;
    if (isMissingFile(address)) throw missingDatabase(shownAs);
    const dialect = dialects[address.dialect];
    db = new Kysely<Tables>({
      dialect: await dialect.createDriver(address.location, {
        isReadOnly: true,
        busyTimeoutMs,
        poolWaitMs: busyTimeoutMs,
      }),
    });
    const untyped = db as unknown as Kysely<never>;
    // First, because it detects a file that is not a database.
    const tables = (await dialect.readTableNames(untyped)).length;
    const schema = (await readSchemaVersion(untyped, dialect)) ?? null;
    const facts = await dialect.readFacts(db, address.location, clock);
    // What follows reads the rows of all accounts, which are not all there if a server of a cluster is lost.
    const isWhole = listLostNodes(facts).length === 0;
    const isCurrent = schema === newestSchema && isWhole;
    const account = schema === null || !isWhole ? null : await readAccount(db, clock(), appKey);
    const heldEmails = isCurrent ? await countHeldEmails(db) : {};
    const backlog = isCurrent ? await readBacklog(db) : undefined;
    const webhooks = isCurrent ? await readWebhooks(db, clock() - webhookPeriodMs) : undefined;
    const coupons = isCurrent ? await readCoupons(db, clock() - couponPeriodMs) : undefined;
    const ofAccount = isCurrent && account ? await readAccountFacts(db, account.id) : {};
    const accounts = schema === null ? 0 : await countAccounts(db);
    const schemaProblem = schema === null ? undefined : findSchemaProblem(schema);
    const pendingMigrations = schemaProblem ? [] : listPending(schema ?? 0);
    const content = { tables, accounts, account, ...ofAccount, heldEmails, backlog, webhooks, coupons };
    return { facts: { ...facts, schema, newestSchema, schemaProblem, pendingMigrations, ...content } };
  } catch (error) {
    const known = toStorageError(error, shownAs);
    const failure = { problem: "bug" as const, message: `${shownAs}: ${(error as Error).message}` };
    return { failure: known ? { problem: known.problem, message: known.message, hint: known.hint } : failure };
  } finally {
    await db?.destroy().catch(() => {});
  }
}

async function countAccounts(db: Kysely<Tables>): Promise<number> {
  const { count } = await db
    .selectFrom("accounts")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

async function readAccount(
  db: Kysely<Tables>,
  nowMs: number,
  appKey: string | undefined,
): Promise<DatabaseFacts["account"]> {
  const accounts = db.selectFrom("accounts").select(["id", "app_key", "secret_sealed"]).orderBy("id").limit(1);
  const found = await (appKey === undefined ? accounts : accounts.where("app_key", "=", appKey)).executeTakeFirst();
  if (!found) return null;
  const { count } = await db
    .selectFrom("utokens")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("account_id", "=", found.id)
    .where("expires_at", ">", nowMs)
    .executeTakeFirstOrThrow();
  return { id: found.id, appKey: found.app_key, secretSealed: found.secret_sealed, validTokens: count };
}

async function readAccountFacts(
  db: Kysely<Tables>,
  accountId: number,
): Promise<Pick<DatabaseFacts, "newestOrderMs" | "lacksPostalAddress">> {
  return {
    newestOrderMs: await readNewestOrder(db, accountId),
    lacksPostalAddress: await sendsWithoutAddress(db, accountId),
  };
}

async function readNewestOrder(db: Kysely<Tables>, accountId: number): Promise<number | null> {
  const orders = db.selectFrom("orders").select("created_at").where("account_id", "=", accountId);
  return (await orders.orderBy("id", "desc").limit(1).executeTakeFirst())?.created_at ?? null;
}

async function sendsWithoutAddress(db: Kysely<Tables>, accountId: number): Promise<boolean> {
  const sent = db.selectFrom("mails").select("id").where("account_id", "=", accountId).where("state", "=", "sent");
  if (!(await sent.limit(1).executeTakeFirst())) return false;
  const stored = db.selectFrom("account_settings").select("value").where("account_id", "=", accountId);
  const brand = await stored.where("name", "=", "brand").executeTakeFirst();
  return !JSON.parse(JSON.parse(brand?.value ?? '"{}"') as string).postal_address;
}

async function countHeldEmails(db: Kysely<Tables>): Promise<DatabaseFacts["heldEmails"]> {
  const rows = await db
    .selectFrom("mails")
    .select(({ fn }) => ["reason", fn.countAll<number>().as("emails")])
    .where("state", "=", "queued")
    .where("held_at", "is not", null)
    .where("reason", "is not", null)
    .groupBy("reason")
    .execute();
  return Object.fromEntries(rows.map(({ reason, emails }) => [reason ?? "", emails]));
}

async function readBacklog(db: Kysely<Tables>): Promise<Backlog> {
  const active = db.selectFrom("accounts").select("id").where("disabled_at", "is", null);
  const oldest = (table: "mails" | "webhook_deliveries") =>
    db.selectFrom(table).select("due_at").where("state", "=", "queued").where("account_id", "in", active);
  const email = await oldest("mails").where("held_at", "is", null).orderBy("due_at").limit(1).executeTakeFirst();
  const webhook = await oldest("webhook_deliveries").orderBy("due_at").limit(1).executeTakeFirst();
  return { emailDueAtMs: email?.due_at ?? null, webhookDueAtMs: webhook?.due_at ?? null };
}

/** How deliveries to a webhook have gone recently. */
interface WebhookFacts {
  readonly url: string;
  readonly event: string;
  /** Failed attempts in the period. */
  readonly failures: number;
  /** When a delivery last succeeded, in milliseconds since 1970; null if none has. */
  readonly lastSuccessMs: number | null;
}

/** Reads the webhooks of all active accounts. */
async function readWebhooks(db: Kysely<Tables>, sinceMs: number): Promise<readonly WebhookFacts[]> {
  const rows = await db
    .selectFrom("webhooks")
    .innerJoin("accounts", "accounts.id", "webhooks.account_id")
    .where("accounts.disabled_at", "is", null)
    .select((query) => [
      "webhooks.url",
      "webhooks.event_name as event",
      query
        .selectFrom("webhook_deliveries as delivered")
        .select(({ fn }) => fn.max("delivered.delivered_at").as("at"))
        .whereRef("delivered.account_id", "=", "webhooks.account_id")
        .whereRef("delivered.webhook_row", "=", "webhooks.id")
        .as("last_success"),
      query
        .selectFrom("webhook_attempts as attempts")
        .innerJoin("webhook_deliveries as tried", (join) =>
          join.onRef("tried.account_id", "=", "attempts.account_id").onRef("tried.id", "=", "attempts.delivery_row"),
        )
        .select(({ fn }) => fn.countAll<number | bigint>().as("count"))
        .whereRef("attempts.account_id", "=", "webhooks.account_id")
        .whereRef("tried.account_id", "=", "webhooks.account_id")
        .whereRef("tried.webhook_row", "=", "webhooks.id")
        .where("attempts.problem", "is not", null)
        .where("attempts.started_at", ">", sinceMs)
        .as("failures"),
    ])
    .orderBy("webhooks.account_id")
    .orderBy("webhooks.id")
    .execute();
  return rows.map(({ url, event, failures, last_success }) => ({
    url,
    event,
    failures: Number(failures ?? 0),
    lastSuccessMs: last_success,
  }));
}

/** The coupon codes of an account for an action, of which some were issued. */
export interface CouponFacts {
  readonly appKey: string;
  readonly action: string;
  readonly left: number;
  /** Codes issued in the period. */
  readonly issuedLately: number;
}

async function readCoupons(db: Kysely<Tables>, sinceMs: number): Promise<readonly CouponFacts[]> {
  const rows = await db
    .selectFrom("coupons")
    .innerJoin("accounts", "accounts.id", "coupons.account_id")
    .where("accounts.disabled_at", "is", null)
    .select(({ fn, eb }) => [
      "accounts.app_key",
      "coupons.action",
      fn.countAll<number | bigint>().as("codes"),
      fn.count<number | bigint>("coupons.issued_at").as("issued"),
      fn.count<number | bigint>(eb.case().when("coupons.issued_at", ">", sinceMs).then(1).end()).as("lately"),
    ])
    .groupBy(["accounts.app_key", "coupons.action"])
    .orderBy("accounts.app_key")
    .orderBy("coupons.action")
    .execute();
  return rows.flatMap(({ app_key: appKey, action, codes, issued, lately }) => {
    const left = Number(codes) - Number(issued);
    return Number(issued) === 0 ? [] : [{ appKey, action, left, issuedLately: Number(lately) }];
  });
}
