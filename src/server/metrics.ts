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
  /** Measures what waits in the database. Rejects without a database. */
  readonly readDatabase: () => Promise<DatabaseState>;
  /** Counts the imports that are recorded on this machine. */
  readonly readImports: () => ImportCounts;
  /** The version of the program. */
  readonly version: string;
  /** The results that are counted, by what is sent. */
  readonly results: Readonly<Record<"emails" | "webhooks", readonly string[]>>;
  /** How scheduled backups are going; undefined if there is no schedule. */
  readonly backupCounts?: (() => BackupCounts) | undefined;
}

/** What waits; undefined if it is not known. */
interface DatabaseState {
  /** How long the oldest email that is due has been waiting, in milliseconds; 0 without one. */
  readonly emailDelayMs: number | undefined;
  /** The deliveries that are due, and how long the oldest one has been waiting. */
  readonly webhooks: { readonly deliveries: number; readonly delayMs: number } | undefined;
}

export interface ImportCounts {
  readonly states: ReadonlyMap<string, number>;
  /** When the newest one that finished began, in milliseconds since 1970. */
  readonly lastFinishedMs: number | undefined;
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
  /** Counts emails, or deliveries of webhooks, with the same result. */
  readonly countResult: (sent: string, result: string, count: number) => void;
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
  const countResult = addResults(sources, registers);
  addLoad(sources, registry);
  if (sources.backupCounts) addBackups(sources.backupCounts, registry);
  const readDatabase = addDatabaseState(sources, registers);
  const readImports = addImports(sources, registers);
  return {
    contentType: registry.contentType,
    countCall: ({ operation = "none", status, durationMs }) => {
      requests.inc({ operation, status });
      latency.observe({ operation }, durationMs / 1_000);
    },
    countLockWait: (waitedMs) => lockWaits.observe(waitedMs / 1_000),
    countResult,
    read: async () => {
      await readDatabase();
      readImports();
      return registry.metrics();
    },
  };
}

/** Adds the version, and counters of what is sent. They begin at 0, so that their first increase is visible. */
function addResults({ version, results }: MetricSources, registers: Registry[]): Metrics["countResult"] {
  const build = new Gauge({
    name: "starpost_build_info",
    help: "Always 1; its label is the version of starpost",
    labelNames: ["version"],
    registers,
  });
  build.set({ version }, 1);
  const add = (name: string, help: string, values: readonly string[]) => {
    const counter = new Counter({ name: `starpost_${name}_total`, help, labelNames: ["result"], registers });
    for (const result of values) counter.inc({ result }, 0);
    return counter;
  };
  const counters: Readonly<Record<string, Counter<"result">>> = {
    emails: add("emails", "Emails that this process has handled, by result", results.emails),
    webhooks: add("webhook_deliveries", "Attempts of this process to deliver webhooks, by result", results.webhooks),
  };
  return (sent, result, count) => counters[sent]?.inc({ result }, count);
}

/** Adds the recorded imports. @returns a function that reads them */
function addImports(sources: MetricSources, registers: Registry[]): () => void {
  const imports = new Gauge({
    name: "starpost_imports",
    help: "The newest 100 imports that are recorded on this machine, by state",
    labelNames: ["state"],
    registers,
  });
  const lastFinished = new Gauge({
    name: "starpost_import_last_finished_timestamp_seconds",
    help: "Start of the newest of them that finished",
    registers,
  });
  return () => {
    const { states, lastFinishedMs } = sources.readImports();
    for (const [state, count] of states) imports.set({ state }, count);
    if (lastFinishedMs === undefined) lastFinished.remove();
    else lastFinished.set(lastFinishedMs / 1_000);
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
function addDatabaseState({ readDatabase }: MetricSources, registers: Registry[]): () => Promise<void> {
  const up = new Gauge({ name: "starpost_database_up", help: "Whether the database answers", registers });
  const add = (name: string, help: string, find: (state: DatabaseState) => number | undefined) => {
    const gauge = new Gauge({ name: `starpost_${name}`, help, registers });
    return (state: DatabaseState | undefined) => {
      const value = state && find(state);
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    };
  };
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000);
  const gauges = [
    add("email_delay_seconds", "How long the oldest email that is due has been waiting", ({ emailDelayMs }) =>
      seconds(emailDelayMs),
    ),
    add("webhook_delay_seconds", "How long the oldest delivery that is due has been waiting", ({ webhooks }) =>
      seconds(webhooks?.delayMs),
    ),
    add(
      "webhook_backlog",
      "Deliveries of webhooks that are due, at most 1,000",
      ({ webhooks }) => webhooks?.deliveries,
    ),
  ];
  return async () => {
    const state = await readDatabase().catch(() => undefined);
    up.set(state ? 1 : 0);
    for (const set of gauges) set(state);
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
