import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

/** An accepted message. */
export interface CountedMail {
  readonly from: string;
  /** Includes the angle brackets. */
  readonly messageId: string;
}

export interface EmailCounter {
  readonly port: number;
  readonly taken: CountedMail[];
  /** Whether an accepted message is never acknowledged. */
  swallows: (mail: CountedMail) => boolean;
  /** Delays the response to a message. */
  answersAfter: (() => Promise<void>) | undefined;
  close: () => Promise<void>;
}

/** Starts an SMTP server on loopback that counts messages by their IDs; port 0 selects a free port. */
export async function startMailCounter(port = 0): Promise<EmailCounter> {
  const taken: CountedMail[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onData: (stream, { envelope }, callback) => {
      void text(stream).then(async (raw) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : "";
        const mail = { from, messageId: /^Message-ID: (<.*>)\r$/im.exec(raw)?.[1] ?? "" };
        taken.push(mail);
        if (made.swallows(mail)) return;
        await made.answersAfter?.();
        callback(null, "queued");
      });
    },
  });
  smtp.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    smtp.listen(port, "127.0.0.1", resolve);
  });
  const address = smtp.server.address();
  const made: EmailCounter = {
    port: typeof address === "object" && address ? address.port : 0,
    taken,
    swallows: () => false,
    answersAfter: undefined,
    close: () => new Promise((resolve) => smtp.close(resolve)),
  };
  return made;
}
