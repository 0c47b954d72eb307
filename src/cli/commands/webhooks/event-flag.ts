import type { WebhookEvent } from "../../../contract/index.ts";
import { valuesOfField } from "../../program/field-values.ts";
import { readOneOf } from "../records/import-flags.ts";

/** The events that webhooks can receive. */
export const eventNames = valuesOfField("webhooks.create", "event_name") as readonly WebhookEvent[];

/** @throws UserError `usage` */
export function readEvent(text: string, flag: string): WebhookEvent {
  return readOneOf(text, eventNames, flag);
}
