import { deflateRawSync, inflateRawSync } from "node:zlib";
import { sql } from "kysely";
import { updateRows } from "./account-rows.ts";
import { type Endpoint, idempotencyKeys } from "../../contract/index.ts";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement, createStatement } from "../../storage/statement.ts";
import type { Row } from "../../storage/tables.ts";
import { accountOf, type HandlerContext } from "./handler.ts";

/** Longer results are stored compressed, in characters. */
const minDeflatedLength = 500;

/** Much faster than the default, because less memory is initialized, and hardly larger for short texts. */
const deflation = { level: 1, memLevel: 4, windowBits: 12 } as const;

/** The result of a call with an idempotency key. */
interface KeyedResult {
  readonly keyHash: string;
  readonly inputHash: string;
  readonly output: unknown;
}

export interface StoredResult {
  readonly inputHash: string;
  readonly read: () => unknown;
}

type StoredRow = Pick<Row<"idempotent_calls">, "key_hash" | "input_hash" | "response" | "created_at">;

/** Stores the results of calls of one operation that are carried out together. */
export async function storeResults(
  results: readonly KeyedResult[],
  endpoint: Endpoint,
  context: HandlerContext,
): Promise<void> {
  const { transaction, dialect, nowMs } = context;
  const responses = encodeResults(results, endpoint, context);
  const rows = results.map(({ keyHash, inputHash }, at) => [keyHash, inputHash, responses[at]]);
  await insertCalls(transaction, dialect, { accountId: accountOf(context).id, nowMs, rows: JSON.stringify(rows) });
}

/** Finds the results that have not expired, by the hashes of their keys. */
export async function findResults(
  hashes: ReadonlySet<string>,
  context: HandlerContext,
): Promise<ReadonlyMap<string, StoredResult>> {
  const rows = await readCalls(hashes, context);
  const holderHashes = new Set(rows.flatMap(({ response }) => findHolder(response) ?? []));
  const holders = new Map((await readCalls(holderHashes, context)).map((row) => [row.key_hash, row]));
  const found = new Map<string, StoredResult>();
  for (const { key_hash, input_hash, response, created_at } of rows) {
    const holderHash = findHolder(response);
    const holder = holderHash === undefined ? undefined : holders.get(holderHash);
    // Results that are stored together expire together, but a process whose clock is ahead may have deleted the first.
    if (holderHash !== undefined && holder?.created_at !== created_at) continue;
    found.set(key_hash, { inputHash: input_hash, read: () => decode(response, holder?.response, context) });
  }
  return found;
}

async function readCalls(hashes: ReadonlySet<string>, context: HandlerContext): Promise<readonly StoredRow[]> {
  if (hashes.size === 0) return [];
  const { transaction, dialect, nowMs } = context;
  const rows = JSON.stringify(Array.from(hashes, (keyHash) => [keyHash]));
  const found = await selectCalls(transaction, dialect, { accountId: accountOf(context).id, rows });
  return found.rows.filter(({ created_at }) => created_at > nowMs - idempotencyKeys.lifetimeMs);
}

/** In the order in which the rows are passed to the statement. */
const callColumns = { key_hash: "text", input_hash: "text", response: "text" } as const;

const selectCalls = createStatement<{ accountId: number; rows: string }, StoredRow>(
  (slot, dialect) => sql`
    select stored.key_hash, stored.input_hash, stored.response, stored.created_at
    from ${batchOf({ key_hash: "text" }, slot("rows"), dialect)}
      cross join idempotent_calls as stored
    where stored.account_id = ${slot("accountId")} and stored.key_hash = batch.key_hash`,
);

const insertCalls = createDeferredStatement<{ accountId: number; nowMs: number; rows: string }>(
  (slot, dialect) => sql`
    insert into idempotent_calls (account_id, key_hash, input_hash, response, created_at)
    select cast(${slot("accountId")} as bigint), batch.key_hash, batch.input_hash, batch.response,
      cast(${slot("nowMs")} as bigint)
    from ${batchOf(callColumns, slot("rows"), dialect)} where true
    on conflict (account_id, key_hash) do update set input_hash = excluded.input_hash,
      response = excluded.response, created_at = excluded.created_at`,
);

