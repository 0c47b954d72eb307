// Another store: until it receives a message, it writes and reads in turn, each time over a new connection, and reports how
// many of its calls were answered, and the longest time that one took. As in probe.js, time in which this process or the
// server waits for a processor that other programs use does not count.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

const [url, serverPid, appKey, utoken] = process.argv.slice(2);
const stopped = once(process, "message").then(() => true);

/** How long both processes have waited for a processor, in milliseconds. Source: Linux, sched-stats. */
function readWaitMs() {
  const waits = ["self", serverPid].map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]));
  return (waits[0] + waits[1]) / 1e6;
}

/** Returns the status, or 0 if the connection failed. */
function call(method, path, body) {
  return new Promise((found) => {
    const headers = { "content-type": "application/json" };
    const sent = request(url + path, { method, headers, agent: false, timeout: 30_000 }, (response) => {
      response.resume().on("end", () => found(response.statusCode));
    });
    sent.on("timeout", () => sent.destroy()).on("error", () => found(0));
    sent.end(body && JSON.stringify(body));
  });
}

const groups = `/v1/apps/${appKey}/products_groups`;
const group = { utoken, group_name: `group ${process.pid}` };
await call("POST", groups, group);
process.send("ready");
let [calls, answered, longestMs] = [0, 0, 0];
do {
  const startMs = performance.now() - readWaitMs();
  const isRead = calls % 2 === 0;
  const path = `${groups}/${encodeURIComponent(group.group_name)}`;
  const status = await (isRead ? call("GET", `${path}?utoken=${utoken}`) : call("PUT", path, { utoken }));
  longestMs = Math.max(longestMs, performance.now() - readWaitMs() - startMs);
  calls += 1;
  if (status === 200) answered += 1;
} while (!(await Promise.race([stopped, sleep(10, false)])));
process.send({ calls, answered, longestMs: Math.round(longestMs) });
process.disconnect();
