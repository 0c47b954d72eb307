import { Kysely, sql } from "kysely";
import { toStorageError } from "../dialects.ts";
import { createPostgresDriver } from "./driver.ts";

/** What is needed to back up or restore a database of a server. */
export interface BackupFacts {
  readonly serverVersion: number;
  /** The schema that contains the tables. */
  readonly namespace: string;
  /** Statements that drop everything in that schema. */
  readonly drops: readonly string[];
  /** How many other connections starpost has to the database. */
  readonly users: number;
}

/** @throws StorageError */
export async function readBackupFacts(url: string, shownAs: string): Promise<BackupFacts> {
  const db = new Kysely<never>({ dialect: createPostgresDriver(url, { isReadOnly: true, poolSize: 2 }) });
  try {
    const { rows } = await sql<{ version: number; namespace: string | null; users: number }>`
      select current_setting('server_version_num')::int / 10000 as version, current_schema()::text as namespace,
        (select count(*) from pg_catalog.pg_stat_activity
          where datname = current_database() and application_name = 'starpost' and pid <> pg_backend_pid()) as users`.execute(
      db,
    );
    // Tables before sequences, because a column of an identity does not release its own.
    const { rows: objects } = await sql<{ statement: string }>`
      select format('drop %s if exists %s cascade', kind, name) as statement from (
        select case relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end as kind,
          oid::regclass::text as name, relkind = 'S' as is_last
        from pg_catalog.pg_class
        where relnamespace = to_regnamespace(quote_ident(current_schema())) and relkind in ('r', 'p', 'v', 'S')
          and not relispartition
          and not exists (select from pg_catalog.pg_depend where objid = pg_class.oid and deptype in ('i', 'e'))
        union all
        select 'routine', oid::regprocedure::text, true from pg_catalog.pg_proc
        where pronamespace = to_regnamespace(quote_ident(current_schema()))
          and not exists (select from pg_catalog.pg_depend where objid = pg_proc.oid and deptype = 'e')
      ) as objects order by is_last, name`.execute(db);
    const [found] = rows;
    return {
      serverVersion: found?.version ?? 0,
      namespace: found?.namespace ?? "public",
      drops: objects.map(({ statement }) => statement),
      users: found?.users ?? 0,
    };
  } catch (error) {
    throw toStorageError(error, shownAs) ?? error;
  } finally {
    await db.destroy();
  }
}
