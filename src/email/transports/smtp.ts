import { setTimeout as sleep } from "node:timers/promises";
import { Readable } from "node:stream";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import type { ComposedMessage, EmailTransport, SendOutcome, SmtpSettings, TlsMode } from "./transport.ts";
import { isTransientRejection, readStatus } from "./enhanced-status.ts";
import { asOneLine } from "../templates/rendered-email.ts";

export interface SmtpTimeouts {
  readonly connectMs: number;
  /** Maximum time without data from the server, and to open a session or to send a message in total. */
  readonly idleMs: number;
}

/** Assumed: a server that does not respond within this time has lost the message. RFC 5321 recommends ten minutes. */
export const smtpTimeouts: SmtpTimeouts = { connectMs: 30_000, idleMs: 120_000 };

/** Time limit for closing the session. */
const quitTimeoutMs = 2_000;

/** Assumed: with opportunistic TLS, an untrusted certificate is better than no encryption. */
const tlsOptions: Readonly<Record<TlsMode, object>> = {
  implicit: { secure: true },
  starttls: { requireTLS: true },
  opportunistic: { opportunisticTLS: true, tls: { rejectUnauthorized: false } },
  none: { ignoreTLS: true },
};

const tlsDescriptions: Readonly<Record<TlsMode, string>> = {
  implicit: "encrypted",
  starttls: "encrypted (STARTTLS)",
  opportunistic: "encrypted only if the server supports it",
  none: "NOT encrypted",
};

interface Session {
  readonly connection: SMTPConnection;
  /** Whether the server supports non-ASCII local parts of addresses (RFC 6531). */
  supportsUtf8: boolean;
  isClosed: boolean;
}

/** Opens a transport with one connection to a mail server, which is established on first use and then reused. */
export function openSmtp(settings: SmtpSettings, timeouts = smtpTimeouts): EmailTransport {
  const place = `${settings.host}:${settings.port}`;
  let session: Session | undefined;

  async function getSession(): Promise<Session> {
    if (!session || session.isClosed) session = await openSession(settings, timeouts);
    return session;
  }

  async function end(): Promise<void> {
    const current = session;
    session = undefined;
    if (current && !current.isClosed) await quit(current);
  }

  async function send(message: ComposedMessage): Promise<SendOutcome> {
    const wasOpen = session !== undefined && !session.isClosed;
    const outcome = await attempt(message);
    // The server may have closed an idle connection. If the message was not transmitted, it is safe to try again.
    const isStale = wasOpen && outcome.state === "unreachable" && !outcome.mayHaveArrived && session === undefined;
    return isStale ? await attempt(message) : outcome;
  }

  async function attempt(message: ComposedMessage): Promise<SendOutcome> {
    let isConnected = false;
    let isTransmitting = false;
    try {
      const { connection, supportsUtf8 } = await getSession();
      isConnected = true;
      if (!supportsUtf8 && /[^\p{ASCII}]/u.test(message.to)) {
        // Assumed: this is permanent, because a server without SMTPUTF8 will not support it on the next attempt.
        const problem = "the mail server does not support non-ASCII addresses (SMTPUTF8)";
        return { state: "invalid_address", answer: `${problem}: ${message.to}` };
      }
      const sending = transmit(connection, message, () => (isTransmitting = true));
      const answer = await within(timeouts.idleMs, sending);
      return { state: "accepted", answer };
    } catch (error) {
      const outcome = classifyFailure(error as SmtpError, { settings, isConnected, isTransmitting });
      if (outcome.state === "unreachable" || !(await reset(session))) {
        session?.connection.close();
        session = undefined;
      }
      return outcome;
    }
  }

  return {
    send,
    check: async () => {
      try {
        await end();
        await getSession();
        await end();
        return { ready: true };
      } catch (error) {
        return { ready: false, problem: formatFailure(error as SmtpError, settings) };
      }
    },
    close: end,
    describe: () => {
      const user = settings.user === null ? "without authentication" : `as user ${settings.user}`;
      return `the mail server ${place}, ${tlsDescriptions[settings.tls]}, ${user}`;
    },
  };
}

