import { type Kysely, sql } from "kysely";
import type { Migration } from "./table-builders.ts";

interface GroupName {
  readonly id: number;
  readonly account_id: number;
  readonly name: string;
}

/** Stores the names of groups in form NFC. Of two names that become equal, the newer one gets a number. */
export const groupNames: Migration = {
  version: 6,
  name: "names of groups in NFC",
  up: async () => {},
  updateRows: async (db) => {
    const { rows } = await sql<GroupName>`select id, account_id, name from product_groups order by id`.execute(db);
    const keyOf = ({ account_id }: GroupName, name: string) => `${account_id} ${name}`;
    const taken = new Set(rows.map((row) => keyOf(row, row.name)));
    for (const row of rows) {
      const composed = row.name.normalize("NFC");
      if (composed === row.name) continue;
      let name = composed;
      for (let number = 2; taken.has(keyOf(row, name)); number += 1) name = `${composed} (${number})`;
      taken.add(keyOf(row, name));
      await rename(row, name, db);
    }
  },
};

async function rename({ id }: GroupName, name: string, db: Kysely<never>): Promise<void> {
  await sql`update product_groups set name = ${name} where id = ${id}`.execute(db);
}
