import { type Kysely, sql } from "kysely";
import type { DialectName } from "../dialect.ts";
import { createStatement } from "../statement.ts";
import type { Tables } from "../tables.ts";

const selectVersion = createStatement<object, { readonly data_version: number }>(
  () => sql`pragma data_version`,
);

/**
 * A number that changes when anybody but this connection has written to the database. Read inside a transaction that
 * may write, it holds until the end of it. PostgreSQL cannot tell, and gives NaN, which equals nothing: there, anybody
 * may always have written.
 */
export async function readDataVersion(db: Kysely<Tables>, dialect: DialectName): Promise<number> {
  const read: Record<DialectName, () => Promise<number>> = {
    sqlite: async () => {
      const { rows } = await selectVersion(db, dialect, {});
      return rows[0]?.data_version ?? 0;
    },
    postgres: async () => Number.NaN,
  };
  return read[dialect]();
}
