import type { CompiledQuery, QueryResult } from "kysely";
import { Client, escapeLiteral } from "pg";
import { PipelinedConnection } from "../../src/storage/postgres/pipelined-connection.ts";

/** A statement, its parameters, and where the engine sends it. */
interface Sent {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly source: string;
}

type Execute = (this: PipelinedConnection, query: CompiledQuery) => Promise<QueryResult<never>>;

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly Plans?: readonly PlanNode[];
  /** What Citus sends to its nodes. */
  readonly "Distributed Query"?: { readonly Job?: { readonly "Task Count"?: number } };
  readonly [detail: string]: unknown;
}

const isStatement = /^\s*(?:select|insert|update|delete|with)\b/i;

/** Statements that concern several accounts: the file that sends them, a part of them, and the reason. */
const severalAccounts: readonly (readonly [file: string, part: string, reason: string])[] = [
  ["src/engine/accounts/administration.ts", "select batch.account_id from", "the operator lists the accounts"],
  [
    "src/engine/customers/customers.ts",
    "select 1 from",
    "statistics, which contain erased values, are of complete tables",
  ],
  ["src/engine/accounts/resealing.ts", "", "the operator replaces the sealing key of all accounts"],
  ["src/engine/kernel/account-walk.ts", "", "one worker at a time cleans up all accounts"],
  ["src/engine/kernel/due-accounts.ts", "", "the worker looks for accounts with due emails and deliveries"],
  ["src/engine/kernel/slug.ts", `"kind" = 'owner'`, "subdomains are unique across accounts"],
];

/** The statements that were recorded since this worker started. */
export const recorded = new Set<string>();

/** Records statements that the engine and the worker send to PostgreSQL, each once. */
export function recordStatements(): { readonly stop: () => readonly Sent[] } {
  const sent: Sent[] = [];
  const prototype: { executeQuery: Execute } = PipelinedConnection.prototype;
  const execute = prototype.executeQuery;
  prototype.executeQuery = function record(query) {
    const { sql, parameters } = query;
    // Tests look into tables, too.
    const source = recorded.has(sql) || !isStatement.test(sql) ? undefined : findSource();
    if (source !== undefined) {
      recorded.add(sql);
      sent.push({ sql, parameters, source });
    }
    return execute.call(this, query);
  };
  return {
    stop: () => {
      prototype.executeQuery = execute;
      return sent;
    },
  };
}

/** The line of the engine or the worker that the current call came from. The transport itself sends no statement. */
function findSource(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 60;
  const { stack = "" } = new Error("only for its stack");
  Error.stackTraceLimit = stackTraceLimit;
  return /\/(src\/(?:engine|worker)\/(?!local-transport\.ts)[\w/-]+\.ts:\d+)/.exec(stack)?.[1];
}

const toArrayLiteral = (values: readonly unknown[]) => `{${values.map((one) => JSON.stringify(one)).join(",")}}`;

/** Replaces parameters by their values, because Citus cannot explain all statements with parameters. */
function withValues(statement: string, parameters: readonly unknown[]): string {
  return statement.replaceAll(/\$(\d+)/g, (_, number) => {
    const value = parameters[Number(number) - 1];
    if (value === null || value === undefined) return "null";
    if (Buffer.isBuffer(value)) return `'\\x${value.toString("hex")}'`;
    if (Array.isArray(value)) return escapeLiteral(toArrayLiteral(value));
    return escapeLiteral(typeof value === "string" ? value : JSON.stringify(value));
  });
}

/** Explains statements, and returns those that may touch several partitions of a table, or nodes, and are not listed above. */
export async function findScattered(url: string, sent: readonly Sent[]): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const scattered: string[] = [];
    for (const { sql, parameters, source } of sent) {
      if (severalAccounts.some(([file, part]) => source.startsWith(`${file}:`) && sql.includes(part))) continue;
      const { rows } = await client
        .query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(`explain (format json) ${withValues(sql, parameters)}`)
        .catch((error: unknown) => {
          // A test has dropped the table.
          if ((error as { readonly code?: unknown }).code === "42P01") return { rows: [] };
          throw error;
        });
      const tables = rows.flatMap((row) => findScatteredTables(row["QUERY PLAN"][0].Plan));
      if (tables.length > 0) scattered.push(`${tables.join(", ")} in ${source}: ${sql}`);
    }
    return scattered;
  } finally {
    await client.end();
  }
}

/**
 * The tables of which a plan has several partitions. PostgreSQL could still select one during the execution, but Citus cannot.
 */
function findScatteredTables(plan: PlanNode): string[] {
  const partitions = new Map<string, Set<string>>();
  const scattered = new Set<string>();
  for (const node of listNodes(plan)) {
    if (Number(node["Subplans Removed"] ?? 0) > 0) scattered.add("partitions removed during the execution");
    if ((node["Distributed Query"]?.Job?.["Task Count"] ?? 1) > 1) scattered.add("several tasks");
    const [, table, partition] = /^(\w+)_(\d)$/.exec(node["Relation Name"] ?? "") ?? [];
    if (table === undefined || partition === undefined) continue;
    const found = (partitions.get(table) ?? new Set()).add(partition);
    partitions.set(table, found);
    if (found.size > 1) scattered.add(table);
  }
  return [...scattered];
}

function listNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(listNodes)];
}
