import { isTransientRejection, readStatus } from "./enhanced-status.ts";
import { asOneLine } from "../templates/rendered-email.ts";
import type { SendOutcome, SmtpSettings } from "./transport.ts";

export interface SmtpError extends Error {
  readonly code?: string;
  /** Code of the operating system, if `code` is a protocol code. */
  readonly originalCode?: string;
  /** The SMTP command or phase: `RCPT TO`, `DATA`, `CONN`, … */
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

interface FailureContext {
  readonly settings: SmtpSettings;
  /** Whether the session was established. */
  readonly isConnected: boolean;
  /** Whether transmission of the message had started. */
  readonly isTransmitting: boolean;
}

const maxResponseLength = 500;

/** The server refuses to relay with the current settings. This concerns all emails. */
const isRelayRefusal = (answer: string) =>
  /relay(?:ing)?\b.*\b(?:denied|not permitted|not allowed|prohibited)|authenticat\w+ (?:is )?required|not authenticated/i.test(
    answer,
  );
const isPolicyRefusal = (answer: string) =>
  /\b(?:spam|policy|blocked|blocklist|blacklist(?:ed)?|block list|black list|reputation|dmarc|spf|dkim)\b/i.test(
    answer,
  );

/**
 * Classifies a failure: whether it concerns the recipient, and whether it is permanent.
 * Source: RFC 5321 4.2, RFC 3463. Assumed: rejections of the sender or the login are not bounces; all emails wait until
 * the settings are corrected. If a server disconnects (421) during an email, that email is deferred, so that the next one
 * gets a chance. A rejection with 5.7 or because of a policy is `blocked`; one with 5.1 (or 553 without an enhanced code)
 * is `invalid_address`. The address is the cause if the code indicates it (5.1, or 5.2 except for a message that is too long),
 * or if the rejection came before the message and without an enhanced code. A full mailbox is not the address's fault.
 */
export function classifyFailure(error: SmtpError, context: FailureContext): SendOutcome {
  const { command, responseCode } = error;
  const { settings, isConnected, isTransmitting } = context;
  if (responseCode === undefined) return classifyWithoutResponse(error, context);
  const answer = readResponse(error);
  if (responseCode === 421 && isConnected) return { state: "deferred", answer };
  const { enhanced } = readStatus(answer);
  if (command === "MAIL FROM") {
    if (responseCode === 552 || enhanced === "5.3.4") return { state: "bounced", answer };
    if (responseCode < 500) return { state: "deferred", answer };
    return { state: "unreachable", problem: formatFailure(error, settings) };
  }
  if (command !== "RCPT TO" && command !== "DATA") {
    return { state: "unreachable", problem: formatFailure(error, settings), mayHaveArrived: isTransmitting };
  }
  if (responseCode < 500) return { state: "deferred", answer };
  const isAboutSender = responseCode === 530 || /^5\.1\.[78]$/.test(enhanced) || isRelayRefusal(answer);
  if (isAboutSender) return { state: "unreachable", problem: formatFailure(error, settings) };
  return classifyRejection(error, answer, enhanced);
}

/** Classifies a permanent rejection of a recipient or message. */
function classifyRejection({ command, responseCode }: SmtpError, answer: string, enhanced: string): SendOutcome {
  if (enhanced.startsWith("5.1.") || (responseCode === 553 && enhanced === ""))
    return { state: "invalid_address", answer, isOfAddress: true };
  if (enhanced.startsWith("5.7.") || isPolicyRefusal(answer)) return { state: "blocked", answer };
  if (isTransientRejection(answer)) return { state: "bounced", answer, isOfAddress: false };
  const isOfAddress = enhanced === "" ? command === "RCPT TO" : enhanced.startsWith("5.2.") && enhanced !== "5.2.3";
  return { state: "bounced", answer, isOfAddress };
}

function classifyWithoutResponse(error: SmtpError, { settings, isTransmitting }: FailureContext): SendOutcome {
  if (error.code === "EENVELOPE") return { state: "invalid_address", answer: asOneLine(error.message) };
  if (error.code === "EMESSAGE") return { state: "bounced", answer: asOneLine(error.message) };
  return { state: "unreachable", problem: formatFailure(error, settings), mayHaveArrived: isTransmitting };
}

/** Removes addresses, because these messages are logged and logs must not contain addresses. */
function redactAddresses(text: string): string {
  return text.replaceAll(/(?<![^\s<>"'(),;:])[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, "…@…");
}

function readResponse(error: SmtpError): string {
  return asOneLine(error.response ?? error.message).slice(0, maxResponseLength);
}

/** Describes why no emails can be sent, and what to do. */
export function formatFailure(error: SmtpError, settings: SmtpSettings): string {
  const place = `The mail server ${settings.host}:${settings.port}`;
  const response = error.response === undefined ? "" : `: ${readResponse(error)}`;
  if (error.code === "EAUTH" && (error.responseCode ?? 500) >= 500) {
    return `${place} rejected the login of ${settings.user ?? "no user"}${response}. To correct the user and password, run \`starpost mail configure\`.`;
  }
  if (error.command === "MAIL FROM") {
    return `${place} rejected the sender address${response}. To change it, run \`starpost mail configure --from\`.`;
  }
  if (error.command === "RCPT TO" || error.command === "DATA") {
    return `${place} refused to relay the email${redactAddresses(response)}. Check whether it requires a user and password.`;
  }
  if (error.code === "ETLS" && error.response !== undefined) {
    return `${place} does not support STARTTLS${response}. Configure --tls implicit or another port.`;
  }
  if (error.response !== undefined)
    return `${place} is not ready${redactAddresses(response)}. The connection will be retried.`;
  return `${place} ${describeConnectionError(error)}`;
}

const reasons: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, "refused the connection. Check the port and whether the server is running."],
  [/ENOTFOUND|EAI_AGAIN|EDNS/, "was not found. Check the host name."],
  [/EHOSTUNREACH|ENETUNREACH/, "cannot be reached from this network."],
  [
    /self.signed|unable to (?:verify|get)|CERT_|certificate/i,
    "has an untrusted certificate. For a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file.",
  ],
  [
    /wrong version number|packet length|WRONG_VERSION/i,
    "does not support implicit TLS on this port. Configure --tls starttls or another port.",
  ],
  [/ETIMEDOUT|timed? ?out/i, "did not respond in time. The connection will be retried."],
  [/ECONNRESET|EPIPE|closed/i, "closed the connection. It will be retried; if this happens repeatedly, check --tls."],
];

function describeConnectionError(error: SmtpError): string {
  const text = `${error.originalCode ?? ""} ${error.code ?? ""} ${error.message}`;
  const description = reasons.find(([pattern]) => pattern.test(text))?.[1];
  return description ?? `cannot be used: ${asOneLine(error.message).slice(0, maxResponseLength)}.`;
}
