import { domainToASCII } from "node:url";
import { UserError } from "./user-error.ts";

/** Who mails come from; without a name they come under the store's. */
export interface MailSender {
  readonly name: string | null;
  readonly address: string;
}

/**
 * Reads `Name <address>`, `"Name" <address>` or the address alone.
 * @throws UserError `usage`
 */
export function readSender(text: string, source: string): MailSender {
  const named = /^(?<name>[^<>]*)<(?<inner>[^<>]*)>$/.exec(text.trim())?.groups;
  const address = (named?.["inner"] ?? text).trim();
  const name = (named?.["name"] ?? "")
    .trim()
    .replace(/^"(.*)"$/, "$1")
    .trim();
  if (isAddress(address) && !/\p{Cc}/u.test(name)) return { name: name === "" ? null : name, address };
  throw new UserError(
    "usage",
    `${source}: ${JSON.stringify(text)} is no address to send from`,
    'Give one such as "Tea & Cups <reviews@shop.example>".',
  );
}

export function writeSender({ name, address }: MailSender): string {
  return name === null ? address : `${name} <${address}>`;
}

/** Assumed: what mails come from is in ASCII before the `@`, so that every server takes it. */
function isAddress(text: string): boolean {
  const at = text.lastIndexOf("@");
  const isLocal = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/.test(
    text.slice(0, at),
  );
  return at > 0 && at <= 64 && isLocal && domainToASCII(text.slice(at + 1)) !== "";
}