/**
 * Long results are compressed together and stored with the first call, to which the others refer: this takes a fifth of
 * the time and space.
 */
function encodeResults(results: readonly KeyedResult[], endpoint: Endpoint, context: HandlerContext): string[] {
  const texts = results.map(({ output }) => JSON.stringify(output));
  const [holder] = results;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const isList = texts.length > 1 && endpoint.returnsSecret !== true && length >= texts.length * minDeflatedLength;
  if (!holder || !isList) return texts.map((text) => encode(text, endpoint, context));
  const list = `list:${deflate(`[${texts.join(",")}]`)}`;
  return texts.map((_, at) => (at === 0 ? list : `in:${holder.keyHash}:${at}`));
}

/** Results with a secret are stored encrypted. */
function encode(
  text: string,
  { returnsSecret = false }: Pick<Endpoint, "returnsSecret">,
  { sealer }: HandlerContext,
): string {
  if (returnsSecret) return `sealed:${sealer.seal(text)}`;
  return text.length < minDeflatedLength ? `json:${text}` : `deflated:${deflate(text)}`;
}

/** The hash of the key of the call with which a result is stored, unless it is its own. */
function findHolder(stored: string): string | undefined {
  return stored.startsWith("in:") ? stored.split(":")[1] : undefined;
}

/** @param holder what is stored with the call that `findHolder` returns */
function decode(stored: string, holder: string | undefined, { sealer }: HandlerContext): unknown {
  const at = stored.indexOf(":");
  const [format, text] = [stored.slice(0, at), stored.slice(at + 1)];
  if (format === "sealed") return JSON.parse(sealer.open(text));
  if (format === "json") return JSON.parse(text);
  if (format === "deflated") return JSON.parse(inflate(text));
  const [list, n] = format === "list" ? [text, 0] : [holder?.slice("list:".length) ?? "", Number(text.split(":")[1])];
  return (JSON.parse(inflate(list)) as readonly unknown[])[n];
}

/** Results per page when all of them are read. */
const pageSize = 500;

/**
 * Replaces the stored results of an account.
 * @param replace returns the new output, or the same object if nothing changes
 * @returns the number of results that contain a change; those that are stored together count as one
 */
export async function replaceResults(
  replace: (output: unknown) => unknown,
  context: HandlerContext,
  isDryRun = false,
): Promise<number> {
  const { transaction } = context;
  const accountId = accountOf(context).id;
  let replaced = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const rows = await transaction
      .selectFrom("idempotent_calls")
      .select(["id", "response"])
      .where("account_id", "=", accountId)
      .where("id", ">", after)
      .orderBy("id")
      .limit(pageSize)
      .execute();
    for (const { id, response } of rows) {
      const changed = replaceOne(response, replace, context);
      if (changed === undefined) continue;
      replaced += 1;
      if (isDryRun) continue;
      await updateRows("idempotent_calls", { response: changed }, { account_id: accountId, id }, { transaction });
    }
    after = rows.length < pageSize ? undefined : rows.at(-1)?.id;
  }
  return replaced;
}

/** Returns the stored form of a changed result; undefined if it is stored with another, cannot be read, or stays the same. */
function replaceOne(
  stored: string,
  replace: (output: unknown) => unknown,
  context: HandlerContext,
): string | undefined {
  const [format = ""] = stored.split(":", 1);
  if (format === "in") return undefined;
  let output: unknown;
  try {
    output = format === "list" ? JSON.parse(inflate(stored.slice("list:".length))) : decode(stored, undefined, context);
  } catch {
    return undefined;
  }
  const changed = replace(output);
  if (changed === output) return undefined;
  const text = JSON.stringify(changed);
  if (format === "list") return `list:${deflate(text)}`;
  return encode(text, { returnsSecret: format === "sealed" }, context);
}

function deflate(text: string): string {
  return deflateRawSync(text, deflation).toString("base64");
}

function inflate(text: string): string {
  return inflateRawSync(Buffer.from(text, "base64")).toString("utf8");
}
