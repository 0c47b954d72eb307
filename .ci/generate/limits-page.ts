import {
  bodyLimits,
  coreRateLimit,
  emailSendingLimits,
  imageLimits,
  jsonLimits,
  maxBatchCharacters,
  maxBatchMethods,
  maxLength,
  maxTemplateLength,
  maxUnsubscribersPerCall,
  maxWebhooks,
  orderLimits,
  publicLimits,
  receivingLimits,
  reviewHolds,
  sendingLimits,
  templateLimits,
  utokenLimits,
  webhookSlots,
} from "../../src/contract/index.ts";
import { invitationLifetime } from "../../src/contract/invitations.ts";
import { dayMs } from "../../src/contract/time.ts";

type Row = readonly [limit: string, value: string];

const formatNumber = (value: number) => value.toLocaleString("en-US");

function formatBytes(bytes: number): string {
  const count = bytes / (1_024 * 1_024);
  return count >= 1 ? `${Math.round(count * 10) / 10} MiB` : `${bytes / 1_024} KiB`;
}

function formatMs(ms: number): string {
  const [unit, size] = ms % dayMs === 0 ? ["day", dayMs] : ["second", 1_000];
  const count = ms / size;
  return `${formatNumber(count)} ${unit}${count === 1 ? "" : "s"}`;
}

function formatRate({ requests, windowMs }: { readonly requests: number; readonly windowMs: number }): string {
  return `${requests} per ${formatMs(windowMs).replace(/^1 /, "")}`;
}

const requests: readonly Row[] = [
  ["body", formatBytes(bodyLimits.regular)],
  ["body of a call that carries a list of records", formatBytes(bodyLimits.bulk)],
  ["form", formatBytes(bodyLimits.form)],
  ["form on a page", formatBytes(bodyLimits.pageForm)],
  ["nesting of JSON", `${jsonLimits.depth} levels`],
  ["values in a JSON body", formatNumber(jsonLimits.values)],
  ["time to receive the headers", formatMs(receivingLimits.headersWithinMs)],
  ["time to receive a request", formatMs(receivingLimits.requestWithinMs)],
  ["time without data from the client", formatMs(receivingLimits.idleMs)],
  ["connections", formatNumber(receivingLimits.connections)],
  ["bodies in memory, of all connections", formatBytes(receivingLimits.bufferedBytes)],
  ["response", formatBytes(sendingLimits.responseBytes)],
  ["responses in memory that clients have not read, of all connections", formatBytes(sendingLimits.bufferedBytes)],
  ["time in which a client must read something", formatMs(sendingLimits.idleMs)],
  ["time in which a client must read a response", formatMs(sendingLimits.responseWithinMs)],
];

const records: readonly Row[] = [
  ["methods of a `/batch` call", formatNumber(maxBatchMethods)],
  ["characters of the reviews in a `/batch` response", formatNumber(maxBatchCharacters)],
  ["review, question, answer, or comment", `${formatNumber(maxLength.content)} characters`],
  ["links in a review before it is held", String(reviewHolds.maxLinks)],
  ["anonymous reviews per product and day before they are held", String(reviewHolds.maxAnonymousPerDay)],
  ["products of an order", formatNumber(orderLimits.products)],
  ["units of an order", formatNumber(orderLimits.units)],
  ["orders of a call", formatNumber(orderLimits.ordersPerCall)],
  ["units of a call", formatNumber(orderLimits.unitsPerCall)],
  ["products of a call that cancels emails of orders", formatNumber(orderLimits.cancellationsPerCall)],
  ["addresses of a call for unsubscribers", formatNumber(maxUnsubscribersPerCall)],
  ["photo", formatBytes(imageLimits.bytes)],
  ["subject of a template", `${formatNumber(maxTemplateLength.subject)} characters`],
  ["text and HTML of a template", `${formatNumber(maxTemplateLength.text)} characters each`],
  ["time to render a template", formatMs(templateLimits.renderMs)],
  ["memory to render a template", `${templateLimits.memoryMb} MB`],
  ["consecutive failures that disable a template", String(templateLimits.failures)],
];

const publicCalls: readonly Row[] = Object.entries(publicLimits).map(([name, limit]) => [
  `\`${name}\``,
  "perDay" in limit
    ? `${formatNumber(limit.perDay)} in any 24 hours`
    : `${formatNumber(limit.burst)} at once, then ${formatNumber(limit.perHour)} per hour`,
]);

const accounts: readonly Row[] = [
  ["emails per day (`starpost account set-email-quota`)", formatNumber(emailSendingLimits.perDay.default)],
  ["time for which an email may be held", formatMs(emailSendingLimits.holdMs)],
  ["approved recipients of test emails", formatNumber(emailSendingLimits.testRecipients)],
  ["webhooks", formatNumber(maxWebhooks)],
  ["webhook requests in flight", formatNumber(webhookSlots.perAccount)],
  ["webhook requests in flight of a worker", formatNumber(webhookSlots.perWorker)],
  ["validity of an invitation (`starpost account invite --expires-in`)", formatMs(invitationLifetime.defaultMs)],
  ["tokens", formatNumber(utokenLimits.perAccount)],
  ["validity of a token", formatMs(utokenLimits.lifetimeMs)],
  ["calls of the core API (with `--limit-legacy`, of all APIs)", formatRate(coreRateLimit)],
];

const notes: Readonly<Record<string, string>> = {
  "Calls without a token":
    "Change them with `starpost serve --public-limits`, for example `--public-limits votes-per-client=100/600`.\n\n",
};

const table = (rows: readonly Row[]) =>
  ["| limit | value |", "|---|---|", ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n");

/** Writes the page of all limits that the contract declares. */
export function writeLimitsPage(): string {
  const sections: readonly (readonly [string, readonly Row[]])[] = [
    ["Requests and responses", requests],
    ["Calls without a token", publicCalls],
    ["Records", records],
    ["Accounts", accounts],
  ];
  const text = sections.map(([title, rows]) => `## ${title}\n\n${notes[title] ?? ""}${table(rows)}\n`);
  return `# Limits

The limits of the service and their defaults. A limit that can be changed is listed with its command or flag.
[Serving the API](../operations/serving.md#limits) describes what happens beyond them, and the
[threat model](../operations/security.md) what they prevent.

${text.join("\n")}`;
}
