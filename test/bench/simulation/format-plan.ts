import type { Plan } from "./simulation.ts";

const rows: readonly (readonly [string, (plan: Plan) => string])[] = [
  ["orders per second, busiest hour", (plan) => count(plan.ordersPerSecond)],
  ["emails per second, busiest hour", (plan) => count(plan.emailsPerSecond)],
  ["reads per second that reach a server", (plan) => count(plan.readsPerSecond)],
  ["reads per second that a CDN answers", (plan) => count(plan.cachedReadsPerSecond)],
  ["statements per second", (plan) => count(plan.statementsPerSecond)],
  ["of these, polls of workers", (plan) => count(plan.pollsPerSecond)],
  ["busy cores of servers", (plan) => count(plan.serverCores)],
  ["busy cores of PostgreSQL", (plan) => count(plan.postgresCores)],
  ["growth per year", (plan) => size(plan.gigabytesPerYear)],
  ["data in total", (plan) => size(plan.gigabytes)],
  ["`starpost serve` processes", (plan) => count(plan.servers)],
  ["PostgreSQL servers", ({ postgresServers }) => countOrNone(postgresServers)],
  ["standbys, so that lost servers stop no shop", ({ standbys }) => countOrNone(standbys)],
  [
    "shops that one lost server stops, without standbys",
    ({ postgresServers }) => (postgresServers === undefined ? "–" : `${count(100 / postgresServers)}%`),
  ],
  ["largest shop: orders per second, busiest hour", ({ largest }) => count(largest.ordersPerSecond)],
  ["largest shop: of what one account sustains", ({ largest }) => `${count(largest.used)}%`],
  ["largest shop: data in total", ({ largest }) => size(largest.gigabytes)],
];

/** Formats plans as a Markdown table, one column each. */
export function formatPlans(plans: readonly Plan[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(["shops", ...plans.map(({ shops }) => count(shops))]),
    line(["---", ...plans.map(() => "---:")]),
    ...rows.map(([name, format]) => line([name, ...plans.map(format)])),
  ].join("\n");
}

/** Formats a number with two digits, or as an integer if it is larger. */
export function count(value: number): string {
  if (value === 0 || value >= 100) return Math.round(value).toLocaleString("en-US");
  return Number(value.toPrecision(2)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

const countOrNone = (value: number | undefined) => (value === undefined ? "the largest does not fit" : count(value));

function size(gigabytes: number): string {
  if (gigabytes >= 1_000) return `${count(gigabytes / 1_000)} TB`;
  return gigabytes >= 1 ? `${count(gigabytes)} GB` : `${count(gigabytes * 1_000)} MB`;
}
