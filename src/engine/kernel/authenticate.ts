import { sql } from "kysely";
import {
  callerNames,
  type Endpoint,
  ServiceError,
  tooManyRequestsMessage,
  unauthorizedMessage,
  recordNotFound,
  missingField,
} from "../../contract/index.ts";
import type { CallEvent, Caller } from "../../service/transport.ts";
import type { Database } from "../../storage/database.ts";
import { createStatement } from "../../storage/statement.ts";
import { hashToken } from "./credentials.ts";
import type { Account } from "./handler.ts";
import type { KnownAccounts } from "./known-accounts.ts";
import { limitOf, type RateLimit, type RateWindow } from "./rate-window.ts";

interface Found {
  readonly account: Account;
  readonly hasToken: boolean;
}

/** The limits that are kept, and where they are counted. */
export interface Limiting {
  readonly window: RateWindow;
  /** Whether the calls that the specification names no limit for have one as well. */
  readonly limitLegacy: boolean;
}

interface Options {
  readonly nowMs: number;
  readonly known: KnownAccounts;
  /** Absent where no limit is kept. */
  readonly limiting?: Limiting | undefined;
  readonly onEvent?: ((event: CallEvent) => void) | undefined;
}

/**
 * Finds whom a call is made for, and refuses who may not make it.
 * @throws ServiceError `recordNotFound`, `tooManyRequests`, `unauthorized`
 */
export async function authenticate(
  database: Database,
  endpoint: Endpoint,
  caller: Caller,
  options: Options,
): Promise<Account | undefined> {
  const { auth } = endpoint;
  if (auth === "open") return undefined;
  if (caller.appKey === undefined) throw missingAppKey(endpoint);
  const { appKey } = caller;
  const { limiting, known } = options;
  const isLookedAt = auth !== "account" || (endpoint.heedsUtoken === true && caller.utoken !== undefined);
  const knownId = isLookedAt ? undefined : known.find(appKey);
  const { account, hasToken } =
    knownId === undefined
      ? await findAccount(database, caller, options.nowMs)
      : { account: { id: knownId, appKey }, hasToken: false };
  if (knownId === undefined) known.add(appKey, account.id);
  const limit = limiting && limitOf(endpoint, limiting);
  if (limiting && limit) await takeFromWindow(limiting.window, account, limit, options);
  if (auth === "account") return isLookedAt ? { ...account, isStore: hasToken } : account;
  if (!hasToken) throw new ServiceError("unauthorized", unauthorizedMessage);
  return account;
}

/** Only a call whose path does not name the account can do without; its body's name for it is another than the query's. */
function missingAppKey({ method }: Endpoint): ServiceError {
  const [inQuery, inBody] = callerNames.appKey;
  return missingField(method === "GET" ? inQuery : inBody);
}

const selectAccount = createStatement<
  { appKey: string; tokenHash: string; nowMs: number },
  { readonly id: number; readonly token_row: number | null }
>(
  (slot) => sql`
    select accounts.id, utokens.id as token_row
    from accounts left join utokens on utokens.account_id = accounts.id
      and utokens.token_hash = ${slot("tokenHash")} and utokens.expires_at > ${slot("nowMs")}
    where accounts.app_key = ${slot("appKey")}`,
);

async function findAccount({ db, dialect }: Database, caller: Caller, nowMs: number): Promise<Found> {
  const { appKey = "", utoken = "" } = caller;
  // No text of a database holds it, and PostgreSQL refuses to look for it.
  if (appKey.includes("\0")) throw unknownAccount(appKey);
  const { rows } = await selectAccount(db, dialect, { appKey, tokenHash: hashToken(utoken), nowMs });
  const [found] = rows;
  if (!found) throw unknownAccount(appKey);
  return { account: { id: found.id, appKey }, hasToken: found.token_row !== null };
}

/** What a call for an app key that is not there is told. Source: practice of services of this kind. */
export function unknownAccount(appKey: string): ServiceError {
  return recordNotFound("Account", "app_key", appKey);
}

/** Assumed: every call that names a known account counts, also one that is refused for its token or input. */
async function takeFromWindow(
  window: RateWindow,
  account: Account,
  limit: RateLimit,
  { nowMs, onEvent }: Options,
): Promise<void> {
  const { allowed, remaining, resetAtMs } = await window.take(account.id, limit);
  if (limit.isTold) onEvent?.({ type: "limit", remaining, resetAtSeconds: Math.ceil(resetAtMs / 1_000) });
  if (allowed) return;
  throw new ServiceError("tooManyRequests", tooManyRequestsMessage, {
    retryAfterMs: Math.max(0, resetAtMs - nowMs),
  });
}
