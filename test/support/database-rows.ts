import { join } from "node:path";
import { SqliteFile } from "../../src/storage/sqlite/sqlite-file.ts";

/** Tables that the service derives from others or uses for its own work. */
const ownTables = /^(?:sqlite_|account_versions|utokens|review_totals|webhook_deliveries|\w+_words_text_)/;

/** Every row of an embedded database that is not in use, by table and key, as JSON. */
export function readRows(homeFolder: string): ReadonlyMap<string, string> {
  const file = new SqliteFile(join(homeFolder, "starpost.db"));
  try {
    const tables = file.all("select name from sqlite_master where type = 'table'").map(({ name }) => String(name));
    const rows = tables
      .filter((table) => !ownTables.test(table))
      .flatMap((table) => {
        const [{ keys } = { keys: "" }] = file.all(
          `select group_concat('"' || name || '"', ' || ''/'' || ') as keys from pragma_table_info('${table}') where pk > 0`,
        );
        const key = typeof keys === "string" && keys !== "" ? keys : "rowid";
        return file.all(`select ${key} as "the key", * from "${table}"`).map((row) => {
          const { "the key": id, ...values } = row;
          const text = JSON.stringify(values, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
          return [`${table} ${String(id)}`, text] as const;
        });
      });
    return new Map(rows);
  } finally {
    file.close();
  }
}
