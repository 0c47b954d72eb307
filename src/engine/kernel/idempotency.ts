import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sql } from "kysely";
import { acceptsIdempotencyKey, type Endpoint, idempotencyKeys, ServiceError } from "../../contract/index.ts";
import { batchOf, type BatchColumns } from "../../storage/batch.ts";
import { createStatement } from "../../storage/statement.ts";
import { type Account, accountOf, type HandlerContext } from "./handler.ts";

/** A call with an idempotency key. */
export interface KeyedCall {
  readonly endpoint: Endpoint;
  readonly key: string;
  /** After validation. */
  readonly input: unknown;
  /** The input as JSON, if it is at hand. */
  readonly inputText?: string | undefined;
}

/** Longer responses are stored compressed, in characters. */
const minDeflatedLength = 500;

/** Much faster than the default, because less memory is initialized, and hardly larger for short texts. */
const deflation = { level: 1, memLevel: 4, windowBits: 12 } as const;

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
 * @throws ServiceError `invalidIdempotencyKey` if the key belongs to a call with another input
 */
export async function runOnce(call: KeyedCall, context: HandlerContext, run: () => Promise<unknown>): Promise<Result> {
  const [result] = await runAllOnce([call], context, async () => [await run()]);
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
): Promise<readonly Result[]> {
  const { transaction, dialect, nowMs } = context;
  const expiredAtMs = nowMs - idempotencyKeys.lifetimeMs;
  const accountId = accountOf(context).id;
  const hashed = calls.map((call) => ({
    call,
    keyHash: hash(`${pathOf(call)}\n${call.key}`),
    inputHash: hash(call.inputText ?? JSON.stringify(call.input)),
  }));
  const keyRows = JSON.stringify(hashed.map(({ keyHash }) => [keyHash]));
  let rows: Awaited<ReturnType<typeof selectCalls>>["rows"] = [];
  await dialect.runAll([
    () => deleteExpired(transaction, dialect, { expiredAtMs }),
    async () => {
      ({ rows } = await selectCalls(transaction, dialect, { accountId, rows: keyRows }));
    },
  ]);
  const stored = new Map(rows.filter((row) => row.created_at > expiredAtMs).map((row) => [row.key_hash, row]));
  const isOther = hashed.some(({ keyHash, inputHash }) => (stored.get(keyHash)?.input_hash ?? inputHash) !== inputHash);
  if (isOther) throw anotherInput();
  const open = hashed.filter(({ keyHash }) => !stored.has(keyHash));
  const outputs = open.length === 0 ? [] : await runAll(open.map(({ call }) => call));
  if (open.length > 0) {
    const results = open.map(({ call, keyHash, inputHash }, at) => [
      keyHash,
      inputHash,
      encode(outputs[at], call.endpoint, context),
    ]);
    await insertCalls(transaction, dialect, { accountId, nowMs, rows: JSON.stringify(results) });
  }
  const byKey = new Map(open.map(({ keyHash }, at) => [keyHash, outputs[at]]));
  return hashed.map(({ keyHash }) => {
    const found = stored.get(keyHash);
    return found
      ? { output: decode(found.response, context), isReplay: true }
      : { output: byKey.get(keyHash), isReplay: false };
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

interface CallColumns {
  key_hash: string;
  input_hash: string;
  response: string;
}

/** In the order in which the rows are passed to the statement. */
const callColumns: BatchColumns<CallColumns> = { key_hash: "text", input_hash: "text", response: "text" };

const selectCalls = createStatement<{ accountId: number; rows: string }, CallColumns & { readonly created_at: number }>(
  (slot, dialect) => sql`
    select stored.key_hash, stored.input_hash, stored.response, stored.created_at
    from ${batchOf<{ key_hash: string }>({ key_hash: "text" }, slot("rows"), dialect)}
      cross join idempotent_calls as stored
    where stored.account_id = ${slot("accountId")} and stored.key_hash = batch.key_hash`,
);

const insertCalls = createStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into idempotent_calls (account_id, key_hash, input_hash, response, created_at)
    select cast(${slot("accountId")} as bigint), batch.key_hash, batch.input_hash, batch.response,
      cast(${slot("nowMs")} as bigint)
    from ${batchOf(callColumns, slot("rows"), dialect)} where true
    on conflict (account_id, key_hash) do update set input_hash = excluded.input_hash,
      response = excluded.response, created_at = excluded.created_at`,
);

const deleteExpired = createStatement<{ expiredAtMs: number }>(
  (slot) => sql`delete from idempotent_calls where id in
    (select id from idempotent_calls where created_at <= ${slot("expiredAtMs")} order by created_at
      limit ${sql.lit(maxPurged)})`,
);

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

/** Responses with a secret are stored encrypted. */
function encode(output: unknown, { returnsSecret = false }: Endpoint, { sealer }: HandlerContext): string {
  const text = JSON.stringify(output);
  if (returnsSecret) return `sealed:${sealer.seal(text)}`;
  return text.length < minDeflatedLength
    ? `json:${text}`
    : `deflated:${deflateRawSync(text, deflation).toString("base64")}`;
}

function decode(stored: string, { sealer }: HandlerContext): unknown {
  const at = stored.indexOf(":");
  const [format, text] = [stored.slice(0, at), stored.slice(at + 1)];
  if (format === "sealed") return JSON.parse(sealer.open(text));
  return JSON.parse(format === "json" ? text : inflateRawSync(Buffer.from(text, "base64")).toString("utf8"));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
