import { maxHeaderSize } from "node:http";
import {
  bodyLimitOf,
  bodyLimits,
  coreRateLimit,
  emailSendingLimits,
  endpointOf,
  idempotencyKeys,
  imageLimits,
  imageReadLimits,
  jsonLimits,
  maxActorName,
  maxBatchCharacters,
  maxBatchMethods,
  maxCredentials,
  maxFormFields,
  maxLength,
  maxTemplateLength,
  maxDeliveriesPerCall,
  maxUnsubscribersPerCall,
  maxWebhooks,
  orderLimits,
  photoLimits,
  publicLimits,
  receivingLimits,
  reviewHolds,
  sendingLimits,
  siteShare,
  templateLimits,
  utokenLimits,
  webhookRequestLimits,
  webhookSlots,
} from "../../src/contract/index.ts";
import { invitationLifetime } from "../../src/contract/invitations.ts";
import { serviceWaits } from "../../src/client/service-limit.ts";
import { smtpTimeouts } from "../../src/email/transports/smtp.ts";
import { dayMs, minuteMs } from "../../src/contract/time.ts";
import { zipLimits } from "../../src/import/source/containers/zip-directory.ts";
import { workbookLimits } from "../../src/import/source/conversion/workbook/shared-strings.ts";

type Row = readonly [limit: string, value: string, beyond?: string];

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

const invalid = "`InvalidParams`";
const divided = "`InvalidParams`; an import divides its calls";
const photoError = "error about `image`";
const unavailable = "503 with `Retry-After`";
const orderError = "error about `products`; an import rejects the row (`order_too_large`)";

const requests: readonly Row[] = [
  ["request line and headers", formatBytes(maxHeaderSize), "431"],
  ["body", formatBytes(bodyLimits.regular), "413"],
  ["body of a call that carries a list of records", formatBytes(bodyLimits.bulk), "413"],
  ["body of a call that needs no token", formatBytes(bodyLimits.open), "413"],
  ["body with a photo, in base64", formatBytes(bodyLimitOf(endpointOf("images.upload"))), "413"],
  ["form", formatBytes(bodyLimits.form), "413"],
  ["form on a page", formatBytes(bodyLimits.pageForm), "413"],
  ["fields of a form or a query", formatNumber(maxFormFields), invalid],
  ["nesting of JSON", `${jsonLimits.open.depth} levels`, invalid],
  ["values in a JSON body", formatNumber(jsonLimits.withToken.values), invalid],
  ["different field names in a JSON body", formatNumber(jsonLimits.withToken.names), invalid],
  ["values in a JSON body of a call that needs no token", formatNumber(jsonLimits.open.values), invalid],
  ["different field names in a JSON body of such a call", formatNumber(jsonLimits.open.names), invalid],
  ["time to receive the headers", formatMs(receivingLimits.headersWithinMs), "408"],
  ["time to receive a request", formatMs(receivingLimits.requestWithinMs), "408"],
  ["time without data from the client", formatMs(receivingLimits.idleMs), "408"],
  [
    "connections",
    formatNumber(receivingLimits.connections),
    "the connection that has waited the longest for a complete request is closed",
  ],
  [
    "bodies in memory, of all connections",
    formatBytes(receivingLimits.bufferedBytes),
    `${unavailable}, for the body that has waited for data the longest`,
  ],
  ["response", formatBytes(sendingLimits.responseBytes), "`InvalidParams`; request fewer elements per page"],
  [
    "responses in memory that clients have not read, of all connections",
    formatBytes(sendingLimits.bufferedBytes),
    "the connection of the oldest one is closed",
  ],
  ["time in which a client must read something", formatMs(sendingLimits.idleMs), "the connection is closed"],
  ["time in which a client must read a response", formatMs(sendingLimits.responseWithinMs), "the connection is closed"],
];

const records: readonly Row[] = [
  ["methods of a `/batch` call", formatNumber(maxBatchMethods), invalid],
  ["characters of the reviews in a `/batch` response", formatNumber(maxBatchCharacters), invalid],
  [
    "review, question, answer, or comment",
    `${formatNumber(maxLength.content)} characters`,
    "error about the field; an import rejects the row (`too_long`)",
  ],
  [
    "description of a product in a review or a question without a token",
    `${formatNumber(maxLength.publicDescription)} characters`,
    "error about the field",
  ],
  ["name of who makes changes (`by`, `Starpost-By`)", `${maxActorName.any} characters`, invalid],
  ["idempotency key", `${idempotencyKeys.maxLength} characters`, "`InvalidIdempotencyKey`"],
  ["links in a review before it is held", String(reviewHolds.maxLinks)],
  ["anonymous reviews per product and day before they are held", String(reviewHolds.maxAnonymousPerDay)],
  ["products of an order", formatNumber(orderLimits.products), orderError],
  ["units of an order", formatNumber(orderLimits.units), orderError],
  ["orders of a call", formatNumber(orderLimits.ordersPerCall), divided],
  ["units of a call", formatNumber(orderLimits.unitsPerCall), divided],
  ["invalid values in the orders of a call", formatNumber(orderLimits.problemsPerCall), divided],
  [
    "products of a call that creates or updates them",
    formatNumber(endpointOf("products.massCreate").batch?.max ?? 0),
    divided,
  ],
  ["products of a call that cancels emails of orders", formatNumber(orderLimits.cancellationsPerCall), invalid],
  ["addresses of a call for unsubscribers", formatNumber(maxUnsubscribersPerCall), invalid],
  ["deliveries to webhooks that a call queues", formatNumber(maxDeliveriesPerCall), invalid],
  ["photo", formatBytes(imageLimits.bytes), photoError],
  ["pixels of a photo", `${photoLimits.decodedBytes / 3e6} megapixels`, photoError],
  [
    "pixels of a progressive JPEG, WebP, or GIF, or with 16 bits per channel",
    `${photoLimits.decodedBytes / 6e6} megapixels`,
    photoError,
  ],
  ...Object.entries(photoLimits.sizes).map(([edge, bytes]): Row => [
    `size of a photo with at most ${formatNumber(Number(edge))} pixels at the longer edge`,
    `${bytes / 1e3} KB`,
  ]),
  ["time to download a photo (`starpost images fetch`)", formatMs(imageLimits.downloadMs)],
  [
    "photos in memory, from the first byte to the response",
    formatNumber(receivingLimits.uploads.atOnce),
    "others wait",
  ],
  ["photos that wait for that, without being received", formatNumber(receivingLimits.uploads.waiting), unavailable],
  ["time that they wait", formatMs(receivingLimits.uploads.waitMs), unavailable],
  ["time to receive a photo while others wait", formatMs(receivingLimits.uploads.receiveMs), unavailable],
  ["photos that are read at the same time", formatNumber(imageReadLimits.atOnce)],
  ["requests that wait for a photo", formatNumber(imageReadLimits.waiting), unavailable],
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
    : limit.perHour === 0
      ? formatNumber(limit.burst)
      : `${formatNumber(limit.burst)} at once, then ${formatNumber(limit.perHour)} per hour`,
]);

