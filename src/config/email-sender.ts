import { domainToASCII } from "node:url";
import { usageError } from "./user-error.ts";

/** The sender of emails. Without a name, the name of the store is used. */
export interface EmailSender {
  readonly name: string | null;
  readonly address: string;
}

/**
 * Parses `Name <address>`, `"Name" <address>` or an address.
 * @throws UserError `usage`
 */
export function parseSender(text: string, source: string): EmailSender {
  const named = /^(?<name>[^<>]*)<(?<inner>[^<>]*)>$/.exec(text.trim())?.groups;
  const address = (named?.["inner"] ?? text).trim();
  const name = (named?.["name"] ?? "")
    .trim()
    .replace(/^"(.*)"$/, "$1")
    .trim();
  if (isAddress(address) && !/\p{Cc}/u.test(name)) return { name: name === "" ? null : name, address };
  throw usageError(
    `invalid value ${JSON.stringify(text)} for ${source}: must be an email address, optionally with a name`,
    'For example: "Tea & Cups <reviews@shop.example>".',
  );
}

export function formatSender({ name, address }: EmailSender): string {
  return name === null ? address : `${name} <${address}>`;
}

/** Assumed: the local part of the sender is ASCII, so that every mail server accepts it. */
function isAddress(text: string): boolean {
  const at = text.lastIndexOf("@");
  const isLocal = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/.test(text.slice(0, at));
  return at > 0 && at <= 64 && isLocal && domainToASCII(text.slice(at + 1)) !== "";
}
