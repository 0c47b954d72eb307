import { type Kysely, type QueryExecutorProvider, sql } from "kysely";
import type { ClusterFacts, NodeFacts } from "../dialect.ts";
import type { Tables } from "../tables.ts";

/** Tables that every node has a copy of, because those of the accounts refer to them. Changes of them need all nodes. */
const referenceTables = ["accounts"];

/** Tables that stay on the coordinator, as does the list of migrations: those that are read before the account is known. */
const localTables = ["invitations", "public_ids", "token_buckets"];

/** The table that is distributed first. */
const first = "account_versions";

/** How tables are distributed. */
export interface TableDistribution {
  /** Tables that an earlier version distributed, and that move to the coordinator. */
  readonly local: readonly string[];
  /** Tables that become reference tables. */
  readonly reference: readonly string[];
  /** Tables whose rows are distributed by account. */
  readonly distributed: readonly string[];
}

/** Whether the tables of the database are distributed with Citus. */
export async function isDistributed(db: QueryExecutorProvider): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass('pg_dist_partition') is not null as found`.execute(
    db,
  );
  return rows[0]?.found === true && (await listDistributed(db)).has("accounts");
}

/** How long the coordinator waits for a connection to a node. */
const nodeTimeoutMs = 2_000;

/** In the transaction of `db`. */
async function limitWaits(db: QueryExecutorProvider): Promise<void> {
  await sql`select set_config('citus.node_connection_timeout', ${String(nodeTimeoutMs)}, true)`.execute(db);
}

/** Asks each node. */
export async function readCluster(db: Kysely<Tables>): Promise<ClusterFacts> {
  const counted = await sql<{ tables: number }>`
    select count(*) as tables from pg_dist_partition where partmethod = 'h'`.execute(db);
  const { rows } = await db.transaction().execute(async (transaction) => {
    await limitWaits(transaction);
    return sql<NodeFacts>`
      select nodename || ':' || nodeport as node, node_states.success as "isReachable", count(shardid) as shards,
        case when node_states.success then coalesce(sum(case when placed.success then placed.result::bigint end), 0) end as accounts
      from run_command_on_workers('select 1') as node_states
        left join run_command_on_placements('account_versions', 'select count(*) from %s') as placed
          using (nodename, nodeport)
      group by nodename, nodeport, node_states.success order by nodename, nodeport`.execute(transaction);
  });
  return { tables: counted.rows[0]?.tables ?? 0, nodes: rows };
}

/** Whether the database has the Citus extension, or can have it, and otherwise why not. */
export type CitusState = "installed" | "available" | { readonly problem: string };

export async function findCitus(db: QueryExecutorProvider): Promise<CitusState> {
  const { rows } = await sql<{ installed: string | null; is_loaded: boolean }>`
    select installed_version as installed, current_setting('shared_preload_libraries') ~ '(^|[ ,"])citus' as is_loaded
    from pg_catalog.pg_available_extensions where name = 'citus'`.execute(db);
  const [found] = rows;
  if (!found) return { problem: "the server does not have the Citus extension" };
  if (!found.is_loaded) return { problem: "the server has the Citus extension, but does not load it" };
  return found.installed === null ? "available" : "installed";
}

/** @param db a transaction */
export async function findLostNodes(db: QueryExecutorProvider): Promise<readonly string[]> {
  await limitWaits(db);
  const { rows } = await sql<{ node: string }>`
    select nodename || ':' || nodeport as node from run_command_on_workers('select 1') where not success order by 1`.execute(
    db,
  );
  return rows.map(({ node }) => node);
}

export async function readReachable<R>(table: string, select: string, db: QueryExecutorProvider): Promise<R[]> {
  const command = `select coalesce(json_agg(found), '[]') from (${select}) as found`;
  const { rows } = await sql<{ found: R[] }>`
    select result::json as found from run_command_on_placements(${table}, ${command}, false) where success`.execute(db);
  return rows.flatMap(({ found }) => found);
}

/** Lists the tables that are not distributed yet. */
export async function listUndistributed(db: QueryExecutorProvider): Promise<TableDistribution> {
  const { rows: found } = await sql<{ found: boolean }>`
    select to_regclass('pg_dist_partition') is not null as found`.execute(db);
  const done = found[0]?.found ? await listDistributed(db) : new Set();
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_catalog.pg_class join pg_catalog.pg_attribute on attrelid = pg_class.oid
    where relnamespace = to_regnamespace(quote_ident(current_schema())) and relkind in ('r', 'p')
      and not relispartition and attname = 'account_id' and not attisdropped
    order by relname`.execute(db);
  // The others are placed where the versions are.
  const others = new Set<string>([first, ...referenceTables, ...localTables]);
  const owned = [first, ...rows.map(({ name }) => name).filter((name) => !others.has(name))];
  return {
    local: localTables.filter((name) => done.has(name)),
    reference: referenceTables.filter((name) => !done.has(name)),
    distributed: owned.filter((name) => !done.has(name)),
  };
}

/**
 * Distributes the tables that are not distributed yet, in the transaction of `db`: rows with the same account are on the
 * same node.
 */
export async function distributeTables(db: QueryExecutorProvider): Promise<TableDistribution> {
  const plan = await listUndistributed(db);
  const identities = await readIdentities(db);
  // Foreign keys from distributed to reference tables require it.
  await sql`set local citus.multi_shard_modify_mode to 'sequential'`.execute(db);
  for (const table of plan.local) await sql`select undistribute_table(${table})`.execute(db);
  for (const table of plan.reference) await sql`select create_reference_table(${table})`.execute(db);
  for (const table of plan.distributed) {
    const colocation = table === first ? "none" : first;
    await sql`select create_distributed_table(${table}, 'account_id', colocate_with => ${colocation})`.execute(db);
  }
  // Citus creates some tables again, with IDs from 1.
  for (const { sequence, last } of identities) await sql`select setval(${sequence}, ${last})`.execute(db);
  return plan;
}

/** The sequences of the identity columns that have been used, and the last value of each. */
async function readIdentities(db: QueryExecutorProvider) {
  const { rows } = await sql<{ sequence: string; last: number }>`
    select sequence, last from pg_catalog.pg_class join pg_catalog.pg_attribute on attrelid = pg_class.oid,
      pg_get_serial_sequence(quote_ident(relname), attname) as sequence, pg_sequence_last_value(sequence) as last
    where relnamespace = to_regnamespace(quote_ident(current_schema())) and relkind in ('r', 'p')
      and attidentity <> '' and last is not null`.execute(db);
  return rows;
}

/** Without tables that Citus only knows because they refer to a reference table. */
async function listDistributed(db: QueryExecutorProvider): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_dist_partition join pg_catalog.pg_class on pg_class.oid = logicalrelid
    where relnamespace = to_regnamespace(quote_ident(current_schema()))
      and (partmethod = 'h' or repmodel = 't')`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
