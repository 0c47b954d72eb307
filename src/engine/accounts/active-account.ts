import { sql } from "kysely";
import { disabledAccount } from "../kernel/authenticate.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { openAnyClaim } from "../kernel/signed-link.ts";

/** Where a call without an app key names its account: by a row, a signed token, or a field with the app key. */
export type AccountFinder =
  | { readonly table: "answers" | "reviews" | "review_images" | "users"; readonly field: string }
  | { readonly claim: string; readonly exceptKind?: string }
  | { readonly appKey: string };

/**
 * Rejects a call that concerns a disabled account. Calls that concern no account pass; their handlers reject them.
 * Assumed: people can still unsubscribe from emails of a disabled account.
 * @throws ServiceError `featureDisabled`
 */
export async function requireActiveAccount(
  finder: AccountFinder,
  input: Readonly<Record<string, string | number>>,
  context: Pick<HandlerContext, "transaction" | "sealer">,
): Promise<void> {
  const account = selectId(finder, input, context);
  if (account === undefined) return;
  const { rows } = await sql<{ disabled_at: number | null }>`
    select disabled_at from accounts where ${account}`.execute(context.transaction);
  if (rows.some(({ disabled_at }) => disabled_at !== null)) throw disabledAccount();
}

function selectId(
  finder: AccountFinder,
  input: Readonly<Record<string, string | number>>,
  { sealer }: Pick<HandlerContext, "sealer">,
) {
  if ("appKey" in finder) return sql`app_key = ${input[finder.appKey]}`;
  if ("table" in finder) {
    return sql`id = (select account_id from ${sql.table(finder.table)} where id = ${input[finder.field]})`;
  }
  const claim = openAnyClaim(String(input[finder.claim]), sealer);
  return claim === undefined || claim.kind === finder.exceptKind ? undefined : sql`id = ${claim.accountId}`;
}
