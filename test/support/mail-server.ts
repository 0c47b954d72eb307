import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerSession } from "smtp-server";

/** A mail as the server took it. */
export interface ReceivedMail {
  /** The envelope's. */
  readonly from: string;
  readonly to: string;
  readonly raw: string;
  readonly parsed: Email;
  /** How it came. */
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
}

/** Where a server may refuse: the last is after it has read the whole message. */
export type SmtpStep = "connect" | "auth" | "mail" | "rcpt" | "data";

/** - an answer such as `{ code: 450, text: "4.2.0 later" }`; `drop`: the connection is reset; `hang`: no answer, ever */
export type SmtpDecision = { readonly code: number; readonly text: string } | "drop" | "hang" | undefined;

export interface MailServerOptions {
  /** Any free one where absent. */
  readonly port?: number;
  readonly tls?: "none" | "starttls" | "implicit";
  /** In PEM; a certificate that nobody trusts where absent. */
  readonly key?: string;
  readonly cert?: string;
  /** Mails are taken from this user alone. */
  readonly user?: { readonly name: string; readonly password: string };
  /** Whether it takes addresses in all letters; it does where absent. */
  readonly takesUtf8?: boolean;
  readonly decide?: MailServer["decide"];
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** In the order in which they came; each is there before its sender has the answer. */
  readonly received: ReceivedMail[];
  /** How many connections were made. */
  connections: number;
  /** What it does at a step; may be replaced at any time. `address` is the step's own, of `data` the receiver's. */
  decide: (step: SmtpStep, address: string) => SmtpDecision;
  close: () => Promise<void>;
}

const host = "127.0.0.1";

/** Starts a real mail server on loopback, which keeps and parses what it is given. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { port = 0, tls = "none", key, cert, user, takesUtf8 = true, decide = () => undefined } = options;
  const received: ReceivedMail[] = [];
  const sockets = new Map<number, Socket>();

  function answer(
    step: SmtpStep,
    address: string,
    session: SMTPServerSession,
    go: (error?: Error) => void,
  ): void {
    const decision = made.decide(step, address);
    if (decision === undefined) go();
    else if (decision === "drop") sockets.get(session.remotePort)?.resetAndDestroy();
    else if (decision !== "hang")
      go(Object.assign(new Error(decision.text), { responseCode: decision.code }));
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
      answer("auth", auth.username ?? "", session, (error) =>
        callback(error ?? null, { user: auth.username ?? "" }),
      );
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
