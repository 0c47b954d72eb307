import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sql } from "kysely";
import { acceptsIdempotencyKey, type Endpoint, idempotencyKeys, ServiceError } from "../../contract/index.ts";
import { createStatement } from "../../storage/statement.ts";
import { type Account, accountOf, type HandlerContext } from "./handler.ts";

/** A call with an idempotency key. */
export interface KeyedCall {
  readonly endpoint: Endpoint;
  readonly key: string;
  /** After validation. */
  readonly input: unknown;
}

/** Longer responses are stored compressed, in characters. */
const minDeflatedLength = 500;

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
export async function runOnce(
  call: KeyedCall,
  context: HandlerContext,
  run: () => Promise<unknown>,
): Promise<{ readonly output: unknown; readonly isReplay: boolean }> {
  const { transaction, dialect, nowMs } = context;
  const expiredAtMs = nowMs - idempotencyKeys.lifetimeMs;
  const accountId = accountOf(context).id;
  const keyHash = hash(`${pathOf(call)}\n${call.key}`);
  const inputHash = hash(JSON.stringify(call.input));
  const { rows } = await selectCall(transaction, dialect, { accountId, keyHash });
  const [first] = rows;
  if (first && first.created_at > expiredAtMs) {
    if (first.input_hash !== inputHash) throw anotherInput();
    return { output: decode(first.response, context), isReplay: true };
  }
  const output = await run();
  await deleteExpired(transaction, dialect, { expiredAtMs });
  await insertCall(transaction, dialect, {
    accountId,
    keyHash,
    inputHash,
    response: encode(output, call.endpoint, context),
    nowMs,
  });
  return { output, isReplay: false };
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

interface CallId {
  accountId: number;
  keyHash: string;
}

interface StoredCall {
  readonly input_hash: string;
  readonly response: string;
  readonly created_at: number;
}

const selectCall = createStatement<CallId, StoredCall>(
  (slot) => sql`select input_hash, response, created_at from idempotent_calls
    where account_id = ${slot("accountId")} and key_hash = ${slot("keyHash")}`,
);

const insertCall = createStatement<CallId & { inputHash: string; response: string; nowMs: number }>(
  (slot) => sql`insert into idempotent_calls (account_id, key_hash, input_hash, response, created_at)
    values (${slot("accountId")}, ${slot("keyHash")}, ${slot("inputHash")}, ${slot("response")}, ${slot("nowMs")})
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
  return text.length < minDeflatedLength ? `json:${text}` : `deflated:${deflateRawSync(text).toString("base64")}`;
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
