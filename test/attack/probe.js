// Loaded into the attacked server with `--import`: reports the longest delay of its event loop since the last message.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const resolution = 10;

if (isMainThread && process.send) {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  process.on("message", () => {
    process.send({ longestMs: Math.max(0, Math.round(delays.max / 1e6) - resolution) });
    delays.reset();
  });
  process.channel.unref();
}
