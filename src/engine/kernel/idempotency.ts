import { hash as digest } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { acceptsIdempotencyKey, type Endpoint, idempotencyKeys, ServiceError } from "../../contract/index.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import { createAccountWalk } from "./account-walk.ts";
import { type Account, accountIdOf, type HandlerContext, type Operation } from "./handler.ts";
import { findResults, storeResults } from "./stored-results.ts";

/** The idempotency key of a call, and its input, as hashes. */
export interface CallHashes {
  readonly keyHash: string;
  readonly inputHash: string;
}

/** A call with an idempotency key. Its input may have been prepared. */
export interface KeyedCall extends CallHashes {
  readonly input: unknown;
}

/**
 * Hashes a call. Large inputs take a while, so do this before the call takes the write lock.
 * @param call.input the input after validation
 * @param call.inputText the input as JSON, if it is at hand, or another text that identifies it
 * @param call.isPublic the call has no token of the account; with another input, its key is another one: a shopper who
 *   corrects a text between two tries must not be refused
 */
export function hashCall({
  endpoint,
  key,
  input,
  inputText,
  isPublic = false,
}: {
  readonly endpoint: Endpoint;
  readonly key: string;
  readonly input: unknown;
  readonly inputText?: string | undefined;
  readonly isPublic?: boolean;
}): CallHashes {
  const fields = input as Readonly<Record<string, unknown>>;
  // Its aliases count as the same path.
  const path = endpoint.paths[0].replaceAll(/\{(\w+)\}/g, (part, name: string) =>
    name in fields ? encodeURIComponent(String(fields[name])) : part,
  );
  const inputHash = hash(inputText ?? JSON.stringify(input));
  return { keyHash: hash(isPublic ? `${path}\n${key}\n${inputHash}` : `${path}\n${key}`), inputHash };
}

/** Whether the call of a key was carried out, and its result has not expired. */
export async function isRepeated({ keyHash }: CallHashes, context: HandlerContext): Promise<boolean> {
  return (await findResults(new Set([keyHash]), context)).size > 0;
}

/** Maximum number of expired results that a call deletes. */
const maxDeletedPerCall = 100;

/** Maximum number of expired results that a purge deletes in one transaction. */
export const maxDeletedPerPurge = 1_000;

/**
 * Returns the key that a call honors, if any.
 * Assumed: calls without a token of the account ignore a short key, since anyone could learn the result by guessing it.
 * @throws ServiceError `invalidIdempotencyKey` if the key is too long
 */
export function honoredKey(
  endpoint: Endpoint,
  account: Account | undefined,
  key: string | undefined,
): string | undefined {
  if (!key || !account || !acceptsIdempotencyKey(endpoint)) return undefined;
  const { maxLength, minPublicLength } = idempotencyKeys;
  const mayRepeat = endpoint.publicKind === "submissions" && key.length >= minPublicLength;
  if (isPublicCall(endpoint, account) && !mayRepeat) return undefined;
  if (key.length <= maxLength) return key;
  const message = `the idempotency key has ${key.length} characters; at most ${maxLength} are allowed`;
  throw new ServiceError("invalidIdempotencyKey", message);
}

/** Whether a call has no token of its account. */
export function isPublicCall({ auth }: Endpoint, account: Account | undefined): boolean {
  return auth === "account" && account?.isStore !== true;
}

export interface KeyedResult {
  readonly output: unknown;
  readonly isReplay: boolean;
}

/**
 * Runs calls of an operation, which have different keys, once per account, path, and key: stores their results in the same
 * transaction, and returns the stored results to repeats. If one fails, all fail. A call that fails stores nothing, so a
 * repeat runs it again. Calls with the same key never overlap, because writes run one after another.
 * @throws ServiceError `invalidIdempotencyKey` if a key belongs to a call with another input
 */
export async function runOnce(
  endpoint: Endpoint,
  calls: readonly KeyedCall[],
  { read, runMany }: Pick<Operation, "read" | "runMany">,
  context: HandlerContext,
): Promise<readonly KeyedResult[]> {
  const { transaction, dialect, nowMs } = context;
  const [stored, foundForAll] = await dialect.runAll([
    () => findResults(new Set(calls.map(({ keyHash }) => keyHash)), context),
    async () => read?.(inputsOf(calls), context),
  ]);
  const isOther = calls.some(({ keyHash, inputHash }) => (stored.get(keyHash)?.inputHash ?? inputHash) !== inputHash);
  if (isOther) throw anotherInput();
  const open = calls.filter(({ keyHash }) => !stored.has(keyHash));
  const outputs = new Map<string, unknown>();
  if (open.length > 0) {
    const found = open.length < calls.length ? await read?.(inputsOf(open), context) : foundForAll;
    const results = await runMany(inputsOf(open), context, found);
    for (const [at, { keyHash }] of open.entries()) outputs.set(keyHash, results[at]);
    const expiredAtMs = nowMs - idempotencyKeys.lifetimeMs;
    await deleteSomeExpired(transaction, dialect, { accountId: accountIdOf(context), expiredAtMs });
    await storeResults(
      open.map(({ keyHash, inputHash }, at) => ({ keyHash, inputHash, output: results[at] })),
      endpoint,
      context,
    );
  }
  return calls.map(({ keyHash }) => {
    const earlier = stored.get(keyHash);
    return earlier ? { output: earlier.read(), isReplay: true } : { output: outputs.get(keyHash), isReplay: false };
  });
}

const inputsOf = (calls: readonly KeyedCall[]) => calls.map(({ input }) => input);

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