const accounts: readonly Row[] = [
  ["space for photos (`starpost serve --photo-storage`)", `${photoLimits.bytesPerAccount / 1_024 ** 3} GB`, "413"],
  [
    "emails per day (`starpost account set-email-quota`)",
    formatNumber(emailSendingLimits.perDay.default),
    "the others are held",
  ],
  ["time for which an email may be held", formatMs(emailSendingLimits.holdMs)],
  ["approved recipients of test emails", formatNumber(emailSendingLimits.testRecipients)],
  ["webhooks", formatNumber(maxWebhooks), invalid],
  ["webhook requests in flight", formatNumber(webhookSlots.perAccount)],
  ["webhook requests in flight of a worker", formatNumber(webhookSlots.perWorker)],
  ["validity of an invitation (`starpost account invite --expires-in`)", formatMs(invitationLifetime.defaultMs)],
  ["tokens", formatNumber(utokenLimits.perAccount), "the oldest is revoked"],
  ["validity of a token", formatMs(utokenLimits.lifetimeMs)],
  ["credentials with a role", formatNumber(maxCredentials), invalid],
  ["calls of the core API (with `--limit-legacy`, of all APIs)", formatRate(coreRateLimit), "429 with `Retry-After`"],
];

const files: readonly Row[] = [
  ["files and folders in a ZIP archive", formatNumber(zipLimits.files)],
  ["tables in a ZIP archive that are imported", formatNumber(zipLimits.tables)],
  ["rows of a sheet", "1,048,576"],
  ["different texts (shared strings) of an Excel workbook", formatNumber(workbookLimits.texts)],
  ["size of these texts", formatBytes(workbookLimits.bytes)],
  ["elements of the part with these texts", formatNumber(workbookLimits.textElements)],
  ["elements of a list of sheets, parts, or formats", formatNumber(workbookLimits.listElements)],
  ["elements of a sheet that are not cells", `${formatNumber(workbookLimits.otherElements)}, and 8 per cell`],
];

const remote: readonly Row[] = [
  ["one wait that a service asks for (`Retry-After`)", `${serviceWaits.eachMs / minuteMs} minutes`],
  ["waits of a call in total", `${serviceWaits.totalMs / minuteMs} minutes`],
  ["connecting to a mail server", formatMs(smtpTimeouts.connectMs)],
  ["opening a session with a mail server, or sending it an email", formatMs(smtpTimeouts.idleMs)],
  ["webhook request", formatMs(webhookRequestLimits.ms)],
  ["response to a webhook request that is read", formatBytes(webhookRequestLimits.responseBytes)],
];

const notes: Readonly<Record<string, string>> = {
  "Imported files":
    "Larger files are refused with status 2 before anything is sent; see [File formats](imports.md#file-formats).\n\n",
  "Remote services":
    "A command that would wait longer ends with status 5, and names the time that the service asks for.\n\n",
  "Calls without a token":
    "Change them with `starpost serve --public-limits`, for example `--public-limits votes-per-client=100/600`. " +
    `The clients in a /48 network of IPv6 together have ${siteShare} times the limit of a client.\n\n`,
};

function formatTable(rows: readonly Row[]): string {
  const columns = rows.some(([, , beyond]) => beyond !== undefined) ? 3 : 2;
  const header = ["limit", "value", "beyond it"].slice(0, columns);
  const format = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const lines = rows.map((row) => format(header.map((_, at) => row[at] ?? "")));
  return [format(header), `|${"---|".repeat(columns)}`, ...lines].join("\n");
}

/** Writes the page of all limits that the contract declares. */
export function writeLimitsPage(): string {
  const sections: readonly (readonly [string, readonly Row[]])[] = [
    ["Requests and responses", requests],
    ["Calls without a token", publicCalls],
    ["Records", records],
    ["Accounts", accounts],
    ["Imported files", files],
    ["Remote services", remote],
  ];
  const text = sections.map(([title, rows]) => `## ${title}\n\n${notes[title] ?? ""}${formatTable(rows)}\n`);
  return `# Limits

The limits of the service, their defaults, and what happens beyond them. A limit that can be changed is listed with its command
or flag. See also how a server [divides its time](../operations/serving.md#limits), and what the limits
[prevent](../operations/security.md).

${text.join("\n")}`;
}
