import { type Kysely, sql } from "kysely";
import type { DialectName } from "./dialect.ts";
import type { Tables } from "./tables.ts";

/**
 * A number that changes when anybody but this connection has written to the database. Read inside a transaction that
 * may write, it holds until the end of it. PostgreSQL cannot tell, and gives NaN, which equals nothing: there, anybody
 * may always have written.
 */
export async function readDataVersion(db: Kysely<Tables>, dialect: DialectName): Promise<number> {
  const read: Record<DialectName, () => Promise<number>> = {
    sqlite: async () => {
      const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db);
      return rows[0]?.data_version ?? 0;
    },
    postgres: async () => Number.NaN,
  };
  return read[dialect]();
}
