import { sql } from "kysely";
import { recordNotFound } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { deleteAccountRows, selectAccountRows, updateAccountRows } from "../kernel/account-rows.ts";
import { createKey, hashToken } from "../kernel/credentials.ts";
import { noteDue } from "../kernel/due-times.ts";
import type { EngineWork, HandlerContext } from "../kernel/handler.ts";
import { saveSetting } from "./account-settings.ts";
import { type AccountKeys, createAccount } from "./first-account.ts";
import { readAccountSettings } from "./platform.ts";

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/** `deleting`: a deletion was interrupted; it can only be continued. */
export type AccountState = "active" | "disabled" | "deleting";

/** An account, as its operator sees it. Times are in milliseconds. */
export interface AccountSummary {
  readonly appKey: string;
  readonly state: AccountState;
  /** The store's name, or else the owner's. */
  readonly name: string | null;
  /** The owner's address. An account that was not created through the API has none. */
  readonly email: string | null;
  readonly createdAtMs: number;
  readonly disabledAtMs: number | null;
  readonly secretChangedAtMs: number | null;
}

/** Records that are counted for the operator: the table of each. */
const countedTables = {
  products: "products",
  orders: "orders",
  reviews: "reviews",
  questions: "questions",
  coupons: "coupons",
  unsubscribers: "unsubscribers",
  emails: "mails",
  webhooks: "webhooks",
} as const;

export type RecordCounts = Readonly<Record<keyof typeof countedTables, number>>;

export interface AccountDetails extends AccountSummary {
  /** The number of valid tokens. */
  readonly tokens: number;
  /** The number of secrets whose tokens have a role. */
  readonly credentials: number;
  readonly records: RecordCounts;
  readonly settings: Awaited<ReturnType<typeof readAccountSettings>>["settings"];
}

type AccountRow = Omit<Row<"accounts">, "secret_sealed">;

const accountColumns = [
  "id",
  "app_key",
  "created_at",
  "disabled_at",
  "deletion_began_at",
  "secret_changed_at",
] as const satisfies readonly (keyof AccountRow)[];

/** Accounts per page. */
const pageSize = 1_000;

/** Lists accounts, oldest first, beginning after an account. @returns undefined if there are no more */
export async function listAccounts(
  context: Pick<HandlerContext, "transaction" | "dialect">,
  after = 0,
): Promise<{ readonly accounts: readonly AccountSummary[]; readonly last: number } | undefined> {
  const page = context.transaction.selectFrom("accounts").select(accountColumns).where("id", ">", after).orderBy("id");
  const rows = await page.limit(pageSize).execute();
  const last = rows.at(-1)?.id;
  return last === undefined ? undefined : { accounts: await summarize(rows, context), last };
}

/** Selects columns of rows of several accounts. Citus cannot join these with the accounts, which every node has. */
const createSelection = <R>(table: "account_settings" | "users", columns: string, condition: string) =>
  createStatement<{ rows: string }, R & { readonly account_id: number }>(
    (slot, dialect) => sql`
      select account_id, ${sql.raw(columns)} from ${sql.table(table)}
      where ${sql.raw(condition)}
        and account_id in (select batch.account_id from ${batchOf({ account_id: "integer" }, slot("rows"), dialect)})`,
  );

const selectNames = createSelection<{ readonly value: string }>("account_settings", "value", "name = 'store_name'");
const selectOwners = createSelection<Pick<Row<"users">, "id" | "display_name" | "email">>(
  "users",
  "id, display_name, email",
  "kind = 'owner'",
);

async function summarize(
  accounts: readonly AccountRow[],
  { transaction, dialect }: Pick<HandlerContext, "transaction" | "dialect">,
): Promise<AccountSummary[]> {
  const rows = JSON.stringify(accounts.map(({ id }) => [id]));
  const { rows: names } = await selectNames(transaction, dialect, { rows });
  const { rows: owners } = await selectOwners(transaction, dialect, { rows });
  owners.sort((a, b) => b.id - a.id);
  const nameOf = new Map(names.map(({ account_id, value }) => [account_id, JSON.parse(value) as string]));
  // The first owner, which is the last of these.
  const ownerOf = new Map(owners.map((owner) => [owner.account_id, owner]));
  return accounts.map((row) => ({
    appKey: row.app_key,
    state: row.deletion_began_at !== null ? "deleting" : row.disabled_at === null ? "active" : "disabled",
    name: nameOf.get(row.id) ?? ownerOf.get(row.id)?.display_name ?? null,
    email: ownerOf.get(row.id)?.email ?? null,
    createdAtMs: row.created_at,
    disabledAtMs: row.disabled_at,
    secretChangedAtMs: row.secret_changed_at,
  }));
}

