import { sql } from "kysely";

/** How long ago a replica has last caught up, in milliseconds; null on a primary. Without a connection, it grows. */
export const replicaLagMs = sql<number | null>`
  case when not pg_is_in_recovery() then null
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists (select from pg_catalog.pg_stat_wal_receiver)
      then 0
    else (extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint end`;
