import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/contract/index.ts";
import {
  type AnsweredCall,
  createMetrics,
  type MetricSources,
  createMetricsServer,
} from "../../../src/server/metrics.ts";
import type { Server } from "../../../src/server/server.ts";
import { startServing } from "./start-test-server.ts";

const sources: MetricSources = {
  queuedWrites: () => 3,
  poolUse: () => ({ total: 10, idle: 4, waiting: 2 }),
  version: "1.2.3",
  results: { emails: ["sent", "bounced", "held"], webhooks: ["delivered", "deferred", "failed"] },
  readDatabase: async () => ({ emailDelayMs: 1_500, webhooks: { deliveries: 7, delayMs: 2_500 } }),
  readImports: () => ({
    states: new Map([
      ["finished", 3],
      ["failed", 1],
    ]),
    lastFinishedMs: 1_760_000_000_000,
  }),
  backupCounts: () => ({ lastSuccessMs: 1_750_000_000_000, bytes: 4_096, durationMs: 2_500, failures: 1 }),
};

/** The samples of this program in the text format, by name and labels. */
function readSamples(text: string): Record<string, number> {
  const lines = text.split("\n").filter((line) => line.startsWith("starpost_"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

describe("metrics", () => {
  it("count requests by operation and status, and their duration", async () => {
    const metrics = createMetrics(sources);
    metrics.countCall({ operation: "orders.create", status: 200, durationMs: 20 });
    metrics.countCall({ operation: "orders.create", status: 503, durationMs: 3_000 });
    metrics.countCall({ operation: undefined, status: 404, durationMs: 1 });
    expect(readSamples(await metrics.read())).toMatchObject({
      'starpost_http_requests_total{operation="orders.create",status="200"}': 1,
      'starpost_http_requests_total{operation="orders.create",status="503"}': 1,
      'starpost_http_requests_total{operation="none",status="404"}': 1,
      'starpost_http_request_duration_seconds_bucket{le="0.01",operation="orders.create"}': 0,
      'starpost_http_request_duration_seconds_bucket{le="0.025",operation="orders.create"}': 1,
      'starpost_http_request_duration_seconds_bucket{le="5",operation="orders.create"}': 2,
      'starpost_http_request_duration_seconds_sum{operation="orders.create"}': 3.02,
    });
  });

  it("measure the database when they are read", async () => {
    const metrics = createMetrics(sources);
    metrics.countLockWait(40);
    expect(readSamples(await metrics.read())).toMatchObject({
      starpost_account_lock_wait_seconds_sum: 0.04,
      starpost_account_lock_wait_seconds_count: 1,
      starpost_write_queue_length: 3,
      'starpost_database_pool_connections{state="idle"}': 4,
      'starpost_database_pool_connections{state="used"}': 6,
      starpost_database_pool_waiting: 2,
      starpost_database_up: 1,
      starpost_email_delay_seconds: 1.5,
      starpost_webhook_delay_seconds: 2.5,
      starpost_webhook_backlog: 7,
    });
  });

  it("count what is sent, from 0", async () => {
    const metrics = createMetrics(sources);
    metrics.countResult("emails", "sent", 2);
    metrics.countResult("emails", "held", 40);
    metrics.countResult("webhooks", "failed", 1);
    expect(readSamples(await metrics.read())).toMatchObject({
      'starpost_emails_total{result="sent"}': 2,
      'starpost_emails_total{result="bounced"}': 0,
      'starpost_emails_total{result="held"}': 40,
      'starpost_webhook_deliveries_total{result="delivered"}': 0,
      'starpost_webhook_deliveries_total{result="failed"}': 1,
    });
  });

  it("show the version, and imports by state", async () => {
    const readImports = () => ({ states: new Map([["finished", 0]]), lastFinishedMs: undefined });
    expect(readSamples(await createMetrics(sources).read())).toMatchObject({
      'starpost_build_info{version="1.2.3"}': 1,
      'starpost_imports{state="finished"}': 3,
      'starpost_imports{state="failed"}': 1,
      starpost_import_last_finished_timestamp_seconds: 1_760_000_000,
    });
    const samples = readSamples(await createMetrics({ ...sources, readImports }).read());
    expect(samples).not.toHaveProperty("starpost_import_last_finished_timestamp_seconds");
  });

  it("omit what is not known: connections to a file, and emails while the database does not answer", async () => {
    let isUp = true;
    const readDatabase = async () => {
      if (!isUp) throw new Error("down");
      return { emailDelayMs: 0, webhooks: undefined };
    };
    const metrics = createMetrics({ ...sources, poolUse: () => undefined, readDatabase });
    const first = readSamples(await metrics.read());
    expect(first).toMatchObject({ starpost_database_up: 1, starpost_email_delay_seconds: 0 });
    expect(Object.keys(first).join()).not.toMatch(/pool_connections|webhook_backlog|webhook_delay/);
    isUp = false;
    const second = readSamples(await metrics.read());
    expect(second["starpost_database_up"]).toBe(0);
    expect(second).not.toHaveProperty("starpost_email_delay_seconds");
  });

  it("show scheduled backups, and no time before the first", async () => {
    const names = ["last_success_timestamp_seconds", "size_bytes", "duration_seconds", "failures"];
    const read = async (changed: Partial<MetricSources>) => {
      const samples = readSamples(await createMetrics({ ...sources, ...changed }).read());
      return names.map((name) => samples[`starpost_backup_${name}`]);
    };
    expect(await read({})).toEqual([1_750_000_000, 4_096, 2.5, 1]);
    const none = { lastSuccessMs: undefined, bytes: 0, durationMs: 0, failures: 0 };
    expect(await read({ backupCounts: () => none })).toEqual([undefined, 0, 0, 0]);
    expect(await read({ backupCounts: undefined })).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("include those of Node.js and of the process", async () => {
    const text = await createMetrics(sources).read();
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  });
});

describe("the names of metrics", () => {
  const exported = async () => {
    const metrics = createMetrics(sources);
    metrics.countCall({ operation: "orders.create", status: 200, durationMs: 1 });
    metrics.countLockWait(1);
    const text = await metrics.read();
    const samples = [...text.matchAll(/^(\w+)(?:\{| )/gm)].map(([, name = ""]) => name);
    const types = [...text.matchAll(/^# TYPE (starpost_\w+) /gm)].map(([, name = ""]) => name);
    return { samples: new Set(samples), types };
  };
  /** The names of the labels of each metric. Prometheus adds `instance` and `job` to all. */
  const labelsOf = async () => {
    const metrics = createMetrics(sources);
    metrics.countCall({ operation: "orders.create", status: 200, durationMs: 1 });
    const labels: Record<string, readonly string[]> = {};
    for (const [, name = "", list = ""] of (await metrics.read()).matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
      labels[name] = ["instance", "job", ...[...list.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)];
    }
    return labels;
  };
  const namesIn = (text: string) => text.match(/\b(?:starpost|nodejs|process)_\w+/g) ?? [];

  it("are those that the dashboard queries", async () => {
    const text = await readFile("docs/operations/grafana-dashboard.json", "utf8");
    const { panels, templating } = JSON.parse(text) as {
      panels: { title: string; targets: { expr: string }[] }[];
      templating: { list: { query: string }[] };
    };
    const queries = [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...templating.list.map(({ query }) => query),
    ];
    const { samples, types } = await exported();
    const queried = queries.flatMap(namesIn);
    expect(queried.filter((name) => !samples.has(name))).toEqual([]);
    const unused = types.filter((type) => !queried.some((name) => name.startsWith(type)));
    expect(unused).toEqual([]);
  });

  it("have the labels that the dashboard uses", async () => {
    const text = await readFile("docs/operations/grafana-dashboard.json", "utf8");
    const { panels } = JSON.parse(text) as { panels: { targets: { expr: string; legendFormat?: string }[] }[] };
    const labels = await labelsOf();
    const unknown = panels
      .flatMap(({ targets }) => targets)
      .flatMap(({ expr, legendFormat = "" }) => {
        const exportedLabels = new Set(namesIn(expr).flatMap((name) => labels[name] ?? []));
        const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
        const selected = [...expr.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label);
        // An aggregation drops all other labels.
        const left = /^(?:sum|min|max|histogram_quantile|time)\b/.test(expr) ? new Set(kept) : exportedLabels;
        const shown = [...legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = ""]) => label);
        return [
          ...[...kept, ...selected].filter((label) => !exportedLabels.has(label)),
          ...shown.filter((label) => !left.has(label)),
        ].map((label) => `${label} in ${expr}`);
      });
    expect(unknown).toEqual([]);
  });

  it("are those that the documentation lists", async () => {
    const page = await readFile("docs/operations/monitoring.md", "utf8");
    const listed = [...page.matchAll(/^\| `(starpost_\w+)` \| (?:counter|gauge|histogram) /gm)].map(([, name]) => name);
    const { samples, types } = await exported();
    expect(new Set(listed)).toEqual(new Set(types));
    const unknown = namesIn(page).filter((name) => !samples.has(name) && !types.includes(name) && !name.endsWith("_"));
    expect(unknown).toEqual([]);
  });
});

describe("a server", () => {
  const opened: Pick<Server, "close">[] = [];
  afterEach(async () => {
    for (const server of opened.splice(0)) await server.close();
  });

  it("reports each answered call with its operation", async () => {
    const answered: AnsweredCall[] = [];
    const servers: Server[] = [];
    const { url } = await startServing(
      () => {
        throw new ServiceError("recordNotFound", "none");
      },
      { onAnswer: (call) => answered.push(call) },
      servers,
    );
    opened.push(...servers);
    await fetch(`${url}/products/secret-key/teapot/bottomline`);
    await fetch(`${url}/secret-key/unknown`);
    await fetch(`${url}/healthz`);
    // A response is reported after it was received.
    await expect.poll(() => answered.length).toBe(3);
    expect(answered.map(({ operation, status }) => [operation, status])).toEqual([
      ["reviews.bottomLine", 404],
      [undefined, 404],
      [undefined, 200],
    ]);
    expect(answered.every(({ durationMs }) => durationMs > 0)).toBe(true);
    expect(JSON.stringify(answered)).not.toContain("secret-key");
  });

  it("states whether it is ready, on both listeners", async () => {
    let isOk = true;
    const readReadiness = async () => ({ isReady: isOk, problem: isOk ? undefined : "too_few_connections" });
    const servers: Server[] = [];
    const { url } = await startServing(() => ({}), { readReadiness }, servers);
    const metricsServer = createMetricsServer(createMetrics(sources), readReadiness);
    opened.push(...servers, metricsServer);
    const urls = [url, (await metricsServer.listen({ host: "127.0.0.1", port: 0 })).url];
    const ask = (path: string) => Promise.all(urls.map(async (base) => (await fetch(base + path)).status));
    expect([await ask("/healthz"), await ask("/readyz")]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    isOk = false;
    expect([await ask("/healthz"), await ask("/readyz")]).toEqual([
      [200, 200],
      [503, 503],
    ]);
    const readBody = async (base: string): Promise<unknown> => (await fetch(`${base}/readyz`)).json();
    const body = { status: "unavailable", problem: "too_few_connections" };
    expect(await Promise.all(urls.map(readBody))).toEqual([body, body]);
    expect(await ask("/metrics")).toEqual([404, 200]);
    const response = await fetch(`${urls[1]}/metrics`);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=/);
    expect(readSamples(await response.text())).toMatchObject({ starpost_write_queue_length: 3 });
  });
});
