import { setTimeout as wait } from "node:timers/promises";
import type { ServerSettings } from "./ports.ts";
import type { Paths } from "../config/paths.ts";
import type { LocalTransport } from "../engine/local-transport.ts";
import { measureEmailDelay } from "../engine/emails/sending/email-queue.ts";
import { deliveryResults } from "../engine/webhooks/outcomes.ts";
import { measureWebhookBacklog } from "../engine/webhooks/webhook-queue.ts";
import type { HandlerContext } from "../engine/kernel/handler.ts";
import type { Readiness } from "../server/health.ts";
import type { Metrics, MetricSources } from "../server/metrics.ts";
import { emailResults } from "../worker/email-outcomes.ts";

/** How long a check waits for the database, in milliseconds. */
const checkWithinMs = 2_000;

export interface Monitoring {
  /** Whether the database answers in time. */
  readonly readReadiness: () => Promise<Readiness>;
  /** Undefined without a port for metrics. */
  readonly metrics: Metrics | undefined;
  /**
   * Starts the listener for metrics, if there is one.
   * @throws ListenError
   */
  readonly listen: () => Promise<{ readonly url: string } | undefined>;
  readonly close: () => Promise<void>;
}

/** Prepares what monitoring programs ask a server. Metrics are loaded only if a port is given for them. */
export async function createMonitoring(
  transport: Pick<LocalTransport, "work" | "queuedWrites" | "poolUse">,
  settings: Pick<ServerSettings, "metricsAt" | "version"> &
    Pick<MetricSources, "backupCounts"> & { readonly paths: Pick<Paths, "runsFolder"> },
): Promise<Monitoring> {
  const { metricsAt, paths, version, backupCounts } = settings;
  const readDatabase = limitTime(() => transport.work.read(readState), checkWithinMs);
  const readReadiness = async () => {
    const state = await readDatabase().catch(() => undefined);
    const nodes = state && state.lostNodes.length > 0 ? state.lostNodes : undefined;
    const isRefused = transport.poolUse()?.isRefused === true;
    const problem = isRefused ? "too_few_connections" : nodes && "nodes_unreachable";
    return { isReady: state !== undefined, problem, nodes };
  };
  if (!metricsAt) return { readReadiness, metrics: undefined, listen: async () => undefined, close: async () => {} };
  const { createMetrics, createMetricsServer } = await import("../server/metrics.ts");
  const { countImports } = await import("./import-counts.ts");
  const { queuedWrites, poolUse } = transport;
  const metrics = createMetrics({
    queuedWrites,
    poolUse,
    version,
    results: { emails: emailResults, webhooks: deliveryResults },
    readDatabase,
    backupCounts,
    readImports: () => countImports(paths.runsFolder),
  });
  const server = createMetricsServer(metrics, readReadiness);
  return { readReadiness, metrics, listen: () => server.listen(metricsAt), close: () => server.close() };
}

/** If nodes of a cluster are lost, the emails and webhooks of the others are not known. */
async function readState(context: HandlerContext) {
  const lostNodes = (await context.dialect.findLostNodes?.(context.transaction)) ?? [];
  if (lostNodes.length > 0) return { lostNodes, emailDelayMs: undefined, webhooks: undefined };
  return {
    lostNodes,
    emailDelayMs: await measureEmailDelay(context),
    webhooks: await measureWebhookBacklog(context),
  };
}

/** Limits how long a caller waits. Callers share a check that has not finished, so that checks do not pile up. */
export function limitTime<T>(check: () => Promise<T>, withinMs: number): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= check().finally(() => (running = undefined));
    const timer = new AbortController();
    const tooLate = wait(withinMs, undefined, { ref: false, signal: timer.signal }).then(() => {
      throw new Error(`no answer within ${withinMs} ms`);
    });
    return Promise.race([running, tooLate]).finally(() => timer.abort());
  };
}
