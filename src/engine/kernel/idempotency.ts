import { hash as digest } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { acceptsIdempotencyKey, type Endpoint, idempotencyKeys, ServiceError } from "../../contract/index.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { createAccountWalk } from "./due-accounts.ts";
import { type Account, accountIdOf, type HandlerContext } from "./handler.ts";
import { findResults, type StoredResult, storeResults } from "./stored-results.ts";

/** A call with an idempotency key. */
export interface KeyedCall {
  readonly endpoint: Endpoint;
  readonly key: string;
  /** After validation. */
  readonly input: unknown;
  /** The input as JSON, if it is at hand, or another text that identifies it. */
  readonly inputText?: string | undefined;
}

/** Maximum number of expired results that a call deletes. */
const maxDeletedPerCall = 100;

/** Maximum number of expired results that a purge deletes in one transaction. */
export const maxDeletedPerPurge = 1_000;

/**
 * Returns the key that a call honors, if any.
 * Assumed: calls without a token of the account ignore the key, since anyone could learn the result by guessing it.
 * @throws ServiceError `invalidIdempotencyKey` if the key is too long
 */
export function honoredKey(
  endpoint: Endpoint,
  account: Account | undefined,
  key: string | undefined,
): string | undefined {
  const hasToken = endpoint.auth !== "account" || account?.isStore === true;
  if (!key || !account || !hasToken || !acceptsIdempotencyKey(endpoint)) return undefined;
  const { maxLength } = idempotencyKeys;
  if (key.length <= maxLength) return key;
  const message = `the idempotency key has ${key.length} characters; at most ${maxLength} are allowed`;
  throw new ServiceError("invalidIdempotencyKey", message);
}

/**
 * Runs a call once per account, path, and key: stores its result in the same transaction, and returns the stored result
 * to repeats. A call that fails stores nothing, so a repeat runs it again. Calls with the same key never overlap, because
 * writes run one after another.
 * @param preload reads what the call needs, while its key is looked up
 * @throws ServiceError `invalidIdempotencyKey` if the key belongs to a call with another input
 */
export async function runOnce(
  call: KeyedCall,
  context: HandlerContext,
  run: () => Promise<unknown>,
  preload?: () => Promise<void>,
): Promise<Result> {
  const [result] = await runAllOnce([call], context, async () => [await run()], preload);
  if (!result) throw new Error("a call has no result");
  return result;
}

interface Result<Output = unknown> {
  readonly output: Output;
  readonly isReplay: boolean;
}

/**
 * Like `runOnce`, for calls of one operation that are carried out together, and have different keys. If one fails, all
 * fail.
 * @param runAll carries out some of the calls; returns their results in the same order
 */
export async function runAllOnce<Call extends KeyedCall>(
  calls: readonly Call[],
  context: HandlerContext,
  runAll: (calls: readonly Call[]) => Promise<readonly unknown[]>,
  preload: () => Promise<void> = async () => {},
): Promise<readonly Result[]> {
  const { transaction, dialect, nowMs } = context;
  const hashed = calls.map((call) => ({ call, ...hashCall(call) }));
  let stored: ReadonlyMap<string, StoredResult> = new Map();
  await dialect.runAll([
    async () => {
      stored = await findResults(new Set(hashed.map(({ keyHash }) => keyHash)), context);
    },
    preload,
  ]);
  const isOther = hashed.some(({ keyHash, inputHash }) => (stored.get(keyHash)?.inputHash ?? inputHash) !== inputHash);
  if (isOther) throw anotherInput();
  const open = hashed.filter(({ keyHash }) => !stored.has(keyHash));
  const outputs = open.length === 0 ? [] : await runAll(open.map(({ call }) => call));
  const results = open.map(({ keyHash, inputHash }, at) => ({ keyHash, inputHash, output: outputs[at] }));
  const [first] = open;
  if (first) {
    const expiredAtMs = nowMs - idempotencyKeys.lifetimeMs;
    await deleteSomeExpired(transaction, dialect, { accountId: accountIdOf(context), expiredAtMs });
    await storeResults(results, first.call.endpoint, context);
  }
  const byKey = new Map(results.map(({ keyHash, output }) => [keyHash, output]));
  return hashed.map(({ keyHash }) => {
    const found = stored.get(keyHash);
    return found ? { output: found.read(), isReplay: true } : { output: byKey.get(keyHash), isReplay: false };
  });
}

const expiredCalls = (accountId: RawBuilder<unknown>, expiredAtMs: RawBuilder<unknown>, limit: number) => sql`
  delete from idempotent_calls where account_id = ${accountId} and id in (
    select id from idempotent_calls where account_id = ${accountId} and created_at <= ${expiredAtMs}
    order by created_at limit ${sql.lit(limit)})`;

const deleteSomeExpired = createDeferredStatement<{ accountId: number; expiredAtMs: number }>((slot) =>
  expiredCalls(slot("accountId"), slot("expiredAtMs"), maxDeletedPerCall),
);

const deleteExpired = createStatement<{ accountId: number; expiredAtMs: number }>((slot) =>
  expiredCalls(slot("accountId"), slot("expiredAtMs"), maxDeletedPerPurge),
);

/**
 * Deletes expired results of an account.
 * @returns their number; at most `maxDeletedPerPurge`
 */
export async function purgeIdempotentCalls(context: HandlerContext): Promise<number> {
  const { transaction, dialect, nowMs } = context;
  const expiredAtMs = nowMs - idempotencyKeys.lifetimeMs;
  return (await deleteExpired(transaction, dialect, { accountId: accountIdOf(context), expiredAtMs })).affectedRows;
}

/** Finds accounts with expired results. */
export const findAccountsToPurge = createAccountWalk(
  (accountId, nowMs) => sql`
    select 1 from idempotent_calls where idempotent_calls.account_id = ${accountId}
      and idempotent_calls.created_at <= cast(${nowMs} as bigint) - ${sql.lit(idempotencyKeys.lifetimeMs)}`,
);

interface CallHashes {
  readonly keyHash: string;
  readonly inputHash: string;
}

const hashes = new WeakMap<KeyedCall, CallHashes>();

/** Hashes a call once. Large inputs take a while, so do this before the call takes the write lock. */
export function hashCall(call: KeyedCall): CallHashes {
  const known = hashes.get(call);
  if (known) return known;
  const hashed = {
    keyHash: hash(`${pathOf(call)}\n${call.key}`),
    inputHash: hash(call.inputText ?? JSON.stringify(call.input)),
  };
  hashes.set(call, hashed);
  return hashed;
}

/** The path of a call; its aliases count as the same path. */
function pathOf({ endpoint, input }: KeyedCall): string {
  const fields = input as Readonly<Record<string, unknown>>;
  return endpoint.paths[0].replaceAll(/\{(\w+)\}/g, (part, name: string) =>
    name in fields ? encodeURIComponent(String(fields[name])) : part,
  );
}

function anotherInput(): ServiceError {
  return new ServiceError(
    "invalidIdempotencyKey",
    "the idempotency key belongs to an earlier call with another input",
    { hint: "use a new key for each call, and repeat a call unchanged" },
  );
}

function hash(text: string): string {
  return digest("sha256", text, "base64url");
}
