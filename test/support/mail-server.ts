import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerSession } from "smtp-server";

/** An email accepted by the server. */
export interface ReceivedMail {
  /** The sender of the envelope. */
  readonly from: string;
  readonly to: string;
  readonly raw: string;
  readonly parsed: Email;
  /** The details of the session. */
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
}

/** The steps at which a server can refuse; the last one follows the complete message. */
export type SmtpStep = "connect" | "auth" | "mail" | "rcpt" | "data";

/** A response such as `{ code: 450, text: "4.2.0 later" }`; `drop` resets the connection; `hang` never responds. */
export type SmtpDecision = { readonly code: number; readonly text: string } | "drop" | "hang" | undefined;

export interface MailServerOptions {
  /** Default: a free port. */
  readonly port?: number;
  readonly tls?: "none" | "starttls" | "implicit";
  /** In PEM format (default: an untrusted certificate). */
  readonly key?: string;
  readonly cert?: string;
  /** Accepts emails from this user only. */
  readonly user?: { readonly name: string; readonly password: string };
  /** Whether to accept non-ASCII addresses (default: true). */
  readonly takesUtf8?: boolean;
  readonly decide?: MailServer["decide"];
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** In order of arrival; each email is added before its sender gets a response. */
  readonly received: ReceivedMail[];
  /** The number of connections so far. */
  connections: number;
  /** Determines the response at a step; may be replaced at any time. At `data`, `address` is the recipient. */
  decide: (step: SmtpStep, address: string) => SmtpDecision;
  close: () => Promise<void>;
}

const host = "127.0.0.1";

/** Starts an SMTP server on loopback that stores and parses emails. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { port = 0, tls = "none", key, cert, user, takesUtf8 = true, decide = () => undefined } = options;
  const received: ReceivedMail[] = [];
  const sockets = new Map<number, Socket>();

  function answer(step: SmtpStep, address: string, session: SMTPServerSession, go: (error?: Error) => void): void {
    const decision = made.decide(step, address);
    if (decision === undefined) go();
    else if (decision === "drop") sockets.get(session.remotePort)?.resetAndDestroy();
    else if (decision !== "hang") go(Object.assign(new Error(decision.text), { responseCode: decision.code }));
  }

  const smtp = new SMTPServer({
    secure: tls === "implicit",
    ...(key !== undefined && cert !== undefined ? { key, cert } : {}),
    disabledCommands: tls === "none" ? ["STARTTLS"] : [],
    hideSMTPUTF8: !takesUtf8,
    authOptional: user === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onConnect: (session, callback) => {
      made.connections += 1;
      answer("connect", "", session, callback);
    },
    onAuth: (auth, session, callback) => {
      if (user && (auth.username !== user.name || auth.password !== user.password)) {
        callback(Object.assign(new Error("5.7.8 user or password is wrong"), { responseCode: 535 }));
        return;
      }
      answer("auth", auth.username ?? "", session, (error) => callback(error ?? null, { user: auth.username ?? "" }));
    },
    onMailFrom: ({ address }, session, callback) => answer("mail", address, session, callback),
    onRcptTo: ({ address }, session, callback) => answer("rcpt", address, session, callback),
    onData: (stream, session, callback) => {
      const { mailFrom, rcptTo } = session.envelope;
      const to = rcptTo[0]?.address ?? "";
      void buffer(stream).then(async (content) => {
        const parsed = await PostalMime.parse(content);
        answer("data", to, session, (error) => {
          if (error) return callback(error);
          received.push({
            from: mailFrom ? mailFrom.address : "",
            to,
            raw: content.toString(),
            parsed,
            isEncrypted: session.secure,
            user: typeof session.user === "string" ? session.user : undefined,
          });
          callback(null, "queued");
        });
      });
    },
  });
  smtp.on("error", () => undefined);
  smtp.server.on("connection", (socket: Socket) => sockets.set(socket.remotePort ?? 0, socket));
  await new Promise<void>((resolve) => {
    smtp.listen(port, host, resolve);
  });
  const address = smtp.server.address();
  const made: MailServer = {
    host,
    port: typeof address === "object" && address ? address.port : port,
    received,
    connections: 0,
    decide,
    close: () => new Promise((resolve) => smtp.close(resolve)),
  };
  return made;
}
