import { createHash } from "node:crypto";
import {
  type EmailEventName,
  emailKeyOf,
  maxProviderEvents,
  type ProviderEvent,
  providerEvent,
  ServiceError,
} from "../../../contract/index.ts";
import { isTransientRejection } from "../../../email/transports/enhanced-status.ts";

/** An event reported by a provider, of a supported kind. */
export interface ProviderEmailEvent {
  readonly event: EmailEventName;
  /** The left part of the Message-ID, if given. */
  readonly messageKey: string | undefined;
  /** ID of the email at the provider, if given. */
  readonly providerId: string | undefined;
  /** Key of the recipient's address, if given. */
  readonly addressKey: string | undefined;
  /** Identifies repeats of the event. */
  readonly key: string;
  readonly detail: string | undefined;
  /** Whether the cause of a bounce usually passes, such as a full mailbox. */
  readonly isTransient: boolean;
  /** Milliseconds. */
  readonly occurredAtMs: number | undefined;
}

/** An element of the list. `event` is undefined if the kind is not supported or the element is invalid. */
export type ProviderElement =
  | ProviderEmailEvent
  | ({ readonly event: undefined } & Partial<Omit<ProviderEmailEvent, "event">>);

/**
 * Parses the body of a provider's webhook call.
 * @throws ServiceError `malformedBody`, `invalidParams`
 * Assumed: elements with an invalid structure are ignored, like unsupported kinds.
 */
export function parseProviderEvents(body: string): readonly ProviderElement[] {
  const elements = parseBody(body);
  if (!Array.isArray(elements)) throw new ServiceError("invalidParams", "the body must be an array of events");
  if (elements.length > maxProviderEvents) {
    throw new ServiceError("invalidParams", `the body contains more than ${maxProviderEvents} events`);
  }
  return elements.map(parseElement);
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new ServiceError("malformedBody", "the body is not valid JSON");
  }
}

function parseElement(element: unknown): ProviderElement {
  const { success, data } = providerEvent().safeParse(element);
  if (!success) return { event: undefined };
  const target = {
    messageKey: parseMessageId(data["smtp-id"]),
    providerId: normalizeId(data.sg_message_id),
    addressKey: data.email === undefined ? undefined : emailKeyOf(data.email),
  };
  const event = findEventName(data);
  if (event === undefined) return { event, ...target };
  return {
    event,
    ...target,
    key: normalizeId(data.sg_event_id) ?? hash(JSON.stringify([data.event, data.timestamp, target])),
    detail: formatDetail(data),
    isTransient: [data.status, data.reason, data.response].some((text) => isTransientRejection(text ?? "")),
    occurredAtMs: parseTimestamp(data.timestamp),
  };
}

/** Returns the left part of `<left@right>`, which is the message key of the email. */
function parseMessageId(text: string | undefined): string | undefined {
  return /^\s*<?([^<>@\s]{1,200})@/.exec(text ?? "")?.[1];
}

/** Returns an ID assigned by the provider, or its hash if it is long or contains unusual characters. */
function normalizeId(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  return /^[\w.:=+/@-]{1,200}$/.test(text) ? text : hash(text);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function parseTimestamp(timestamp: ProviderEvent["timestamp"]): number | undefined {
  const ms = Math.trunc(Number(timestamp) * 1_000);
  return Number.isSafeInteger(ms) && ms > 0 ? ms : undefined;
}

/** Assumed: the URL of a click is not stored, because links in emails may contain secrets of the recipient. */
function formatDetail({ reason, response, status }: ProviderEvent): string | undefined {
  const parts = [status, reason ?? response].filter((part) => part !== undefined && part.trim() !== "");
  return parts.length === 0 ? undefined : parts.join(" ");
}

/**
 * The event name for each kind of provider event.
 * Source: common practice of email providers. Assumed: resubscribing to a group at the provider has no effect here; only
 * a request to the store can undo an unsubscription.
 */
const eventNames: Readonly<Record<string, EmailEventName>> = {
  deferred: "deferred",
  delivered: "delivered",
  open: "opened",
  click: "clicked",
  spamreport: "spam_reported",
  unsubscribe: "unsubscribed",
  group_unsubscribe: "unsubscribed",
};

/** The event name for each reason why a provider drops an email without sending it, by the beginning of the reason. */
const dropReasons: readonly (readonly [string, EmailEventName])[] = [
  ["bounced address", "dropped_bounced"],
  ["unsubscribed address", "dropped_unsubscribed"],
  ["spam reporting address", "dropped_spam_reported"],
  ["spam content", "spam_dropped"],
  ["invalid smtpapi", "failed"],
  ["invalid", "invalid_address"],
];

function findEventName({ event, type, reason = "" }: ProviderEvent): EmailEventName | undefined {
  if (event === "bounce") return type === "blocked" ? "blocked" : "bounced";
  if (event === "dropped") {
    const text = reason.trim().toLowerCase();
    return dropReasons.find(([prefix]) => text.startsWith(prefix))?.[1] ?? "failed";
  }
  return Object.hasOwn(eventNames, event) ? eventNames[event] : undefined;
}
