import { asOneLine } from "../templates/rendered-email.ts";
import type { SendOutcome, SmtpSettings } from "./transport.ts";

/** What nodemailer tells of a failure. */
export interface SmtpError extends Error {
  readonly code?: string;
  /** The system's own code, where `code` is the protocol's. */
  readonly originalCode?: string;
  /** What was being said: `RCPT TO`, `DATA`, `CONN`, … */
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

interface Circumstances {
  readonly settings: SmtpSettings;
  /** Whether the server was ready, and had been told of a mail. */
  readonly isBegun: boolean;
  /** Whether the message itself had begun to go out. */
  readonly isGiven: boolean;
}

const longestAnswer = 500;

/** The server is not ours to use as it is configured: true of every mail, whoever it is to. */
const isRelayRefusal = (answer: string) =>
  /relay(?:ing)?\b.*\b(?:denied|not permitted|not allowed|prohibited)|authenticat\w+ (?:is )?required|not authenticated/i.test(
    answer,
  );
const isPolicyRefusal = (answer: string) =>
  /\b(?:spam|policy|blocked|blocklist|blacklist(?:ed)?|block list|black list|reputation|dmarc|spf|dkim)\b/i.test(
    answer,
  );

/**
 * Reads a refusal: whether it is the receiver's, and whether it is for good.
 * Source: RFC 5321 4.2, RFC 3463. Assumed: what a server says of the sender, or of signing in, is nobody's bounce: all
 * mails wait until the settings are corrected. A server that closes (421) in the middle of a mail puts that mail off, so
 * that the next one has its turn. A refusal with 5.7 or for a policy is `blocked`, one with 5.1 (or 553
 * without a finer code) `invalid_address`. A refusal is the address's own where it says so (5.1, 5.2 but a message that
 * is too long), or came before the message without saying why.
 */
export function classifyFailure(error: SmtpError, circumstances: Circumstances): SendOutcome {
  const { command, responseCode } = error;
  const { settings, isBegun, isGiven } = circumstances;
  if (responseCode === undefined) return judgeWithoutAnswer(error, circumstances);
  const answer = answerOf(error);
  if (responseCode === 421 && isBegun) return { state: "deferred", answer };
  const fine = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})/.exec(answer)?.[1] ?? "";
  const isAboutSender = responseCode === 530 || /^5\.1\.[78]$/.test(fine) || isRelayRefusal(answer);
  if (command === "MAIL FROM") {
    if (responseCode === 552 || fine === "5.3.4") return { state: "bounced", answer };
    if (responseCode < 500) return { state: "deferred", answer };
    return { state: "unreachable", problem: formatFailure(error, settings) };
  }
  if (command !== "RCPT TO" && command !== "DATA") {
    return { state: "unreachable", problem: formatFailure(error, settings), mayHaveArrived: isGiven };
  }
  if (responseCode < 500) return { state: "deferred", answer };
  if (isAboutSender) return { state: "unreachable", problem: formatFailure(error, settings) };
  if (fine.startsWith("5.1.") || (responseCode === 553 && fine === ""))
    return { state: "invalid_address", answer, isOfAddress: true };
  if (fine.startsWith("5.7.") || isPolicyRefusal(answer)) return { state: "blocked", answer };
  const isOfAddress = fine === "" ? command === "RCPT TO" : fine.startsWith("5.2.") && fine !== "5.2.3";
  return { state: "bounced", answer, isOfAddress };
}

function judgeWithoutAnswer(error: SmtpError, { settings, isGiven }: Circumstances): SendOutcome {
  if (error.code === "EENVELOPE") return { state: "invalid_address", answer: asOneLine(error.message) };
  if (error.code === "EMESSAGE") return { state: "bounced", answer: asOneLine(error.message) };
  return { state: "unreachable", problem: formatFailure(error, settings), mayHaveArrived: isGiven };
}

/** What is said of all mails is logged, and no log holds the address of a person. */
function withoutAddresses(words: string): string {
  return words.replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, "…@…");
}

function answerOf(error: SmtpError): string {
  return asOneLine(error.response ?? error.message).slice(0, longestAnswer);
}

/** Why nothing can be sent, in words: where, what, and what to do. */
export function formatFailure(error: SmtpError, settings: SmtpSettings): string {
  const place = `The mail server ${settings.host}:${settings.port}`;
  const said = error.response === undefined ? "" : `: ${answerOf(error)}`;
  if (error.code === "EAUTH" && (error.responseCode ?? 500) >= 500) {
    return `${place} refused to sign in ${settings.user ?? "nobody"}${said}. Correct user and password: starpost mail configure.`;
  }
  if (error.command === "MAIL FROM") {
    return `${place} refused the sender's address${said}. Configure one that it takes: starpost mail configure --from.`;
  }
  if (error.command === "RCPT TO" || error.command === "DATA") {
    return `${place} does not pass mails on as it is configured${withoutAddresses(said)}. Does it want a user and a password?`;
  }
  if (error.code === "ETLS" && error.response !== undefined) {
    return `${place} offers no STARTTLS${said}. Configure --tls implicit, or another port.`;
  }
  if (error.response !== undefined)
    return `${place} is not ready${withoutAddresses(said)}. It is tried again.`;
  return `${place} ${reasonOf(error)}`;
}

const reasons: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, "refused the connection. Is it the right port, and does the server run?"],
  [/ENOTFOUND|EAI_AGAIN|EDNS/, "is not to be found. Is its name spelled right?"],
  [/EHOSTUNREACH|ENETUNREACH/, "is out of reach of this machine's network."],
  [
    /self.signed|unable to (?:verify|get)|CERT_|certificate/i,
    "has a certificate that is not trusted. Where it is your own, name the file of its authority in NODE_EXTRA_CA_CERTS.",
  ],
  [
    /wrong version number|packet length|WRONG_VERSION/i,
    "does not speak TLS from the first byte on this port. Configure --tls starttls, or another port.",
  ],
  [/ETIMEDOUT|timed? ?out/i, "did not answer in time. It is tried again."],
  [
    /ECONNRESET|EPIPE|closed/i,
    "ended the connection. It is tried again; where it does so always, look at --tls.",
  ],
];

function reasonOf(error: SmtpError): string {
  const told = `${error.originalCode ?? ""} ${error.code ?? ""} ${error.message}`;
  const known = reasons.find(([pattern]) => pattern.test(told))?.[1];
  return known ?? `cannot be used: ${asOneLine(error.message).slice(0, longestAnswer)}.`;
}
