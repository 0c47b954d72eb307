import { type Kysely, sql } from "kysely";
import type { ConnectionFacts, DialectFacts, Replication } from "../dialect.ts";
import type { Tables } from "../tables.ts";
import { isDistributed, readCluster } from "./distribution.ts";

export async function readServerFacts(
  db: Kysely<Tables>,
  _location: string,
  clock: () => number,
): Promise<DialectFacts> {
  const query = sql<{ version: string; bytes: number; now_ms: number }>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
      (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`;
  // The first query opens a connection, which would distort the time measurement.
  await query.execute(db);
  const beforeMs = clock();
  const { version = "", bytes = 0, now_ms: serverMs = 0 } = (await query.execute(db)).rows[0] ?? {};
  const clockAheadMs = serverMs - (beforeMs + clock()) / 2;
  return {
    version: `PostgreSQL ${version}`,
    bytes,
    hasWriteAheadLog: null,
    clockAheadMs,
    writer: await findWriter(db),
    replication: await readReplication(db),
    connections: await readConnections(db),
    cluster: (await isDistributed(db)) ? await readCluster(db) : null,
  };
}

/** Finds the process that has been writing for the longest time. */
async function findWriter(db: Kysely<Tables>): Promise<DialectFacts["writer"]> {
  const { rows } = await sql<{ name: string; for_ms: number }>`
    select coalesce(nullif(application_name, ''), 'a program') || ' (server process ' || pg_locks.pid ||
        coalesce(', from ' || host(client_addr), '') || ')' as name,
      (extract(epoch from clock_timestamp() - xact_start) * 1000)::bigint as for_ms
    from pg_catalog.pg_locks join pg_catalog.pg_stat_activity using (pid)
    where locktype = 'relation' and granted and mode = 'RowExclusiveLock' and xact_start is not null
      and pg_locks.database = (select oid from pg_catalog.pg_database where datname = current_database())
      and relation = to_regclass('account_versions')
    order by xact_start limit 1`.execute(db);
  const [held] = rows;
  return held ? { name: held.name, forMs: held.for_ms } : null;
}

async function readConnections(db: Kysely<Tables>): Promise<ConnectionFacts | null> {
  // These views show all connections, whereas pg_stat_activity hides most about those of other roles.
  const { rows } = await sql<ConnectionFacts>`
    with limits as (
      select 'server' as "limitOf", current_setting('max_connections')::int
          - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true), '0')::int as max,
        (select sum(numbackends) from pg_catalog.pg_stat_database)::int as used
      union all select 'database', datconnlimit, numbackends
        from pg_catalog.pg_database join pg_catalog.pg_stat_database using (datname) where datname = current_database()
      union all select 'role', rolconnlimit,
          (select count(*) from pg_catalog.pg_stat_activity where usename = current_user)::int
        from pg_catalog.pg_roles where rolname = current_user
    )
    select limits.*,
      (select count(*) from pg_catalog.pg_stat_activity
        where datname = current_database() and application_name = 'starpost' and pid <> pg_backend_pid())::int as own
    from limits
    where "limitOf" = 'server'
      or max >= 0 and not (select rolsuper from pg_catalog.pg_roles where rolname = current_user)
    order by max - used limit 1`.execute(db);
  return rows[0] ?? null;
}

async function readReplication(db: Kysely<Tables>): Promise<Replication> {
  const { rows: own } = await sql<{ is_replica: boolean; lag_ms: number | null }>`
    select pg_is_in_recovery() as is_replica, ${replicaLagMs} as lag_ms`.execute(db);
  // Without the role pg_read_all_stats, only the names of other roles' connections are visible.
  const { rows } = await sql<{ name: string; state: string | null; lag_ms: number | null }>`
    select coalesce(nullif(application_name, ''), 'replica') as name, state,
      coalesce((extract(epoch from replay_lag) * 1000)::bigint, case when state = 'streaming' then 0 end) as lag_ms
    from pg_catalog.pg_stat_replication where state is null or state <> 'backup' order by 1`.execute(db);
  const replicas = rows.map(({ name, state, lag_ms }) => ({ name, state, lagMs: lag_ms }));
  return { isReplica: own[0]?.is_replica ?? false, lagMs: own[0]?.lag_ms ?? null, replicas };
}

/** How long ago a replica has last caught up, in milliseconds; null on a primary. Without a connection, it grows. */
export const replicaLagMs = sql<number | null>`
  case when not pg_is_in_recovery() then null
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists (select from pg_catalog.pg_stat_wal_receiver)
      then 0
    else (extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint end`;
