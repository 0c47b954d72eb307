// Another store: until it receives a message, it stores orders and reads in turn, each time over a new connection, and reports
// how many of its calls were answered, which orders were acknowledged, and how long the calls took. As in probe.js, time in
// which this process or the server waits for a processor that other programs use does not count.
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

const list = `/v1/apps/${appKey}/reviews?utoken=${utoken}&count=10`;
const product = { name: "Pot", url: "https://shop.example/pot", image: "https://shop.example/pot.jpg" };
const orderOf = (order_id) => ({
  utoken,
  platform: "general",
  order_id,
  email: "neighbor@mail.example",
  customer_name: "Ann",
  order_date: "2026-03-15",
  products: { pot: product },
});
const store = (order_id) => call("POST", `/apps/${appKey}/purchases`, orderOf(order_id));

// A server that has just started loads and compiles code in its first calls.
for (let nth = 0; nth < 5; nth += 1) {
  await store(`${process.pid}-first-${nth}`);
  await call("GET", list);
}
process.send("ready");
const [durations, stored] = [[], []];
let answered = 0;
do {
  const id = `${process.pid}-${durations.length}`;
  const isRead = durations.length % 2 === 0;
  const startMs = performance.now() - readWaitMs();
  const status = await (isRead ? call("GET", list) : store(id));
  durations.push(performance.now() - readWaitMs() - startMs);
  if (status === 200) answered += 1;
  if (status === 200 && !isRead) stored.push(id);
} while (!(await Promise.race([stopped, sleep(10, false)])));
durations.sort((a, b) => a - b);
const at = (share) => Math.round(durations[Math.ceil(durations.length * share) - 1]);
process.send({ calls: durations.length, answered, stored, p99Ms: at(0.99), longestMs: at(1) });
process.disconnect();
