import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Account, Cluster } from "../scale/cluster.ts";
import { readCpuSeconds, withChildren } from "../scale/cpu-time.ts";
import { anOrder, aReview } from "../scale/requests.ts";
import { emailSetting, inParallel, send } from "./http.ts";

/** What storing a record takes on PostgreSQL, averaged over many. */
export interface RecordCost {
  /** The number of records that were stored. */
  readonly records: number;
  /** Tables, indexes, and TOAST. */
  readonly bytes: number;
  /** CPU time in milliseconds. */
  readonly serverMs: number;
  readonly postgresMs: number;
}

export interface Costs {
  readonly order: RecordCost;
  readonly queuedEmail: Pick<RecordCost, "records" | "bytes">;
  readonly sentEmail: RecordCost;
  readonly review: RecordCost;
}

const ordersPerCall = 500;
const mostSentEmails = 5_000;
const emailTables = /^(?:mails|mail_events|mail_counts|mail_messages)/;
/** Deleted after a day. */
const temporaryTables = /^(?:idempotent_calls)/;

type Sizes = ReadonlyMap<string, number>;

/** Stores records, and measures the growth of the database and the CPU time. */
export async function measureCosts(
  client: Client,
  cluster: Cluster,
  { records, postgresPid }: { readonly records: number; readonly postgresPid: number },
): Promise<Costs> {
  const [account, sender] = cluster.accounts as [Account, Account];
  const phase = async (count: number, work: () => Promise<unknown>) => {
    const [before, cpuBefore] = [await readSizes(client), readCpu(cluster, postgresPid)];
    await work();
    const [after, cpuAfter] = [await readSizes(client), readCpu(cluster, postgresPid)];
    const grown = (isCounted: (table: string) => boolean) =>
      [...after]
        .filter(([table]) => isCounted(table))
        .reduce((sum, [table, size]) => sum + size - (before.get(table) ?? 0), 0) / count;
    const ms = (name: "servers" | "postgres") => ((cpuAfter[name] - cpuBefore[name]) * 1_000) / count;
    return { grown, serverMs: ms("servers"), postgresMs: ms("postgres") };
  };
  const ordered = await phase(records, () => createOrders(cluster, account, records));
  const reviewed = await phase(records, () => createReviews(cluster, account, records));
  const sent = Math.min(records, mostSentEmails);
  await send(cluster, ...emailSetting(sender, "due_after_days", 0));
  const mailed = await phase(sent, async () => {
    await createOrders(cluster, sender, sent);
    await waitForEmails(client, sent);
  });
  return {
    order: { records, bytes: ordered.grown((table) => !isEmail(table)), ...pickCpu(ordered) },
    queuedEmail: { records, bytes: ordered.grown(isEmail) },
    sentEmail: {
      records: sent,
      bytes: mailed.grown(isEmail),
      serverMs: mailed.serverMs - ordered.serverMs,
      postgresMs: mailed.postgresMs - ordered.postgresMs,
    },
    review: {
      records,
      bytes: reviewed.grown((table) => !isEmail(table) && !temporaryTables.test(table)),
      ...pickCpu(reviewed),
    },
  };
}

const isEmail = (table: string) => emailTables.test(table);

function pickCpu({ serverMs, postgresMs }: { readonly serverMs: number; readonly postgresMs: number }) {
  return { serverMs, postgresMs };
}

/** Creates orders in large calls: half of them with one product, half with two. */
async function createOrders(cluster: Cluster, { appKey, utoken }: Account, count: number): Promise<void> {
  await inParallel(Math.ceil(count / ordersPerCall), 4, async (call) => {
    const orders = Array.from({ length: Math.min(ordersPerCall, count - call * ordersPerCall) }, (_, nth) =>
      anOrderWithProducts(call * ordersPerCall + nth),
    );
    await send(cluster, `/apps/${appKey}/purchases/mass_create`, { utoken, platform: "general", orders });
  });
}

function anOrderWithProducts(at: number) {
  const { platform: _, validate_data: __, products, ...order } = anOrder(at);
  const second = at % 2 === 0 ? {} : (anOrder(at + 1)["products"] as object);
  return { ...order, products: { ...(products as object), ...second } };
}

async function createReviews(cluster: Cluster, { appKey, utoken }: Account, count: number): Promise<void> {
  const past = { created_at: "2026-01-02T10:00:00.000Z" };
  await inParallel(count, 64, (at) =>
    send(cluster, "/reviews/dynamic_create", { appkey: appKey, utoken, ...aReview(at), past }, { key: `review-${at}` }),
  );
}

async function waitForEmails(client: Client, count: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ sent: number }>(
      "select count(*)::integer as sent from mails where state = 'sent'",
    );
    if ((rows[0]?.sent ?? 0) >= count) return;
    await sleep(200);
  }
}

function readCpu({ pids }: Cluster, postgresPid: number) {
  return { servers: readCpuSeconds(pids), postgres: readCpuSeconds(withChildren(postgresPid)) };
}

/** The size of each table with its indexes and TOAST; partitions count for their own name. */
async function readSizes(client: Client): Promise<Sizes> {
  await client.query("vacuum analyze");
  const { rows } = await client.query<{ name: string; size: string }>(
    `select relname as name, pg_total_relation_size(oid) as size from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  return new Map(rows.map(({ name, size }) => [name, Number(size)]));
}
