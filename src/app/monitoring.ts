import { setTimeout as wait } from "node:timers/promises";
import type { ServeOptions } from "./ports.ts";
import type { LocalTransport } from "../engine/local-transport.ts";
import { measureEmailDelay } from "../engine/emails/sending/email-queue.ts";
import type { HandlerContext } from "../engine/kernel/handler.ts";
import type { Readiness } from "../server/health.ts";
import type { Metrics, MetricSources } from "../server/metrics.ts";

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
  { metricsAt, backupCounts }: Pick<ServeOptions, "metricsAt"> & Pick<MetricSources, "backupCounts">,
): Promise<Monitoring> {
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
  const { queuedWrites, poolUse } = transport;
  const metrics = createMetrics({
    queuedWrites,
    poolUse,
    emailDelayMs: async () => (await readDatabase()).emailDelayMs,
    backupCounts,
  });
  const server = createMetricsServer(metrics, readReadiness);
  return { readReadiness, metrics, listen: () => server.listen(metricsAt), close: () => server.close() };
}

/** If nodes of a cluster are lost, the emails of the others are not known. */
async function readState(context: HandlerContext) {
  const lostNodes = (await context.dialect.findLostNodes?.(context.transaction)) ?? [];
  return { lostNodes, emailDelayMs: lostNodes.length === 0 ? await measureEmailDelay(context) : undefined };
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
