import { defaultHints } from "../../src/cli/program/errors/failure.ts";
import { credentialErrors, type ErrorKind, errorKinds } from "../../src/contract/errors.ts";
import { storageHints } from "../../src/storage/storage-error.ts";
import type { StorageProblem } from "../../src/storage/storage-error.ts";
import { mark, marker } from "./command-docs.ts";
import { type Message, readMessages } from "./messages.ts";

/** Why an error of a kind occurs, the exit status of the command, and what to do if the message has no hint of its own. */
type Cause = readonly [why: string, status: string, hint?: string];

const doctorHint = "Do what the line `fix:` below it states.";

const ownCauses: Readonly<Record<string, Cause>> = {
  usage: [
    "A flag, an argument, a variable, or a file is not valid. Nothing was sent.",
    "2",
    "Correct it; `--help` shows what the command accepts.",
  ],
  failed: [
    "The command is valid, but could not be carried out.",
    "1",
    "Correct what the message states, and run the command again.",
  ],
  auth: ["There are no credentials, or they are not valid.", "4", "Run `starpost auth login`."],
  temporary: ["The service or the database cannot be used now.", "5", "Try again later."],
  interrupted: [
    "A signal or a key has ended the command.",
    "130",
    "Run the command again; to continue an import, run `starpost imports resume <id>`.",
  ],
  delivery: [
    "A webhook could not be delivered (`starpost webhooks deliveries` shows it), or a photo not copied (`starpost images fetch`).",
    "0; 3 for photos",
    "Check the receiver. starpost retries webhooks for three days; to send one now, run `starpost webhooks redeliver`.",
  ],
  problem: ["`starpost doctor` found something that does not work.", "1, 4, or 5", doctorHint],
  warning: ["`starpost doctor` found something that may not work for long.", "0", doctorHint],
};

const serviceCauses: Readonly<Record<ErrorKind, readonly [why: string, hint?: string]>> = {
  invalidParams: [
    "A value of the call is missing, not valid, or beyond a limit.",
    "Correct the value. See `starpost api <operation> --help` and the limits.",
  ],
  recordNotFound: ["The account has no such record, or the service no such account."],
  featureDisabled: [
    "The account, or a feature of it, is turned off.",
    "Ask the operator of the service, or run `starpost account set-feature`.",
  ],
  unauthorized: ["The token is missing, not valid, or expired."],
  roleDenied: ["The role of the credential does not permit the call."],
  unsupportedGrant: ["The service issues tokens for `client_credentials` only.", "Send `grant_type` with this value."],
  invalidClient: ["The secret does not belong to the app key."],
  tooManyRequests: ["The rate limit is used up."],
  internal: ["The service failed. Its log contains the request ID."],
  malformedBody: ["The request or its body cannot be read.", "Correct the request: JSON in UTF-8."],
  invalidIdempotencyKey: [
    "The idempotency key is too long, or belongs to another input.",
    "Use a new key for each call.",
  ],
  bodyTooLarge: ["The body is larger than the limit of the call.", "Send fewer or smaller records."],
  unsupportedMediaType: [
    "The body is not of a type that the call accepts.",
    "Send JSON, with `Content-Type: application/json`.",
  ],
  unknownPath: ["The service has no such call.", "Check the path: `starpost api --list`."],
  methodNotAllowed: ["The path exists, but not with this method.", "Use one of the methods that the message lists."],
  unavailable: ["The service or its database is locked, stopping, overloaded, or cannot be reached."],
  storageFailed: [
    "The database of the service needs the operator.",
    "Run `starpost doctor` on the machine of the service.",
  ],
  timeout: ["There was no response in time. The call may have been carried out."],
  unexpectedAnswer: ["The response is not one of this API: the address leads to something else."],
};

const storageCauses: Readonly<Record<StorageProblem, string>> = {
  busy: "Another process has locked the database.",
  noConnection: "All connections to the database are in use.",
  unreachable: "The PostgreSQL server cannot be reached.",
  unsure: "The connection was lost during a write, which may have been carried out.",
  full: "The disk is full, or failing.",
  readOnly: "The database cannot be written.",
  damaged: "The database, or a part of it, is damaged.",
  notOurs: "The database does not belong to starpost.",
  cannotOpen: "The database cannot be opened.",
  missing: "There is no database.",
  deleted: "The database file was deleted or replaced while it was in use.",
};

