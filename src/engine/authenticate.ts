import { type Auth, ServiceError, tooManyRequestsMessage, unauthorizedMessage } from "../contract/index.ts";
import type { CallEvent, Caller } from "../service/transport.ts";
import type { Database } from "../storage/database.ts";
import { hashToken } from "./credentials.ts";
import type { Account } from "./handler.ts";
import type { RateWindow } from "./rate-window.ts";

interface Found {
  readonly account: Account;
  readonly hasToken: boolean;
}

/**
 * Finds whom a call is made for, and refuses who may not make it.
 * @throws ServiceError `recordNotFound`, `tooManyRequests`, `unauthorized`
 */
export async function authenticate(
  { db }: Database,
  auth: Auth,
  caller: Caller,
  options: {
    readonly nowMs: number;
    /** Absent where the core API's limit is not kept. */
    readonly window?: RateWindow | undefined;
    readonly onEvent?: ((event: CallEvent) => void) | undefined;
  },
): Promise<Account | undefined> {
  if (auth === "open") return undefined;
  const { account, hasToken } = await findAccount(db, caller, options.nowMs);
  if (auth === "core" && options.window) takeFromWindow(options.window, account, options);
  if (auth !== "account" && !hasToken) throw new ServiceError("unauthorized", unauthorizedMessage);
  return account;
}

async function findAccount(db: Database["db"], caller: Caller, nowMs: number): Promise<Found> {
  const { appKey = "", utoken = "" } = caller;
  const found = await db
    .selectFrom("accounts")
    .leftJoin("utokens", (join) =>
      join
        .onRef("utokens.account_id", "=", "accounts.id")
        .on("utokens.token_hash", "=", hashToken(utoken))
        .on("utokens.expires_at", ">", nowMs),
    )
    .select(["accounts.id", "utokens.id as token_row"])
    .where("accounts.app_key", "=", appKey)
    .executeTakeFirst();
  if (!found) throw unknownAccount(appKey);
  return { account: { id: found.id, appKey }, hasToken: found.token_row !== null };
}

/** What a call for an app key that is not there is told. Source: practice of services of this kind. */
export function unknownAccount(appKey: string): ServiceError {
  return new ServiceError("recordNotFound", `Couldn't find Account with app_key = ${appKey}`);
}

/** Assumed: every core call that names a known store counts, also one that is refused for its token or input. */
function takeFromWindow(
  window: RateWindow,
  account: Account,
  { nowMs, onEvent }: { nowMs: number; onEvent?: ((event: CallEvent) => void) | undefined },
): void {
  const { allowed, remaining, resetAtMs } = window.take(account.id);
  onEvent?.({ type: "limit", remaining, resetAtSeconds: Math.ceil(resetAtMs / 1_000) });
  if (allowed) return;
  throw new ServiceError("tooManyRequests", tooManyRequestsMessage, {
    retryAfterMs: Math.max(0, resetAtMs - nowMs),
  });
}
