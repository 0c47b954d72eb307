import type { DatabaseStatus } from "../../../app/ports.ts";
import { countOf, formatBytes } from "../../../terminal/plural.ts";
import { fields } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";

export default command({
  summary: "Show the version, size, and schema of the embedded database",
  examples: ["starpost database status", "starpost database status --profile shop --json"],
  notes: [
    "Changes nothing: pending migrations are carried out by the next other command or server that uses the database.",
  ],
  run: async (context) => {
    const { findLocalProfile } = await import("../serve/server-run.ts");
    const profile = await findLocalProfile(context, "has a database");
    const { readDatabaseStatus } = await context.io.loadApp();
    return toData(await readDatabaseStatus(await context.host(), profile));
  },
  render: ({ bytes, pending_migrations, replicas, is_replica, lag_ms, distributed_tables, nodes, ...status }) =>
    fields({
      ...status,
      size: formatBytes(bytes),
      pending_migrations: formatPending(pending_migrations, status),
      ...Object.fromEntries(pending_migrations.map((name, at) => [`migration ${at + 1}`, name])),
      ...(is_replica !== null && {
        role: is_replica ? `replica, ${formatLag(lag_ms)}` : "primary",
        replicas: replicas.length === 0 ? "none" : replicas.map(formatReplica).join(", "),
      }),
      ...(distributed_tables !== null && { distributed_tables, nodes: nodes.map(formatNode).join(", ") }),
    }),
});

function toData(status: DatabaseStatus) {
  const { shownAs, version, bytes, accounts, schema, newestSchema, pendingMigrations, replication } = status;
  return {
    database: shownAs,
    version,
    bytes,
    accounts,
    schema,
    latest_schema: newestSchema,
    pending_migrations: pendingMigrations,
    /** Null for SQLite. */
    is_replica: replication?.isReplica ?? null,
    lag_ms: replication?.lagMs ?? null,
    replicas: (replication?.replicas ?? []).map(({ name, state, lagMs }) => ({ name, state, lag_ms: lagMs })),
    distributed_tables: status.cluster?.tables ?? null,
    nodes: (status.cluster?.nodes ?? []).map((found) => ({
      node: found.node,
      is_reachable: found.isReachable,
      shards: found.shards,
      accounts: found.accounts,
    })),
  };
}

function formatNode({ node, is_reachable, shards, accounts }: ReturnType<typeof toData>["nodes"][number]): string {
  const held = accounts === null ? "" : `, ${countOf(accounts, "account")}`;
  return `${node} (${is_reachable ? "" : "not reachable, "}${countOf(shards, "shard")}${held})`;
}

function formatPending(
  pending: readonly string[],
  { schema, latest_schema }: { readonly schema: number | null; readonly latest_schema: number },
): string {
  if (schema === null) return "all, because the database has no tables of starpost";
  if (schema > latest_schema) return "unknown, because the database was created by a newer starpost";
  if (pending.length > 0) return String(pending.length);
  if (schema === latest_schema) return "none";
  return "not possible: the database was created by an older starpost; upgrade it with commit af372b16 first";
}

function formatReplica({ name, state, lag_ms }: ReturnType<typeof toData>["replicas"][number]): string {
  return `${name} (${state === null ? "" : `${state}, `}${formatLag(lag_ms)})`;
}

function formatLag(lagMs: number | null): string {
  return lagMs === null ? "lag unknown" : `${(lagMs / 1_000).toFixed(1)} s behind`;
}
