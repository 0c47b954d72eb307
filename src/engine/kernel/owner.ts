import { sql } from "kysely";
import { disabledAccount } from "./authenticate.ts";
import type { HandlerContext, OwnerField } from "./handler.ts";
import { openAnyClaim } from "./signed-link.ts";

/** The fields of an input that name the owner. */
export type OwnerNames = Readonly<Record<string, string | number>>;

/**
 * Finds the account that a call without an app key concerns. Calls that concern no account have none; their handlers
 * reject them.
 * Assumed: people can still unsubscribe from emails of a disabled account.
 * @throws ServiceError `featureDisabled` if the account is disabled
 */
export async function findOwner(
  owner: OwnerField,
  input: OwnerNames,
  { transaction, sealer }: Pick<HandlerContext, "transaction" | "sealer">,
): Promise<number | undefined> {
  const claim = "claim" in owner ? openAnyClaim(String(input[owner.claim]), sealer) : undefined;
  const condition = selectId(owner, input, claim?.accountId);
  if (condition === undefined) return undefined;
  const { rows } = await sql<{ id: number; disabled_at: number | null }>`
    select id, disabled_at from accounts where ${condition}`.execute(transaction);
  const [account] = rows;
  const mayBeDisabled = "claim" in owner && claim?.kind === owner.exceptKind;
  if (account && account.disabled_at !== null && !mayBeDisabled) throw disabledAccount();
  return account?.id;
}

function selectId(owner: OwnerField, input: OwnerNames, claimedId: number | undefined) {
  if ("appKey" in owner) return sql`app_key = ${input[owner.appKey]}`;
  if ("kind" in owner) {
    return sql`id = (select account_id from public_ids where kind = ${owner.kind} and id = ${input[owner.field]})`;
  }
  return claimedId === undefined ? undefined : sql`id = ${claimedId}`;
}
