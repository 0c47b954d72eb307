import { Readable } from "node:stream";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { classifyFailure, type SmtpError, formatFailure } from "./smtp-responses.ts";
import type { ComposedMessage, EmailTransport, SendOutcome, SmtpSettings, TlsMode } from "./transport.ts";

export interface SmtpTimeouts {
  readonly connectMs: number;
  /** Maximum time without data from the server. */
  readonly idleMs: number;
}

/** Assumed: a server that does not respond within this time has lost the message. RFC 5321 recommends ten minutes. */
const defaultTimeouts: SmtpTimeouts = { connectMs: 30_000, idleMs: 120_000 };

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
export function openSmtp(settings: SmtpSettings, timeouts = defaultTimeouts): EmailTransport {
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
      if (!supportsUtf8 && !isAscii(message.to)) return rejectUtf8Address(message.to);
      const answer = await transmit(connection, message, () => (isTransmitting = true));
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
  await new Promise<void>((resolve, reject) => {
    // Stays for the lifetime of the connection, because an unhandled error event would end the process.
    connection.on("error", reject);
    connection.on("end", () => reject(new Error("Connection closed unexpectedly")));
    const settle = (error?: Error | null) => (error ? reject(error) : resolve());
    connection.connect((error) => {
      session.supportsUtf8 = /[ -]SMTPUTF8\b/i.test(connection.lastServerResponse || "");
      if (error || settings.user === null) return settle(error);
      connection.login({ user: settings.user, pass: settings.password ?? "" }, settle);
    });
  }).catch((error: unknown) => {
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

function isAscii(text: string): boolean {
  return !/[^\p{ASCII}]/u.test(text);
}

/** Assumed: this is permanent, because a server without SMTPUTF8 will not support it on the next attempt. */
function rejectUtf8Address(address: string): SendOutcome {
  const answer = `the mail server does not support non-ASCII addresses (SMTPUTF8): ${address}`;
  return { state: "invalid_address", answer };
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