/** Ends the wait for a server that takes too long in total, although it sends something now and then. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = sleep(ms, undefined, { signal: late.signal, ref: false }).then(() => {
    throw Object.assign(new Error("Timeout"), { code: "ETIMEDOUT" });
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    late.abort();
    timeout.catch(() => {});
  }
}

async function openSession(settings: SmtpSettings, timeouts: SmtpTimeouts): Promise<Session> {
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  const connection = new Connection({
    host: settings.host,
    port: settings.port,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.connectMs,
    dnsTimeout: timeouts.connectMs,
    socketTimeout: timeouts.idleMs,
    ...tlsOptions[settings.tls],
  });
  const session: Session = { connection, supportsUtf8: false, isClosed: false };
  connection.on("end", () => (session.isClosed = true));
  const opening = new Promise<void>((resolve, reject) => {
    // Stays for the lifetime of the connection, because an unhandled error event would end the process.
    connection.on("error", reject);
    connection.on("end", () => reject(new Error("Connection closed unexpectedly")));
    const settle = (error?: Error | null) => (error ? reject(error) : resolve());
    connection.connect((error) => {
      session.supportsUtf8 = /[ -]SMTPUTF8\b/i.test(connection.lastServerResponse || "");
      if (error || settings.user === null) return settle(error);
      connection.login({ user: settings.user, pass: settings.password ?? "" }, settle);
    });
  });
  await within(timeouts.idleMs, opening).catch((error: unknown) => {
    connection.close();
    throw error;
  });
  return session;
}

/** Resolves to the response of the server. Calls `onStart` before the first byte of the message is sent. */
function transmit(connection: SMTPConnection, message: ComposedMessage, onStart: () => void): Promise<string> {
  const body = new Readable({
    read() {
      onStart();
      this.push(message.raw);
      this.push(null);
    },
  });
  const envelope = { from: message.from, to: [message.to], size: message.raw.length };
  return new Promise((resolve, reject) => {
    connection.send(envelope, body, (error, sent) => {
      if (error) reject(error);
      else resolve(sent?.response ?? "");
    });
  });
}

/** Resets the session after a rejected message. Returns whether it can be used for the next one. */
async function reset(session: Session | undefined): Promise<boolean> {
  if (!session || session.isClosed) return false;
  return await new Promise((resolve) => {
    session.connection.once("end", () => resolve(false));
    session.connection.reset((error) => resolve(!error));
  });
}

async function quit({ connection }: Session): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, quitTimeoutMs);
    connection.once("end", () => {
      clearTimeout(timer);
      resolve();
    });
    connection.quit();
  });
  connection.close();
}

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
  const unreachable = { state: "unreachable", problem: formatFailure(error, settings) } as const;
  if (responseCode === undefined) {
    const answer = asOneLine(error.message);
    if (error.code === "EENVELOPE") return { state: "invalid_address", answer };
    if (error.code === "EMESSAGE") return { state: "bounced", answer };
    return { ...unreachable, mayHaveArrived: isTransmitting };
  }
  const answer = readResponse(error);
  if (responseCode === 421 && isConnected) return { state: "deferred", answer };
  const { enhanced } = readStatus(answer);
  if (command === "MAIL FROM") {
    if (responseCode === 552 || enhanced === "5.3.4") return { state: "bounced", answer };
    if (responseCode < 500) return { state: "deferred", answer };
    return unreachable;
  }
  if (command !== "RCPT TO" && command !== "DATA") return { ...unreachable, mayHaveArrived: isTransmitting };
  if (responseCode < 500) return { state: "deferred", answer };
  const isAboutSender = responseCode === 530 || /^5\.1\.[78]$/.test(enhanced) || isRelayRefusal(answer);
  if (isAboutSender) return unreachable;
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
  const text = `${error.originalCode ?? ""} ${error.code ?? ""} ${error.message}`;
  const description = reasons.find(([pattern]) => pattern.test(text))?.[1];
  return `${place} ${description ?? `cannot be used: ${asOneLine(error.message).slice(0, maxResponseLength)}.`}`;
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
