import { Readable } from "node:stream";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { classifyFailure, type SmtpError, formatFailure } from "./smtp-responses.ts";
import type { ComposedMessage, EmailTransport, SendOutcome, SmtpSettings, TlsMode } from "./transport.ts";

export interface SmtpTimeouts {
  readonly connectMs: number;
  /** Without a byte from the server. */
  readonly silenceMs: number;
}

/** Assumed: a server that answers a message later than this has lost it; RFC 5321 has patience for ten minutes. */
const usualTimeouts: SmtpTimeouts = { connectMs: 30_000, silenceMs: 120_000 };

/** How long the server may take to say goodbye. */
const goodbyeMs = 2_000;

/** Assumed: where TLS is taken only if it is offered, a certificate that nobody vouches for is better than none. */
const tlsOptions: Readonly<Record<TlsMode, object>> = {
  implicit: { secure: true },
  starttls: { requireTLS: true },
  opportunistic: { opportunisticTLS: true, tls: { rejectUnauthorized: false } },
  none: { ignoreTLS: true },
};

const tlsWords: Readonly<Record<TlsMode, string>> = {
  implicit: "encrypted",
  starttls: "encrypted (STARTTLS)",
  opportunistic: "encrypted only where the server offers it",
  none: "NOT encrypted",
};

interface Session {
  readonly connection: SMTPConnection;
  /** Whether addresses may have other letters than ASCII before the `@` (RFC 6531). */
  takesUtf8: boolean;
  isOver: boolean;
}

/** One connection to a mail server, opened when it is needed and kept for the mails that follow. */
export function openSmtp(settings: SmtpSettings, timeouts = usualTimeouts): EmailTransport {
  const place = `${settings.host}:${settings.port}`;
  let kept: Session | undefined;

  async function takeSession(): Promise<Session> {
    if (!kept || kept.isOver) kept = await openSession(settings, timeouts);
    return kept;
  }

  async function end(): Promise<void> {
    const session = kept;
    kept = undefined;
    if (session && !session.isOver) await quit(session);
  }

  async function send(message: ComposedMessage): Promise<SendOutcome> {
    const wasOpen = kept !== undefined && !kept.isOver;
    const handed = await handOver(message);
    // A server may end a connection that was idle; that says nothing, as long as the message was not given.
    const isStale = wasOpen && handed.state === "unreachable" && !handed.mayHaveArrived && kept === undefined;
    return isStale ? await handOver(message) : handed;
  }

  async function handOver(message: ComposedMessage): Promise<SendOutcome> {
    let isBegun = false;
    let isGiven = false;
    try {
      const session = await takeSession();
      isBegun = true;
      if (!session.takesUtf8 && !isAscii(message.to)) return unmailable(message.to);
      const answer = await give(session.connection, message, () => (isGiven = true));
      return { state: "accepted", answer };
    } catch (error) {
      const refusal = classifyFailure(error as SmtpError, { settings, isBegun, isGiven });
      if (refusal.state === "unreachable" || !(await isReset(kept))) {
        kept?.connection.close();
        kept = undefined;
      }
      return refusal;
    }
  }

  return {
    send,
    check: async () => {
      try {
        await end();
        await takeSession();
        await end();
        return { ready: true };
      } catch (error) {
        return { ready: false, problem: formatFailure(error as SmtpError, settings) };
      }
    },
    close: end,
    describe: () => {
      const user = settings.user === null ? "without signing in" : `as ${settings.user}`;
      return `the mail server ${place}, ${tlsWords[settings.tls]}, ${user}`;
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
    socketTimeout: timeouts.silenceMs,
    ...tlsOptions[settings.tls],
  });
  const session: Session = { connection, takesUtf8: false, isOver: false };
  connection.on("end", () => (session.isOver = true));
  await new Promise<void>((resolve, reject) => {
    // Stays for the life of the connection: an error that nobody listens to would end the process.
    connection.on("error", reject);
    connection.on("end", () => reject(new Error("Connection closed unexpectedly")));
    const settle = (error?: Error | null) => (error ? reject(error) : resolve());
    connection.connect((error) => {
      session.takesUtf8 = /[ -]SMTPUTF8\b/i.test(connection.lastServerResponse || "");
      if (error || settings.user === null) return settle(error);
      connection.login({ user: settings.user, pass: settings.password ?? "" }, settle);
    });
  }).catch((error: unknown) => {
    connection.close();
    throw error;
  });
  return session;
}

/** Resolves to the server's answer; calls `onGiven` before the first byte of the message goes out. */
function give(connection: SMTPConnection, message: ComposedMessage, onGiven: () => void): Promise<string> {
  const body = new Readable({
    read() {
      onGiven();
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

/** Ends what the server knows of a refused message, so that the next one can follow. */
async function isReset(session: Session | undefined): Promise<boolean> {
  if (!session || session.isOver) return false;
  return await new Promise((resolve) => {
    session.connection.once("end", () => resolve(false));
    session.connection.reset((error) => resolve(!error));
  });
}

function isAscii(text: string): boolean {
  return !/[^\p{ASCII}]/u.test(text);
}

/** Assumed: a server that does not know other letters than ASCII in addresses will not learn them by the next attempt. */
function unmailable(address: string): SendOutcome {
  const answer = `the mail server takes no letters outside of ASCII before the @ of an address (SMTPUTF8): ${address}`;
  return { state: "invalid_address", answer };
}

async function quit({ connection }: Session): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, goodbyeMs);
    connection.once("end", () => {
      clearTimeout(timer);
      resolve();
    });
    connection.quit();
  });
  connection.close();
}
