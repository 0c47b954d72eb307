import { sql } from "kysely";
import { deleteRows } from "./account-rows.ts";
import { batchOf } from "../../storage/batch.ts";
import { createDeferredStatement } from "../../storage/statement.ts";
import type { PublicKind } from "../../storage/tables/accounts.ts";
import type { HandlerContext } from "./handler.ts";

/** Records to which account new records belong that anyone may name by their ID alone. */
export async function addPublicIds(
  kind: PublicKind,
  ids: readonly number[],
  accountId: number,
  { transaction, dialect }: Pick<HandlerContext, "transaction" | "dialect">,
): Promise<void> {
  // Otherwise, the records themselves are the lookup.
  if (ids.length === 0 || !dialect.keysHaveAccounts) return;
  const rows = JSON.stringify(ids.map((id) => [id]));
  await insertPublicIds(transaction, dialect, { kind, accountId, rows });
}

const insertPublicIds = createDeferredStatement<{ kind: PublicKind; accountId: number; rows: string }>(
  (slot, dialect) => sql`
    insert into public_ids (kind, id, account_id)
    select cast(${slot("kind")} as text), batch.id, cast(${slot("accountId")} as bigint)
    from ${batchOf({ id: "integer" }, slot("rows"), dialect)} where true`,
);

/** Removes deleted records from the lookup. */
export async function removePublicIds(
  kind: PublicKind,
  ids: readonly number[],
  accountId: number,
  { transaction, dialect }: Pick<HandlerContext, "transaction" | "dialect">,
): Promise<void> {
  if (ids.length === 0 || !dialect.keysHaveAccounts) return;
  await deleteRows("public_ids", { account_id: accountId, kind, id: ids }, { transaction });
}
