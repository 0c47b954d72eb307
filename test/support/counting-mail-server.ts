import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { SMTPServer } from "smtp-server";

/** An accepted message. */
export interface CountedEmail {
  readonly from: string;
  /** Includes the angle brackets. */
  readonly messageId: string;
  /** When it was received. */
  readonly atMs: number;
  /** The complete message. */
  readonly raw: string;
}

export interface CountingMailServer {
  readonly port: number;
  /** The settings with which the program sends through it. */
  readonly env: Readonly<Record<string, string>>;
  readonly accepted: CountedEmail[];
  /** Whether an accepted message is never acknowledged. */
  dropsResponse: (mail: CountedEmail) => boolean;
  /** Delays the response to a message. */
  beforeResponse: (() => Promise<void>) | undefined;
  /** Waits until `count` messages have been accepted, or none for a second. */
  settled: (count: number) => Promise<void>;
  close: () => Promise<void>;
}

/** Starts an SMTP server on loopback that counts messages by their IDs; port 0 selects a free port. */
export async function startCountingMailServer(port = 0): Promise<CountingMailServer> {
  const accepted: CountedEmail[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    onData: (stream, { envelope }, callback) => {
      const accept = async (raw: string) => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : "";
        const mail = { from, atMs: Date.now(), messageId: /^Message-ID: (<.*>)\r$/im.exec(raw)?.[1] ?? "", raw };
        accepted.push(mail);
        if (made.dropsResponse(mail)) return;
        await made.beforeResponse?.();
        callback(null, "queued");
      };
      // A client can end before its message is complete.
      void text(stream).then(accept, () => undefined);
    },
  });
  smtp.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    smtp.listen(port, "127.0.0.1", resolve);
  });
  const address = smtp.server.address();
  const usedPort = typeof address === "object" && address ? address.port : 0;
  const made: CountingMailServer = {
    port: usedPort,
    env: { STARPOST_SMTP_HOST: "127.0.0.1", STARPOST_SMTP_PORT: String(usedPort), STARPOST_SMTP_TLS: "none" },
    accepted,
    dropsResponse: () => false,
    beforeResponse: undefined,
    settled: async (count) => {
      let [previous, sinceMs] = [accepted.length, performance.now()];
      while (accepted.length < count && performance.now() - sinceMs < 1_000) {
        await sleep(20);
        if (accepted.length !== previous) [previous, sinceMs] = [accepted.length, performance.now()];
      }
    },
    close: () => new Promise((resolve) => smtp.close(resolve)),
  };
  return made;
}
