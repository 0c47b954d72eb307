import { createHmac } from "node:crypto";

/** Puts something else in the place of an address; the same for the same address. */
export type Pseudonym = (address: string) => string;

/** The most that is kept back of a text that may go on in the middle of an address; far longer than any address. */
const longestRest = 65_536;

/**
 * Addresses in the program's own hints, which are nobody's: `.example` is given to no one.
 * Assumed: a customer in a file under exactly such an address is shown.
 */
const ownSamples: ReadonlySet<string> = new Set(["name@shop.example"]);

const tokenPattern = /^person-[0-9a-f]{10}@redacted\.invalid$/;

/**
 * Names people by a keyed hash of their address: `person-3f9ac2d41b@redacted.invalid`. Upper and lower case are one
 * address; what is named so already stays, and so do the program's own samples.
 */
export function createPseudonym(key: Buffer): Pseudonym {
  const known = new Map<string, string>();
  return (address) => {
    if (tokenPattern.test(address) || ownSamples.has(address)) return address;
    const same = address.toLowerCase();
    const found = known.get(same);
    if (found !== undefined) return found;
    const digest = createHmac("sha256", key).update(same).digest("hex");
    const token = `person-${digest.slice(0, 10)}@redacted.invalid`;
    if (known.size >= 10_000) known.clear();
    known.set(same, token);
    return token;
  };
}

/** Hides the addresses in a text that comes piece by piece, wherever it is cut. */
export class Redaction {
  readonly #pseudonym: Pseudonym;
  #rest = "";

  constructor(pseudonym: Pseudonym) {
    this.#pseudonym = pseudonym;
  }

  /** @returns what can be shown by now: an address may go on in the next piece */
  push(piece: string): string {
    const text = this.#rest + piece;
    let end = text.length;
    while (end > 0 && text.length - end < longestRest && isOfAddress(text, end - 1)) end--;
    this.#rest = text.slice(end);
    return hideAddresses(text.slice(0, end), this.#pseudonym);
  }

  /** @returns what was kept back */
  flush(): string {
    const shown = hideAddresses(this.#rest, this.#pseudonym);
    this.#rest = "";
    return shown;
  }
}

/** Looks at what stands around each `@` alone, so that a long text costs one look through. */
export function hideAddresses(text: string, pseudonym: Pseudonym): string {
  let shown = "";
  let done = 0;
  for (const { index, 0: sign } of text.matchAll(/@+|%40/gi)) {
    if (index < done) continue;
    const start = findStart(text, done, index);
    const end = findEnd(text, index + sign.length);
    if (start === index && end === index + sign.length) continue;
    // An address alone has both; a name before the sign, cut off or wrong, is hidden as well.
    if (start === index && !isQuotedName(text, index)) continue;
    const address = `${text.slice(start, index)}@${text.slice(index + sign.length, end)}`;
    const token = pseudonym(address);
    shown += text.slice(done, start) + (sign.startsWith("%") ? token.replace("@", sign) : token);
    done = end;
  }
  return shown + text.slice(done);
}

/** Where the name before the sign begins. */
function findStart(text: string, from: number, sign: number): number {
  let start = sign;
  while (start > from && isNameCharacter(text.charCodeAt(start - 1))) start--;
  start += lengthOfEscape(text, start, sign);
  while (start < sign && text[start] === "'") start++;
  return start;
}

/** What before a name belongs to what stands before it: `\n` and `\u00e9` in JSON, the colours of a terminal. */
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
  const isColour =
    /^[0-9;]*$/.test(before.slice(before.lastIndexOf("\u001B[") + 2)) && before.includes("\u001B[");
  return isColour ? (/^[0-9]*[A-Za-z]/.exec(text.slice(start, sign))?.[0].length ?? 0) : 0;
}

/** Where the host behind the sign ends; a full stop at the end is the sentence's. */
function findEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && isHostCharacter(text.charCodeAt(end))) end++;
  while (end > from && hostSigns.has(text.charCodeAt(end - 1))) end--;
  return end;
}

/** `"a name"@host`: the host is hidden, the quotes stay what they are to CSV and JSON. */
function isQuotedName(text: string, sign: number): boolean {
  return text[sign - 1] === '"' && /^@+[^\s"'@,;:]+\.[a-z]/i.test(text.slice(sign, sign + 260));
}

function isOfAddress(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // A backslash or a quote may be the beginning of an escape, or of a name in quotes.
  return (
    isNameCharacter(code) || code === 0x40 || code === 0x5c || code === 0x22 || code === 0x5b || code === 0x1b
  );
}

function readCodes(signs: string): ReadonlySet<number> {
  return new Set(Buffer.from(signs, "latin1"));
}

const nameSigns = readCodes("!#$%'*+-?^_~.");
const hostSigns = readCodes("-_.");

function isNameCharacter(code: number): boolean {
  return isLetterOrDigit(code) || nameSigns.has(code) || isForeign(code);
}

function isHostCharacter(code: number): boolean {
  return isLetterOrDigit(code) || hostSigns.has(code) || isForeign(code);
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

/** Letters of other alphabets; not spaces, and not the quotes, dashes and dots of prose. */
function isForeign(code: number): boolean {
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba;
  return !(code >= 0x2000 && code <= 0x206f) && !(code >= 0x3000 && code <= 0x3003) && code !== 0xfeff;
}
