/** A message as it goes out. */
export interface ComposedMessage {
  /** The mail's own, the same for every attempt. */
  readonly key: string;
  /** The receiver's address as SMTP's `RCPT TO` names it. */
  readonly to: string;
  /** The sender's, as `MAIL FROM` names it: where bounces go. */
  readonly from: string;
  readonly subject: string;
  /** With its angle brackets, as the header has it. */
  readonly messageId: string;
  /** Headers and body (RFC 5322), lines ended by CR LF. */
  readonly raw: Buffer;
}

/**
 * What became of handing one message over.
 * - `accepted`: the server, or the folder, has it
 * - `deferred`: the server asks to try this message later (4xx)
 * - `bounced`, `blocked`, `invalid_address`: refused for good (5xx): by the mailbox; by a policy, or as spam; because
 *   there is no such address, or none that this server can mail to. `isOfAddress`: any other message to the address
 *   would be refused as well, which is not so of one that is too big
 * - `unreachable`: says nothing of this message: the server could not be reached, or refused to sign in. Whether it has
 *   the message is unknown where the connection broke after the message was given, `mayHaveArrived`.
 */
export type SendOutcome =
  | { readonly state: "accepted"; readonly answer: string }
  | { readonly state: "deferred"; readonly answer: string }
  | {
      readonly state: "bounced" | "blocked" | "invalid_address";
      readonly answer: string;
      readonly isOfAddress?: boolean;
    }
  | { readonly state: "unreachable"; readonly problem: string; readonly mayHaveArrived?: boolean };

/** Where mails go. One message at a time is handed over. */
export interface EmailTransport {
  send: (message: ComposedMessage) => Promise<SendOutcome>;
  /** Whether the mail of this key was handed over before; absent where nobody can tell, as with SMTP. */
  wasSent?: (key: string) => Promise<boolean>;
  /** Whether a mail would be taken now; words for a person where not. */
  check: () => Promise<{ readonly ready: true } | { readonly ready: false; readonly problem: string }>;
  close: () => Promise<void>;
  /** Where mails go, in words, without a secret. */
  describe: () => string;
}

/** - `implicit`: from the first byte; `starttls`: refused without it; `opportunistic`: where offered; `none`: in the open */
export type TlsMode = "implicit" | "starttls" | "opportunistic" | "none";

/** Who mails come from. */
export interface EmailSender {
  readonly name: string | null;
  readonly address: string;
}

export interface SmtpSettings {
  readonly kind: "smtp";
  readonly host: string;
  readonly port: number;
  readonly tls: TlsMode;
  readonly user: string | null;
  readonly password: string | null;
}

export interface OutboxSettings {
  readonly kind: "outbox";
  readonly folder: string;
}

export type EmailTransportSettings = (SmtpSettings | OutboxSettings) & {
  /** Null is what the way out says by itself: only the outbox folder can do without one. */
  readonly from: EmailSender | null;
};
