import { createHash } from "node:crypto";
import {
  type EmailEventName,
  maxProviderEvents,
  type ProviderEvent,
  providerEvent,
  ServiceError,
} from "../../../contract/index.ts";

/** What a provider says happened to a mail, as far as it means something here. */
export interface ToldEvent {
  readonly event: EmailEventName;
  /** The left part of the mail's Message-ID, where it is told. */
  readonly messageKey: string | undefined;
  /** What the provider calls the mail, where it says. */
  readonly providerId: string | undefined;
  /** The receiver in lower case, where it is told. */
  readonly addressKey: string | undefined;
  /** What tells a repeat. */
  readonly key: string;
  readonly detail: string | undefined;
  /** Milliseconds. */
  readonly occurredAtMs: number | undefined;
}

/** An element of the list; nothing is known of one that cannot be read. */
export type ProviderElement = ToldEvent | ({ readonly event: undefined } & Partial<Omit<ToldEvent, "event">>);

/**
 * Reads what a provider sends.
 * @throws ServiceError `malformedBody`, `invalidParams`
 * Assumed: an element that is not of the form is one that means nothing here, as is a kind that is not known.
 */
export function readProviderEvents(body: string): readonly ProviderElement[] {
  const sent = parse(body);
  if (!Array.isArray(sent)) throw new ServiceError("invalidParams", "the body must be a list of events");
  if (sent.length > maxProviderEvents) {
    throw new ServiceError("invalidParams", `the body holds more than ${maxProviderEvents} events`);
  }
  return sent.map(readElement);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new ServiceError("malformedBody", "the body is not JSON");
  }
}

function readElement(sent: unknown): ProviderElement {
  const { success, data } = providerEvent().safeParse(sent);
  if (!success) return { event: undefined };
  const place = {
    messageKey: readMessageId(data["smtp-id"]),
    providerId: readName(data.sg_message_id),
    addressKey: data.email?.toLowerCase(),
  };
  const event = nameEvent(data);
  if (event === undefined) return { event, ...place };
  return {
    event,
    ...place,
    key: readName(data.sg_event_id) ?? hash(JSON.stringify([data.event, data.timestamp, place])),
    detail: describe(data),
    occurredAtMs: readTime(data.timestamp),
  };
}

/** `<left@right>`; the left part names our mail. */
function readMessageId(text: string | undefined): string | undefined {
  return /^\s*<?([^<>@\s]{1,200})@/.exec(text ?? "")?.[1];
}

/** A name that someone else gave: as it is where it is of a usual form, else its hash, which any column holds. */
function readName(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  return /^[\w.:=+/@-]{1,200}$/.test(text) ? text : hash(text);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function readTime(timestamp: ProviderEvent["timestamp"]): number | undefined {
  const ms = Number(timestamp) * 1_000;
  return Number.isSafeInteger(Math.trunc(ms)) && ms > 0 ? Math.trunc(ms) : undefined;
}

/** Assumed: what a person clicked on is not kept: a mail's links hold what only its reader is to know. */
function describe({ reason, response, status }: ProviderEvent): string | undefined {
  const words = [status, reason ?? response].filter((part) => part !== undefined && part.trim() !== "");
  return words.length === 0 ? undefined : words.join(" ");
}

/**
 * What the provider's kinds are here.
 * Source: practice of mail providers. Assumed: who comes back to a group of mails at the provider stays unsubscribed
 * here, since nothing but the person's own word to the store can take that back.
 */
const plainKinds: Readonly<Record<string, EmailEventName>> = {
  deferred: "deferred",
  delivered: "delivered",
  open: "opened",
  click: "clicked",
  spamreport: "spam_reported",
  unsubscribe: "unsubscribed",
  group_unsubscribe: "unsubscribed",
};

/** Why a provider drops a mail without sending it; the beginning of its words. */
const dropReasons: readonly (readonly [string, EmailEventName])[] = [
  ["bounced address", "dropped_bounced"],
  ["unsubscribed address", "dropped_unsubscribed"],
  ["spam reporting address", "dropped_spam_reported"],
  ["spam content", "spam_dropped"],
  ["invalid smtpapi", "failed"],
  ["invalid", "invalid_address"],
];

function nameEvent({ event, type, reason = "" }: ProviderEvent): EmailEventName | undefined {
  if (event === "bounce") return type === "blocked" ? "blocked" : "bounced";
  if (event === "dropped") {
    const words = reason.trim().toLowerCase();
    return dropReasons.find(([start]) => words.startsWith(start))?.[1] ?? "failed";
  }
  return Object.hasOwn(plainKinds, event) ? plainKinds[event] : undefined;
}
