import { sql } from "kysely";
import {
  callerNames,
  type Endpoint,
  endpointOf,
  honorsToken,
  missingField,
  type OperationName,
  recordNotFound,
  type Role,
  ServiceError,
  unauthorizedMessage,
} from "../../contract/index.ts";
import type { Caller } from "../../service/transport.ts";
import type { Database } from "../../storage/database.ts";
import { createStatement } from "../../storage/statement.ts";
import { hashToken } from "./credentials.ts";
import type { Account } from "./handler.ts";

/**
 * Finds the account that a call is made for, and rejects callers without access.
 * @throws ServiceError `recordNotFound`, `featureDisabled`, `unauthorized`
 */
export async function authenticate(
  database: Database,
  endpoint: Endpoint,
  caller: Caller,
  nowMs: number,
): Promise<Account | undefined> {
  const { auth } = endpoint;
  if (auth === "open") return undefined;
  if (caller.appKey === undefined) throw missingAppKey(endpoint);
  const { account, token } = await findAccountOnce(database, caller, nowMs);
  if (auth === "account" && (caller.utoken === undefined || !honorsToken(endpoint))) return account;
  if (auth === "account") return { ...account, role: token?.role, isStore: token !== undefined };
  if (!token) throw new ServiceError("unauthorized", unauthorizedMessage);
  return { ...account, role: token.role };
}

/** @throws ServiceError `roleDenied` if the token of a call has a role that does not permit the operation */
export function checkRole(name: OperationName, account: Account | undefined): void {
  const role = account?.role;
  if (role === undefined || endpointOf(name).roles.includes(role)) return;
  throw new ServiceError("roleDenied", `the role ${role} does not permit ${name}`);
}

/** Only operations without the app key in their path can lack it. Queries and bodies use different names for it. */
function missingAppKey({ method }: Endpoint): ServiceError {
  const [inQuery, inBody] = callerNames.appKey;
  return missingField(method === "GET" ? inQuery : inBody);
}

/** Names the account by its ID, so that a database that is distributed over several servers asks only that of the account. */
const selectAccount = createStatement<
  { id: number; appKey: string; tokenHash: string; nowMs: number },
  {
    readonly version: number;
    readonly disabled_at: number | null;
    readonly token_row: number | null;
    readonly credential_id: number | null;
    readonly role: string | null;
  }
>(
  (slot) => sql`
    select account_versions.version, accounts.disabled_at, utokens.id as token_row, utokens.credential_id, credentials.role
    from account_versions cross join accounts
      left join utokens on utokens.account_id = ${slot("id")}
      and utokens.token_hash = ${slot("tokenHash")} and utokens.expires_at > ${slot("nowMs")}
      left join credentials on credentials.account_id = ${slot("id")} and credentials.id = utokens.credential_id
    where account_versions.account_id = ${slot("id")} and accounts.id = ${slot("id")}
      and accounts.app_key = ${slot("appKey")}`,
);

const selectId = createStatement<{ appKey: string }, { readonly id: number }>(
  (slot) => sql`select id from accounts where app_key = ${slot("appKey")}`,
);

interface FoundAccount {
  readonly account: Account;
  /** Undefined if the call has no valid token. Without a role, it permits all calls. */
  readonly token: { readonly role: Role | undefined } | undefined;
}

/** The lookups that began in this turn of the event loop, by database and caller. */
const lookups = new WeakMap<Database, Map<string, Promise<FoundAccount>>>();

/** Finds an account once for all calls that arrive together, as those of an import do. */
function findAccountOnce(database: Database, caller: Caller, nowMs: number): Promise<FoundAccount> {
  const { appKey = "", utoken = "" } = caller;
  const key = JSON.stringify([appKey, utoken, nowMs]);
  let begun = lookups.get(database);
  if (!begun) {
    begun = new Map();
    lookups.set(database, begun);
    // A later turn may follow a change of the account.
    queueMicrotask(() => lookups.delete(database));
  }
  const found = begun.get(key) ?? findAccount(database, caller, nowMs);
  begun.set(key, found);
  return found;
}

async function findAccount(database: Database, caller: Caller, nowMs: number): Promise<FoundAccount> {
  const { db, dialect } = database;
  const { appKey = "", utoken = "" } = caller;
  // No stored text contains U+0000, and PostgreSQL rejects it as a parameter.
  if (appKey.includes("\0")) throw unknownAccount(appKey);
  const id = await findId(appKey, database);
  const { rows } = await selectAccount(db, dialect, { id, appKey, tokenHash: hashToken(utoken), nowMs });
  const [found] = rows;
  if (!found) throw unknownAccount(appKey);
  if (found.disabled_at !== null) throw disabledAccount();
  // A token whose credential is missing is not valid.
  const isValid = found.token_row !== null && (found.credential_id === null || found.role !== null);
  const token = isValid ? { role: (found.role ?? undefined) as Role | undefined } : undefined;
  return { account: { id, appKey, version: found.version }, token };
}

/** The maximum number of IDs in memory per database. */
const maxIds = 100_000;

/** The IDs of accounts by their app keys, which never change. */
const accountIds = new WeakMap<Database, Map<string, number>>();

async function findId(appKey: string, database: Database): Promise<number> {
  const known = accountIds.get(database) ?? new Map<string, number>();
  accountIds.set(database, known);
  const id = known.get(appKey) ?? (await selectId(database.db, database.dialect, { appKey })).rows[0]?.id;
  if (id === undefined) throw unknownAccount(appKey);
  // The one that was used the longest ago comes first.
  known.delete(appKey);
  known.set(appKey, id);
  const [oldest] = known.size > maxIds ? known.keys() : [];
  if (oldest !== undefined) known.delete(oldest);
  return id;
}

/** The error for an app key that does not exist. Source: practice of services of this kind. */
export function unknownAccount(appKey: string): ServiceError {
  return recordNotFound("Account", "app_key", appKey);
}

/** The error of every call to an account that the operator has disabled. */
export function disabledAccount(): ServiceError {
  const hint = "The operator can enable it with `starpost account enable <app_key>` on the server.";
  return new ServiceError("featureDisabled", "the operator of the service has disabled this account", { hint });
}
