import type { OutgoingEmail } from "../../src/email/outgoing-email.ts";
import { createSampleEmail } from "../../src/email/templates/check-template.ts";

/** Returns a due email for one product of an order. */
export function anOutgoingEmail(fields: Partial<OutgoingEmail> = {}): OutgoingEmail {
  return { id: 7, accountId: 1, appKey: "app-key", ...createSampleEmail("map"), key: "mail-7.abc", ...fields };
}
