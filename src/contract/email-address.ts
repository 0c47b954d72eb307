import { domainToASCII } from "node:url";
import { maxEmailLength } from "./storefront/limits.ts";

/** The characters of plain addresses, which are compared regardless of case and not otherwise. */
const plainPattern = /^[!-~]*$/;
// No dot is at an end or follows another one. `mailto:` is the beginning of a link.
const plainEmailPattern =
  /^(?!mailto:)[!#-'*+\-/-:=?A-~]+(?:\.[!#-'*+\-/-:=?A-~]+)*@[!#-'*+\-/-:=?A-~]+(?:\.[!#-'*+\-/-:=?A-~]+)*$/i;
const emailPattern = /^(?!mailto:)[^\s@,;<>()".]+(?:\.[^\s@,;<>()".]+)*@[^\s@,;<>()".]+(?:\.[^\s@,;<>()".]+)*$/i;

/** Control and format characters, and others that are not shown. */
const hidden = String.raw`\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}`;
const hiddenPattern = new RegExp(`[${hidden}]`, "u");
const droppedPattern = new RegExp(String.raw`[${hidden}\s]`, "gu");

/** Characters of domain names in any script, and the full stop of Chinese and Japanese, which separates labels too. */
const domainPattern = /^[\p{L}\p{M}\p{N}.。_-]+$/u;

/** Whether a text contains characters that are not shown, other than white space. */
export function hasHiddenCharacters(text: string): boolean {
  return !plainPattern.test(text) && hiddenPattern.test(text.replaceAll(/\s/g, ""));
}

/** Whether a text is an email address that consists of visible ASCII characters, as most are. */
export function isPlainEmail(text: string): boolean {
  return plainEmailPattern.test(text);
}

/** Whether a text is an email address, of the form `local@domain`. */
export function isEmail(text: string): boolean {
  if (plainPattern.test(text)) return plainEmailPattern.test(text);
  return emailPattern.test(text) && !hiddenPattern.test(text) && normalizeEmail(text) !== undefined;
}

/**
 * The key by which email addresses are compared: two spellings of an address have the same key. The domain is in ASCII,
 * compatibility characters such as full-width letters are replaced (NFKC), and the case is ignored.
 * Stored addresses of earlier versions may contain characters that are not shown, which are ignored too.
 */
export function emailKeyOf(email: string): string {
  if (plainPattern.test(email)) return email.toLowerCase();
  return normalizeEmail(email.replaceAll(droppedPattern, "")) ?? email.toLowerCase();
}

/** @returns undefined if the result is not an address */
function normalizeEmail(email: string): string | undefined {
  const compatible = email.normalize("NFKC");
  const at = compatible.lastIndexOf("@");
  if (at < 0) return undefined;
  // Lower case is not always in the form NFKC.
  const local = compatible.slice(0, at).toLowerCase().normalize("NFKC");
  const key = `${local}@${toAsciiDomain(compatible.slice(at + 1))}`;
  return key.length <= maxEmailLength && emailPattern.test(key) ? key : undefined;
}

/**
 * The domain in lower case and ASCII (RFC 5891), as mail servers expect it; empty if it is invalid. A domain in ASCII is not
 * checked.
 */
export function toAsciiDomain(domain: string): string {
  const compatible = domain.normalize("NFKC");
  if (plainPattern.test(compatible)) return compatible.toLowerCase();
  return domainPattern.test(compatible) ? domainToASCII(compatible) : "";
}

/** Providers that deliver emails for several addresses to the same mailbox: one of the domains, and what they ignore. */
const providers: readonly { readonly domains: readonly string[]; readonly ignored: RegExp }[] = [
  { domains: ["gmail.com", "googlemail.com"], ignored: /\./g },
  { domains: ["proton.me", "protonmail.com", "pm.me"], ignored: /[._-]/g },
  { domains: ["icloud.com", "me.com", "mac.com"], ignored: /$^/g },
];

/**
 * The mailbox that receives the emails to an address, as far as it is known: without its tag (`ann+tag@mail.example`), and for
 * large providers, without what they ignore. For limits only: elsewhere, each is an address of its own.
 */
export function mailboxOf(email: string): string {
  const key = emailKeyOf(email);
  const at = key.lastIndexOf("@");
  const [name = ""] = key.slice(0, at).split("+", 1);
  const domain = key.slice(at + 1);
  const provider = providers.find(({ domains }) => domains.includes(domain));
  return provider ? `${name.replaceAll(provider.ignored, "")}@${provider.domains[0]}` : `${name}@${domain}`;
}
