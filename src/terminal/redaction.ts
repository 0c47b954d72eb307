import { createHmac } from "node:crypto";

/** Replaces an email address with a pseudonym, always the same one for the same address. */
export type Pseudonym = (address: string) => string;

/** The maximum number of characters buffered because they may be part of an address; longer than any address. */
const maxBuffered = 65_536;

/**
 * Sample addresses in the program's own hints. The domain `.example` is reserved, so they belong to nobody.
 * Assumed: such an address is also shown if it occurs in the user's data.
 */
const ownSamples: ReadonlySet<string> = new Set(["name@shop.example"]);

/** A pseudonym, or its start in a shortened text. */
function isPseudonym(address: string): boolean {
  const [name = "", host = ""] = address.split("@", 2);
  return /^person-[0-9a-f]{10}$/.test(name) && "redacted.invalid".startsWith(host);
}

/**
 * Creates pseudonyms from a keyed hash of the address, ignoring case: `person-3f9ac2d41b@redacted.invalid`. Pseudonyms
 * and the program's own sample addresses stay unchanged.
 */
export function createPseudonym(key: Buffer): Pseudonym {
  const cache = new Map<string, string>();
  return (address) => {
    if (isPseudonym(address) || ownSamples.has(address)) return address;
    const normalized = address.toLowerCase();
    const cached = cache.get(normalized);
    if (cached !== undefined) return cached;
    const digest = createHmac("sha256", key).update(normalized).digest("hex");
    const token = `person-${digest.slice(0, 10)}@redacted.invalid`;
    if (cache.size >= 10_000) cache.clear();
    cache.set(normalized, token);
    return token;
  };
}

/** Hides the addresses in text that arrives in chunks, even if a chunk ends within an address. */
export class Redaction {
  readonly #pseudonym: Pseudonym;
  #buffer = "";

  constructor(pseudonym: Pseudonym) {
    this.#pseudonym = pseudonym;
  }

  /** Returns the text that is complete; buffers the end of a chunk that may be the start of an address. */
  push(chunk: string): string {
    const text = this.#buffer + chunk;
    let end = text.length;
    while (end > 0 && text.length - end < maxBuffered && isOfAddress(text, end - 1)) end--;
    this.#buffer = text.slice(end);
    return hideAddresses(text.slice(0, end), this.#pseudonym);
  }

  flush(): string {
    const shown = hideAddresses(this.#buffer, this.#pseudonym);
    this.#buffer = "";
    return shown;
  }
}

/** Replaces all addresses in a text. Only examines the characters around each `@`, so the time is linear. */
export function hideAddresses(text: string, pseudonym: Pseudonym): string {
  let shown = "";
  let done = 0;
  for (const { index, 0: sign } of text.matchAll(/@+|%40/gi)) {
    if (index < done) continue;
    const start = findStart(text, done, index);
    const end = findEnd(text, index + sign.length);
    if (start === index && end === index + sign.length) continue;
    // A name without a host is hidden as well: the address may be truncated or invalid.
    if (start === index && !isQuotedName(text, index)) continue;
    const address = `${text.slice(start, index)}@${text.slice(index + sign.length, end)}`;
    const token = pseudonym(address);
    shown += text.slice(done, start) + (sign.startsWith("%") ? token.replace("@", sign) : token);
    done = end;
  }
  return shown + text.slice(done);
}

/** Finds the start of the name before the `@` sign. */
function findStart(text: string, from: number, sign: number): number {
  let start = sign;
  while (start > from && isNameCharacter(text.charCodeAt(start - 1))) start--;
  start += lengthOfEscape(text, start, sign);
  while (start < sign && text[start] === "'") start++;
  return start;
}

/** The length of an escape sequence directly before a name: `\n` and `\u00e9` in JSON, or a terminal color. */
function lengthOfEscape(text: string, start: number, sign: number): number {
  const last = text[start - 1];
  if (last === "\\") {
    let slashes = 1;
    while (text[start - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return 0;
    return /^u[0-9a-f]{4}/i.exec(text.slice(start, start + 5))?.[0].length ?? 1;
  }
  if (last !== "[" && last !== ";") return 0;
  const before = text.slice(Math.max(0, start - 20), start);
  const isColor = /^[0-9;]*$/.test(before.slice(before.lastIndexOf("\u001B[") + 2)) && before.includes("\u001B[");
  return isColor ? (/^[0-9]*[A-Za-z]/.exec(text.slice(start, sign))?.[0].length ?? 0) : 0;
}

/** Finds the end of the host after the `@` sign. A trailing period belongs to the sentence. */
function findEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isHostCharacter(text.charCodeAt(end))) end++;
  while (end > from && hostSymbols.has(text.charCodeAt(end - 1))) end--;
  return end;
}

/** `"a name"@host`: the host is hidden, but the quotes stay, because CSV and JSON need them. */
function isQuotedName(text: string, sign: number): boolean {
  return text[sign - 1] === '"' && /^@+[^\s"'@,;:]+\.[a-z]/i.test(text.slice(sign, sign + 260));
}

function isOfAddress(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // A backslash or a quote may start an escape sequence or a quoted name.
  return isNameCharacter(code) || code === 0x40 || code === 0x5c || code === 0x22 || code === 0x5b || code === 0x1b;
}

function readCodes(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters, "latin1"));
}

const nameSymbols = readCodes("!#$%'*+-?^_~.");
const hostSymbols = readCodes("-_.");

function isNameCharacter(code: number): boolean {
  return isLetterOrDigit(code) || nameSymbols.has(code) || isNonLatinLetter(code);
}

function isHostCharacter(code: number): boolean {
  return isLetterOrDigit(code) || hostSymbols.has(code) || isNonLatinLetter(code);
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

/** Letters of other scripts, but no spaces, quotation marks, dashes, or dots. */
function isNonLatinLetter(code: number): boolean {
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba;
  return !(code >= 0x2000 && code <= 0x206f) && !(code >= 0x3000 && code <= 0x3003) && code !== 0xfeff;
}
