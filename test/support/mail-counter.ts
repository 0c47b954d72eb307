import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";

/** A message that a server took, as far as it is counted. */
export interface CountedMail {
  readonly from: string;
  /** With its angle brackets. */
  readonly messageId: string;
}

export interface EmailCounter {
  readonly port: number;
  readonly taken: CountedMail[];
  /** Whether the sender of a message that was taken is never answered. */
  swallows: (mail: CountedMail) => boolean;
  /** What the answer to a message waits for. */
  answersAfter: (() => Promise<void>) | undefined;
  close: () => Promise<void>;
}

/** A real mail server on loopback that counts messages and reads nothing of them but their id; on any free port where 0. */
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
