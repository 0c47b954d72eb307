import { createHmac } from "node:crypto";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { Writable } from "node:stream";
import { resolvePaths } from "../../../config/paths.ts";
import { createSealingKey, readSealingKey } from "../../../config/sealing-key.ts";
import { createPseudonym, type Pseudonym, Redaction } from "../../../terminal/redaction.ts";
import type { Io } from "../io.ts";

const keyFileName = "redaction.key";

/** An `Io` that shows no e-mail addresses. */
export interface RedactedIo {
  readonly io: Io;
  /** Shows what was kept back, since an address might have gone on. */
  flush(): void;
}

/** Hides the addresses in all that goes to standard output and standard error. */
export async function redactIo(io: Io): Promise<RedactedIo> {
  const pseudonym = createPseudonym(await findRedactionKey(io));
  const streams = new Map<Writable, RedactedStream>();
  const wrap = (stream: Writable) => {
    const known = streams.get(stream) ?? redactStream(stream, pseudonym);
    streams.set(stream, known);
    return known.stream;
  };
  // The members of an `Io` are opened by their first use, and stay so.
  const redacted = Object.create(io, {
    stdout: { get: () => wrap(io.stdout) },
    stderr: { get: () => wrap(io.stderr) },
  }) as Io;
  return {
    io: redacted,
    flush: () => {
      for (const { flush } of streams.values()) flush();
    },
  };
}

/**
 * The key of this installation, so that one address has one name in all that it ever prints.
 * Assumed: where it can be neither read nor made, one run has a key of its own: hiding goes before comparing.
 */
export async function findRedactionKey({ env, cwd, random }: Io): Promise<Buffer> {
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

/** The stream itself in all but what is written to it: terminals, pipes and their events are as they were. */
function redactStream(target: Writable, pseudonym: Pseudonym): RedactedStream {
  const redaction = new Redaction(pseudonym);
  const decoder = new StringDecoder("utf8");
  const writeOn = target.write.bind(target);
  const isTerminal = (target as Partial<NodeJS.WriteStream>).isTTY === true;
  let isFlushDue = false;
  const flush = () => {
    const rest = redaction.flush();
    if (rest !== "") writeOn(rest);
  };
  const write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    const done = more.find((value) => typeof value === "function") as (() => void) | undefined;
    const shown = redaction.push(typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk)));
    // A person waits for what a program has no more to say after: the end of a question, for one.
    if (isTerminal && !isFlushDue) {
      isFlushDue = true;
      setImmediate(() => {
        isFlushDue = false;
        flush();
      });
    }
    return writeOn(shown, done);
  };
  const end = (...given: unknown[]) => {
    const [chunk] = given;
    if (typeof chunk === "string" || chunk instanceof Uint8Array) write(chunk);
    flush();
    target.end(given.find((value) => typeof value === "function") as (() => void) | undefined);
    return stream;
  };
  const stream = new Proxy(target, {
    get: (inner, name) => {
      if (name === "write") return write;
      if (name === "end") return end;
      const value: unknown = Reflect.get(inner, name, inner);
      return typeof value === "function" ? (value.bind(inner) as unknown) : value;
    },
    // What would take the place of `write` would be written to unseen.
    set: (inner, name, value) => name === "write" || Reflect.set(inner, name, value, inner),
  });
  return { stream, flush };
}