/** @throws ServiceError `recordNotFound` */
export async function describeAccount(appKey: string, context: HandlerContext): Promise<AccountDetails> {
  const { transaction, nowMs } = context;
  const row = await transaction
    .selectFrom("accounts")
    .select(accountColumns)
    .where("app_key", "=", appKey)
    .executeTakeFirst();
  const [summary] = row ? await summarize([row], context) : [];
  if (!row || !summary) throw recordNotFound("Account", "app_key", appKey);
  const { id } = row;
  const { tokens } = await selectAccountRows("utokens", id, transaction)
    .select(({ fn }) => fn.countAll<number>().as("tokens"))
    .where("expires_at", ">", nowMs)
    .executeTakeFirstOrThrow();
  const { credentials } = await selectAccountRows("credentials", id, transaction)
    .select(({ fn }) => fn.countAll<number>().as("credentials"))
    .executeTakeFirstOrThrow();
  const counts: Record<string, number> = {};
  for (const [name, table] of Object.entries(countedTables)) {
    const { count } = await transaction
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("account_id", "=", id)
      .executeTakeFirstOrThrow();
    counts[name] = count;
  }
  const { settings } = await readAccountSettings(context, id);
  return { ...summary, tokens, credentials, records: counts as RecordCounts, settings };
}

/** @throws ServiceError `recordNotFound` */
export async function findAccountId(appKey: string, { transaction }: Pick<Context, "transaction">): Promise<number> {
  const found = await transaction.selectFrom("accounts").select("id").where("app_key", "=", appKey).executeTakeFirst();
  if (!found) throw recordNotFound("Account", "app_key", appKey);
  return found.id;
}

/** Creates an account without an owner. */
export async function addAccount(name: string | undefined, context: HandlerContext): Promise<AccountKeys> {
  const { transaction, nowMs } = context;
  const { id, ...keys } = await createAccount(transaction, context);
  if (name !== undefined) await saveSetting({ name: "store_name", value: name }, { transaction, nowMs }, id);
  return keys;
}

/** Emails per transaction. */
const batchSize = 1_000;

/**
 * Refuses all calls of an account, and holds its queued emails and webhooks. Repeating it has no effect.
 * @throws ServiceError `recordNotFound`
 */
export async function disableAccount(appKey: string, { read, write }: EngineWork): Promise<void> {
  const id = await read((context) => findAccountId(appKey, context));
  await write(id, async ({ transaction, nowMs }) => {
    await transaction
      .updateTable("accounts")
      .set({ disabled_at: nowMs })
      .where("id", "=", id)
      .where("disabled_at", "is", null)
      .execute();
  });
  // Workers skip queued emails of disabled accounts, too, but would read them in every round.
  await moveEmails(id, { from: "queued", to: "held" }, write);
}

/**
 * Undoes `disableAccount`. Repeating it has no effect.
 * @returns false if the account is being deleted
 * @throws ServiceError `recordNotFound`
 */
export async function enableAccount(appKey: string, { read, write }: EngineWork): Promise<boolean> {
  const id = await read((context) => findAccountId(appKey, context));
  await moveEmails(id, { from: "held", to: "queued" }, write);
  return write(id, async (context) => {
    const { numUpdatedRows } = await context.transaction
      .updateTable("accounts")
      .set({ disabled_at: null })
      .where("id", "=", id)
      .where("deletion_began_at", "is", null)
      .executeTakeFirst();
    await noteDue("emails_due_at", id, context);
    await noteDue("deliveries_due_at", id, context);
    return numUpdatedRows > 0n;
  });
}

async function moveEmails(
  accountId: number,
  { from, to }: { readonly from: string; readonly to: string },
  write: EngineWork["write"],
): Promise<void> {
  const moveBatch = async ({ transaction }: HandlerContext) => {
    const next = selectAccountRows("mails", accountId, transaction)
      .select("id")
      .where("state", "=", from)
      .limit(batchSize);
    const { numUpdatedRows } = await updateAccountRows("mails", accountId, transaction)
      .set({ state: to })
      .where("id", "in", next)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  };
  while ((await write(accountId, moveBatch)) === batchSize);
}

/**
 * Replaces the secret of an account. The old one, all tokens, signatures, and sign-in links become invalid. Credentials stay:
 * other people have their secrets.
 * @throws ServiceError `recordNotFound`
 */
export async function rotateSecret(
  appKey: string,
  { transaction, nowMs, random, sealer }: HandlerContext,
): Promise<string> {
  const id = await findAccountId(appKey, { transaction });
  const secret = createKey(random);
  await transaction
    .updateTable("accounts")
    .set({ secret_sealed: sealer.seal(secret), secret_changed_at: nowMs })
    .where("id", "=", id)
    .execute();
  await deleteAccountRows("utokens", id, transaction).execute();
  return secret;
}

/**
 * Revokes all tokens of an account, or one.
 * @returns the number of revoked tokens
 * @throws ServiceError `recordNotFound`
 */
export async function revokeTokens(
  appKey: string,
  token: string | undefined,
  { transaction }: Pick<Context, "transaction">,
): Promise<number> {
  const id = await findAccountId(appKey, { transaction });
  const all = deleteAccountRows("utokens", id, transaction);
  const chosen = token === undefined ? all : all.where("token_hash", "=", hashToken(token));
  return Number((await chosen.executeTakeFirst()).numDeletedRows);
}
