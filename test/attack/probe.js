// Loaded into the attacked server with `--import`: reports the longest delay of its event loop since the last message,
// without the time for which its thread was ready to run but other programs had the processor. Then, collects the garbage that
// was left, so that the memory of the next attack does not depend on those before it.
import { openSync, readSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

const intervalMs = 10;

/** Reads how long the main thread has waited for a processor, in milliseconds. Source: Linux, sched-stats. */
function createWaitReader() {
  const file = openSync("/proc/self/schedstat", "r");
  const buffer = Buffer.alloc(100);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    return Number(buffer.toString("latin1", 0, length).split(" ")[1]) / 1e6;
  };
}

if (isMainThread && process.send) {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  const readWaitMs = createWaitReader();
  let longestMs = 0;
  let previous = { nowMs: performance.now(), waitMs: readWaitMs() };
  const measure = () => {
    const current = { nowMs: performance.now(), waitMs: readWaitMs() };
    const waitedMs = current.waitMs - previous.waitMs;
    longestMs = Math.max(longestMs, current.nowMs - previous.nowMs - waitedMs - intervalMs);
    previous = current;
  };
  setInterval(measure, intervalMs).unref();
  process.on("message", () => {
    measure();
    const reply = { longestMs: Math.round(longestMs) };
    collectGarbage();
    measure();
    longestMs = 0;
    process.send(reply);
  });
  process.channel.unref();
}
