import autocannon from "autocannon";
import { readCpuSeconds } from "./cpu-time.ts";

/** What a load measured. */
export interface Load {
  readonly perSecond: number;
  /** Milliseconds from the request to the complete response. */
  readonly p50: number;
  readonly p99: number;
  /** CPU time per call in milliseconds, by the name of a group of processes. */
  readonly cpuMs: Readonly<Record<string, number>>;
}

export interface LoadOptions {
  readonly urls: readonly string[];
  /** The number of requests in flight, over all URLs. */
  readonly connections: number;
  readonly seconds: number;
  /** The requests that a connection sends in turn. */
  readonly requestsOf: (connection: number) => autocannon.Request[];
  /** Groups of processes whose CPU time is measured. */
  readonly processes?: Readonly<Record<string, () => readonly number[]>>;
}

const warmUpSeconds = 2;

/** Sends requests for a while, after a warm-up. @throws Error if a response is not successful */
export async function runLoad(options: LoadOptions): Promise<Load> {
  const times: number[] = [];
  await drive(options, warmUpSeconds, () => {});
  const groups = Object.entries(options.processes ?? {});
  const readAll = () => groups.map(([, pids]) => readCpuSeconds(pids()));
  const before = readAll();
  const startedMs = performance.now();
  await drive(options, options.seconds, (ms) => times.push(ms));
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = readAll();
  const cpuMs = groups.map(([name], at) => [name, (((after[at] ?? 0) - (before[at] ?? 0)) * 1_000) / times.length]);
  times.sort((a, b) => a - b);
  const quantile = (share: number) => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  return {
    perSecond: times.length / seconds,
    p50: quantile(0.5),
    p99: quantile(0.99),
    cpuMs: Object.fromEntries(cpuMs) as Record<string, number>,
  };
}

async function drive(options: LoadOptions, seconds: number, onResponse: (ms: number) => void): Promise<void> {
  const { urls, requestsOf } = options;
  let connection = 0;
  const each = options.connections / urls.length;
  const results = await Promise.all(
    urls.map((url) => {
      const setupClient = (client: autocannon.Client) => {
        client.setRequests(requestsOf(connection++));
        client.on("response", (_status: number, _bytes: number, ms: number) => onResponse(ms));
      };
      return autocannon({ url, connections: each, duration: seconds, timeout: 60, setupClient });
    }),
  );
  for (const { non2xx, errors, statusCodeStats } of results) {
    if (non2xx + errors > 0) throw new Error(`${errors} failed; by status: ${JSON.stringify(statusCodeStats)}`);
  }
}