const rejected: ReadonlySet<string> = credentialErrors;
const lasting: ReadonlySet<string> = new Set<StorageProblem>([
  "full",
  "readOnly",
  "damaged",
  "notOurs",
  "cannotOpen",
  "missing",
]);

const kinds: Readonly<Record<string, Cause>> = {
  ...ownCauses,
  ...Object.fromEntries(
    Object.entries(serviceCauses).map(([kind, [why, hint]]): [string, Cause] => {
      const { http, temporary } = errorKinds[kind as ErrorKind];
      const status =
        kind === "recordNotFound" ? "1; 4 for the account" : rejected.has(kind) ? "4" : temporary ? "5" : "1";
      return [kind, [`${why} HTTP status ${http}.`, status, hint ?? defaultHints[kind as ErrorKind]]];
    }),
  ),
  ...Object.fromEntries(
    Object.entries(storageCauses).map(([kind, why]): [string, Cause] => {
      return [kind, [why, lasting.has(kind) ? "1" : "5", storageHints[kind as StorageProblem]]];
    }),
  ),
};

/** The parts of the page, with the folders of `src` whose messages they list. */
const parts: readonly (readonly [title: string, folders: RegExp])[] = [
  ["Command line", /^(?:cli|terminal|main)/],
  ["Settings and credentials", /^(?:config|app\/app)/],
  ["Imports and exports", /^(?:import|records|export)\//],
  ["Databases and backups", /^(?:storage|backup|app)\//],
  ["Remote services", /^(?:client|service)\//],
  ["The service", /^(?:engine(?!\/webhooks\/checked-request)|contract|server|pages)\//],
  ["Email and webhooks", /^(?:email|worker|engine)\//],
  ["starpost doctor", /^doctor\//],
];

/** The files whose messages describe failed requests to other servers. */
const isDelivery = /^(?:worker\/webhooks\/|engine\/webhooks\/checked-request)/;

const code = (text: string) => {
  const line = text.replaceAll("\n", " ").replaceAll("|", "\\|");
  return line.includes("`") ? `\`\` ${line} \`\`` : `\`${line}\``;
};

const sentence = (text: string) =>
  mark(text.charAt(0).toUpperCase() + text.slice(1))
    .replaceAll("|", "\\|")
    .replace(/(?<=\w)$/, ".");

function formatRow({ text, hints, kind }: Message): string {
  const own = hints.map((hint) => (/^(?:chmod|sudo) /.test(hint) ? `Run ${code(hint)}.` : sentence(hint)));
  const advice = own.length === 0 ? sentence(kinds[kind]?.[2] ?? "") : own.join(" Or: ");
  return `| ${code(text)} | [${kind}](#kinds) | ${advice} |`;
}

function formatPart(title: string, messages: readonly Message[]): string {
  const rows = [...new Set(messages.map(formatRow))].toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  return `## ${title}\n\n| message | why | what to do |\n|---|---|---|\n${rows.join("\n")}\n`;
}

/** Writes the page of all error messages that the sources declare. */
export function writeErrorsPage(): string {
  const found = readMessages("src").map(({ kind, ...message }) => {
    return Object.assign(message, { kind: isDelivery.test(message.file) ? "delivery" : kind });
  });
  const left = new Set(found.filter(({ kind }) => kind in kinds));
  const tables = parts.map(([title, folders]) => {
    const own = [...left].filter(({ file }) => folders.test(file));
    for (const message of own) left.delete(message);
    return own.length === 0 ? "" : formatPart(title, own);
  });
  if (left.size > 0) throw new Error(`no part of the page lists the messages of ${[...left][0]?.file}`);
  const rows = Object.entries(kinds).map(([kind, [why, status, hint = ""]]) => {
    return `| ${kind} | ${why} | ${sentence(hint)} | ${status} |`;
  });
  return `${marker}

# Error messages

Search this page for a part of the message without names and numbers: \`<name>\` stands for a value, and \`…\` for several. Most messages
name their reason; the [kind](#kinds) of the error states the cause in general. With \`--json\`, \`error.kind\` is the kind, or for a
problem with a database that of the call. Rows that an import rejects have [codes](rejects.md) instead.

${tables.filter((table) => table !== "").join("\n")}
## Kinds

| kind | why | what to do, unless the message states it | exit status |
|---|---|---|---|
${rows.join("\n")}
`;
}
