import { createHash } from "node:crypto";
import { sql } from "kysely";
import { acceptsIdempotencyKey, type Endpoint, idempotencyKeys, ServiceError } from "../../contract/index.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import type { Account, HandlerContext } from "./handler.ts";
import { findResults, type StoredResult, storeResults } from "./stored-results.ts";

/** A call with an idempotency key. */
export interface KeyedCall {
  readonly endpoint: Endpoint;
  readonly key: string;
  /** After validation. */
  readonly input: unknown;
  /** The input as JSON, if it is at hand. */
  readonly inputText?: string | undefined;
}

/** Maximum number of expired results that a call deletes. */
const maxPurged = 100;

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
    await deleteExpired(transaction, dialect, { expiredAtMs: nowMs - idempotencyKeys.lifetimeMs });
    await storeResults(results, first.call.endpoint, context);
  }
  const byKey = new Map(results.map(({ keyHash, output }) => [keyHash, output]));
  return hashed.map(({ keyHash }) => {
    const found = stored.get(keyHash);
    return found ? { output: found.read(), isReplay: true } : { output: byKey.get(keyHash), isReplay: false };
  });
}

/** Deletes all expired results. */
export async function purgeIdempotentCalls({ transaction, nowMs }: HandlerContext): Promise<number> {
  const expiredAtMs = nowMs - idempotencyKeys.lifetimeMs;
  const { numDeletedRows } = await transaction
    .deleteFrom("idempotent_calls")
    .where("created_at", "<=", expiredAtMs)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Finds when the oldest result expires, in milliseconds. */
export async function findNextExpiry({ transaction }: HandlerContext): Promise<number | undefined> {
  const oldest = await transaction
    .selectFrom("idempotent_calls")
    .select("created_at")
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  return oldest && oldest.created_at + idempotencyKeys.lifetimeMs;
}

const deleteExpired = createDeferredStatement<{ expiredAtMs: number }>(
  (slot) => sql`delete from idempotent_calls where id in
    (select id from idempotent_calls where created_at <= ${slot("expiredAtMs")} order by created_at
      limit ${sql.lit(maxPurged)})`,
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
  return createHash("sha256").update(text).digest("base64url");
}
