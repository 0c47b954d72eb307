import { createHmac } from "node:crypto";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Writable } from "node:stream";
import { resolvePaths } from "../../../config/paths.ts";
import { createSealingKey, readSealingKey } from "../../../config/sealing-key.ts";
import { createPseudonym, type Pseudonym, Redaction } from "../../../terminal/redaction.ts";
import { createRedactor } from "../../../terminal/redactor.ts";
import type { Io } from "../io.ts";
import { proxyWrites } from "./stream-proxy.ts";

const keyFileName = "redaction.key";

/** An `Io` that hides personal data. */
export interface RedactedIo {
  readonly io: Io;
  /** Writes buffered text, which is held while it could be part of an address. */
  flush(): void;
}

/**
 * Provides the redactor for data and messages, and hides email addresses in everything else that is written to standard
 * output and standard error.
 */
export async function redactIo(io: Io): Promise<RedactedIo> {
  const key = await findRedactionKey(io);
  const pseudonym = createPseudonym(key);
  const streams = new Map<Writable, RedactedStream>();
  const wrap = (stream: Writable) => {
    const known = streams.get(stream) ?? redactStream(stream, pseudonym);
    streams.set(stream, known);
    return known.stream;
  };
  // Inherits the getters of `io`, which open streams on first use.
  const redacted = Object.create(io, {
    stdout: { get: () => wrap(io.stdout) },
    stderr: { get: () => wrap(io.stderr) },
    redactor: { value: createRedactor(key) },
  }) as Io;
  return {
    io: redacted,
    flush: () => {
      for (const { flush } of streams.values()) flush();
    },
  };
}

/**
 * The key of this installation, so that an address always gets the same pseudonym.
 * Assumed: if the key can be neither read nor created, the run uses a key of its own.
 */
async function findRedactionKey({ env, cwd, random }: Io): Promise<Buffer> {
  const { configFolder } = await resolvePaths(env, cwd);
  const file = join(configFolder, keyFileName);
  try {
    const key = (await readSealingKey({}, file)) ?? (await createSealingKey(file, random));
    return createHmac("sha256", key).update("starpost redaction").digest();
  } catch {
    return random(32);
  }
}

interface RedactedStream {
  readonly stream: Writable;
  readonly flush: () => void;
}

/** A proxy of the stream that hides the addresses in what is written to it. */
function redactStream(target: Writable, pseudonym: Pseudonym): RedactedStream {
  const redaction = new Redaction(pseudonym);
  const decoder = new StringDecoder("utf8");
  const isTerminal = (target as Partial<NodeJS.WriteStream>).isTTY === true;
  let isFlushDue = false;
  const flush = () => {
    const rest = redaction.flush();
    if (rest !== "") target.write(rest);
  };
  const stream = proxyWrites(target, {
    write: (chunk, done) => {
      const shown = redaction.push(typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk)));
      // On a terminal, text such as a prompt must appear without waiting for more output.
      if (isTerminal && !isFlushDue) {
        isFlushDue = true;
        setImmediate(() => {
          isFlushDue = false;
          flush();
        });
      }
      return target.write(shown, done);
    },
    flush,
  });
  return { stream, flush };
}
