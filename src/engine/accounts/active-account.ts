import { sql } from "kysely";
import type { PublicKind } from "../../storage/tables/accounts.ts";
import { disabledAccount } from "../kernel/authenticate.ts";
import type { HandlerContext } from "../kernel/handler.ts";
import { openAnyClaim } from "../kernel/signed-link.ts";

/** Where a call without an app key names its account: by a record, a signed token, or a field with the app key. */
export type AccountFinder =
  | { readonly kind: PublicKind; readonly field: string }
  | { readonly claim: string; readonly exceptKind?: string }
  | { readonly appKey: string };

/**
 * Finds the account that a call without an app key concerns. Calls that concern no account have none; their handlers
 * reject them.
 * Assumed: people can still unsubscribe from emails of a disabled account.
 * @throws ServiceError `featureDisabled` if the account is disabled
 */
export async function findActiveOwner(
  finder: AccountFinder,
  input: Readonly<Record<string, string | number>>,
  { transaction, sealer }: Pick<HandlerContext, "transaction" | "sealer">,
): Promise<number | undefined> {
  const claim = "claim" in finder ? openAnyClaim(String(input[finder.claim]), sealer) : undefined;
  const condition = selectId(finder, input, claim?.accountId);
  if (condition === undefined) return undefined;
  const { rows } = await sql<{ id: number; disabled_at: number | null }>`
    select id, disabled_at from accounts where ${condition}`.execute(transaction);
  const [owner] = rows;
  const mayBeDisabled = "claim" in finder && claim?.kind === finder.exceptKind;
  if (owner && owner.disabled_at !== null && !mayBeDisabled) throw disabledAccount();
  return owner?.id;
}

function selectId(
  finder: AccountFinder,
  input: Readonly<Record<string, string | number>>,
  claimedId: number | undefined,
) {
  if ("appKey" in finder) return sql`app_key = ${input[finder.appKey]}`;
  if ("kind" in finder) {
    return sql`id = (select account_id from public_ids where kind = ${finder.kind} and id = ${input[finder.field]})`;
  }
  return claimedId === undefined ? undefined : sql`id = ${claimedId}`;
}
