import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { fastify } from "fastify";
import { addHealthPaths, type Readiness } from "./health.ts";
import { listenOn } from "./listen.ts";

/** What metrics are read from when they are requested. */
export interface MetricSources {
  /** Writes that wait for a transaction. */
  readonly queuedWrites: () => number;
  /** The connections to a database server; undefined for a file. */
  readonly poolUse: () => { readonly total: number; readonly idle: number; readonly waiting: number } | undefined;
  /** How long the oldest email that is due has been waiting, in milliseconds; 0 without one; undefined if it is not known. Rejects without a database. */
  readonly emailDelayMs: () => Promise<number | undefined>;
  /** How scheduled backups are going; undefined if there is no schedule. */
  readonly backupCounts?: (() => BackupCounts) | undefined;
}

interface BackupCounts {
  readonly lastSuccessMs: number | undefined;
  readonly bytes: number;
  readonly durationMs: number;
  readonly failures: number;
}

/** A call that was answered. */
export interface AnsweredCall {
  /** Undefined if the path belongs to no operation. */
  readonly operation: string | undefined;
  readonly status: number;
  readonly durationMs: number;
}

/** Metrics of this process in the Prometheus format. Labels contain no data of accounts or people. */
export interface Metrics {
  readonly contentType: string;
  readonly countCall: (call: AnsweredCall) => void;
  /** Records how long a write waited until its account was locked. */
  readonly countLockWait: (waitedMs: number) => void;
  readonly read: () => Promise<string>;
}

/** Upper bounds, in seconds. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "starpost_http_requests_total",
    help: "Answered requests, by operation and HTTP status",
    labelNames: ["operation", "status"],
    registers,
  });
  const latency = new Histogram({
    name: "starpost_http_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its response, by operation",
    labelNames: ["operation"],
    buckets: durations,
    registers,
  });
  const lockWaits = new Histogram({
    name: "starpost_account_lock_wait_seconds",
    help: "Time from the start of a write transaction until its account was locked",
    buckets: durations,
    registers,
  });
  addLoad(sources, registry);
  if (sources.backupCounts) addBackups(sources.backupCounts, registry);
  const readDatabase = addDatabaseState(sources, registers);
  return {
    contentType: registry.contentType,
    countCall: ({ operation = "none", status, durationMs }) => {
      requests.inc({ operation, status });
      latency.observe({ operation }, durationMs / 1_000);
    },
    countLockWait: (waitedMs) => lockWaits.observe(waitedMs / 1_000),
    read: async () => {
      await readDatabase();
      return registry.metrics();
    },
  };
}

/** Adds a gauge that is read on request, and absent while it has no value. */
function addGauge(registry: Registry, name: string, help: string, read: () => number | undefined): void {
  const gauge: Gauge = new Gauge({
    name: `starpost_${name}`,
    help,
    registers: [registry],
    collect: () => {
      const value = read();
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    },
  });
}

/** Adds what can be read from this process. */
function addLoad({ queuedWrites, poolUse }: MetricSources, registry: Registry): void {
  addGauge(registry, "write_queue_length", "Writes that wait for a transaction", queuedWrites);
  const waiting = () => poolUse()?.waiting ?? 0;
  addGauge(registry, "database_pool_waiting", "Transactions that wait for a connection", waiting);
  const connections: Gauge<"state"> = new Gauge({
    name: "starpost_database_pool_connections",
    help: "Connections of this process to the database server, by state",
    labelNames: ["state"],
    registers: [registry],
    collect: () => {
      const use = poolUse();
      if (!use) return;
      connections.set({ state: "idle" }, use.idle);
      connections.set({ state: "used" }, use.total - use.idle);
    },
  });
}

function addBackups(read: () => BackupCounts, registry: Registry): void {
  const add = (name: string, help: string, find: (counts: BackupCounts) => number | undefined) =>
    addGauge(registry, `backup_${name}`, help, () => find(read()));
  const time = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000);
  add("last_success_timestamp_seconds", "Start of the newest scheduled backup", (counts) => time(counts.lastSuccessMs));
  add("size_bytes", "Size of the newest scheduled backup", ({ bytes }) => bytes);
  add("duration_seconds", "Duration of the newest scheduled backup", (counts) => time(counts.durationMs));
  add("failures", "Failed scheduled backups since the start of the process", ({ failures }) => failures);
}

/** Adds what must be read from the database. @returns a function that does so */
function addDatabaseState({ emailDelayMs }: MetricSources, registers: Registry[]): () => Promise<void> {
  const up = new Gauge({ name: "starpost_database_up", help: "Whether the database answers", registers });
  const delay = new Gauge({
    name: "starpost_email_delay_seconds",
    help: "How long the oldest email that is due has been waiting",
    registers,
  });
  return async () => {
    try {
      const delayMs = await emailDelayMs();
      if (delayMs === undefined) delay.remove();
      else delay.set(delayMs / 1_000);
      up.set(1);
    } catch {
      delay.remove();
      up.set(0);
    }
  };
}

/** Serves `/metrics`, and the paths that state the health of the process, on a listener of its own. */
export function createMetricsServer(metrics: Metrics, readReadiness: () => Promise<Readiness>) {
  const app = fastify({ logger: false, forceCloseConnections: true, requestTimeout: 10_000 });
  addHealthPaths(app, readReadiness);
  app.get("/metrics", { exposeHeadRoute: true }, async (_request, reply) => {
    const text = await metrics.read();
    return reply.type(metrics.contentType).header("cache-control", "no-store").send(text);
  });
  return {
    /** Port 0 selects a free port. @throws ListenError */
    listen: (where: Parameters<typeof listenOn>[1]) => listenOn(app, where),
    close: () => app.close(),
  };
}
