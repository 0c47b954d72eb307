import { availableParallelism } from "node:os";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { MessageChannel, Worker } from "node:worker_threads";
import { checkCallForThread } from "../engine/orders/order-check.ts";
import { PortTransport } from "../service/port-transport.ts";
import { findThreadFile } from "../service/thread-file.ts";
import type { Transport } from "../service/transport.ts";
import type { EngineThreadData } from "./engine-thread.ts";

/** A thread that has loaded the engine, or is loading it. */
export interface EngineThread {
  /** Answers once the thread has opened the database. */
  readonly transport: Transport;
  open(data: EngineThreadData): void;
  /** Keeps the process running until the thread is closed. */
  keepRunning(): void;
  /** Ends a thread that has not opened the database. */
  stop(): Promise<unknown>;
}

/** A thread that waits for its use. */
let prepared: EngineThread | undefined;

/** Loads the engine in a separate thread, for `takeEngineThread`. The thread does not keep the process running. */
export function prepareEngineThread(): void {
  prepared ??= startEngineThread();
}

/** Returns the prepared thread, or starts one. */
export function takeEngineThread(): EngineThread {
  const thread = prepared ?? startEngineThread();
  prepared = undefined;
  thread.keepRunning();
  return thread;
}

/** Loads the engine in a separate thread. */
function startEngineThread(): EngineThread {
  for (const flag of listFlags()) setFlagsFromString(flag);
  limitYoungGeneration();
  const { port1, port2 } = new MessageChannel();
  const file = findThreadFile(import.meta.url, "./engine-thread");
  const resourceLimits = { maxYoungGenerationSizeMb: 8 };
  const worker = new Worker(file, { workerData: port2, transferList: [port2], resourceLimits });
  worker.unref();
  return {
    keepRunning: () => worker.ref(),
    transport: new PortTransport(worker, { "orders.massCreate": checkCallForThread }),
    open: (data) => port1.postMessage(data),
    stop: () => worker.terminate(),
  };
}

/** The size of the young generation from which it is not enlarged, in bytes. Node 20 never exceeds it, Node 24 does fourfold. */
const largestYoungGeneration = 32 * 1024 * 1024;
const checkMs = 20;

/**
 * Keeps the young generation of this thread small. V8 reads its maximum only when it starts, but the growth factor
 * whenever it enlarges it.
 */
function limitYoungGeneration(): void {
  const timer = setInterval(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    if (young && young.space_size < largestYoungGeneration) return;
    clearInterval(timer);
    setFlagsFromString("--semi-space-growth-factor=1");
  }, checkMs);
  timer.unref();
}

/** Flags of V8 for two busy threads. V8 prints an error for a flag that it does not have. */
function listFlags(): string[] {
  // Collects garbage earlier; otherwise, the two heaps would grow by 100 MB before the first collection.
  const flags = ["--heap-growing-percent=25"];
  // Optimizes functions later; in an import of a few seconds, that takes longer than it saves. V8 12, which has
  // `Array.fromAsync`, does not have the flag.
  if (!("fromAsync" in Array)) flags.push("--interrupt-budget=400000");
  // With two threads at work, helpers of the garbage collector only help where there are more cores.
  if (availableParallelism() <= 2) flags.push("--no-parallel-scavenge");
  return flags;
}
