import type { OutgoingMail } from "../../src/email/outgoing-email.ts";
import { sampleMail } from "../../src/email/templates/sample-email.ts";

/** A mail that is due, of one product of an order. */
export function anOutgoingMail(fields: Partial<OutgoingMail> = {}): OutgoingMail {
  return {
    id: 7,
    accountId: 1,
    ...sampleMail("map"),
    key: "mail-7.abc",
    ...fields,
  };
}
