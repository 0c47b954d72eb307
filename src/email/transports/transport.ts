import type { KeyObject } from "node:crypto";
import type { TemplateProblem } from "../templates/render-custom.ts";

export interface ComposedMessage {
  /** The message key of the email. */
  readonly key: string;
  /** Envelope recipient (`RCPT TO`). */
  readonly to: string;
  /** Envelope sender (`MAIL FROM`), which receives bounces. */
  readonly from: string;
  readonly subject: string;
  /** The bodies, before they were encoded. */
  readonly text: string;
  readonly html: string;
  /** Including the angle brackets. */
  readonly messageId: string;
  /** Headers and body (RFC 5322), with CRLF line endings. */
  readonly raw: Buffer;
  readonly templateProblem?: TemplateProblem | undefined;
}

/**
 * Outcome of sending one message.
 * - `accepted`: the server or the outbox folder has the message
 * - `deferred`: the server asks to try this message again later (4xx)
 * - `bounced`, `blocked`, `invalid_address`: permanent rejection (5xx) by the mailbox; by a policy or spam filter; or
 *   because the address does not exist or is not supported. `isOfAddress`: other messages to the address would be
 *   rejected too (not set if, for example, the message is too large)
 * - `unreachable`: a failure that does not concern this message, for example no connection or a failed login.
 *   `mayHaveArrived`: the connection was lost after the message was transmitted, so the server may have accepted it
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

/** Sends messages, one at a time. */
export interface EmailTransport {
  send: (message: ComposedMessage) => Promise<SendOutcome>;
  /** Returns whether a message with this key was sent before. Absent if this cannot be determined, as with SMTP. */
  wasSent?: (key: string) => Promise<boolean>;
  /** Checks whether the transport works. `problem` is for people. */
  check: () => Promise<{ readonly ready: true } | { readonly ready: false; readonly problem: string }>;
  close: () => Promise<void>;
  /** Describes the destination for people, without secrets. */
  describe: () => string;
}

/** `implicit`: TLS from the start; `starttls`: required; `opportunistic`: only if offered; `none`: not encrypted. */
export type TlsMode = "implicit" | "starttls" | "opportunistic" | "none";

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

/** Signs the emails of a domain (DKIM). */
export interface DkimSigner {
  /** In ASCII. */
  readonly domain: string;
  readonly selector: string;
  readonly privateKey: KeyObject;
}

export type EmailTransportSettings = (SmtpSettings | OutboxSettings) & {
  /** Null only for the outbox folder, which then uses a placeholder address. */
  readonly from: EmailSender | null;
  readonly dkim?: DkimSigner | undefined;
};
