import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Writable } from "node:stream";

export interface Sink {
  /** @returns whether the reader is still there */
  write(text: string): Promise<boolean>;
  /** Makes the output take effect. */
  finish(): void;
  /** Discards the output if possible. */
  abandon(): void;
}

/**
 * Writes to a temporary file next to the target and renames it when complete, readable only by the owner (0600). A
 * target that is not a regular file, such as a pipe or device, is written to directly.
 * @throws file system errors
 */
export function openFileSink(path: string, random: (bytes: number) => Buffer): Sink {
  const place = findPlace(path);
  if (place.isFile) return openBeside(place.path, random);
  const descriptor = openSync(place.path, "w");
  const close = () => closeSync(descriptor);
  return { write: async (text) => writeAll(descriptor, text), finish: close, abandon: close };
}

/** Follows a link, so that its target is replaced and not the link. */
function findPlace(path: string): { readonly path: string; readonly isFile: boolean } {
  try {
    return { path: realpathSync(path), isFile: statSync(path).isFile() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { path, isFile: true };
    throw error;
  }
}

function openBeside(path: string, random: (bytes: number) => Buffer): Sink {
  const temporary = join(dirname(path), `.${basename(path)}.${random(4).toString("hex")}.tmp`);
  const descriptor = openSync(temporary, "wx", 0o600);
  return {
    write: async (text) => writeAll(descriptor, text),
    finish: () => {
      fsyncSync(descriptor);
      closeSync(descriptor);
      renameSync(temporary, path);
    },
    abandon: () => {
      closeSync(descriptor);
      rmSync(temporary, { force: true });
    },
  };
}

function writeAll(descriptor: number, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return false;
    throw error;
  }
}

/**
 * Writes to a stream as fast as it is read; if the reader closes it (`| head`), the export ends silently.
 * @throws other errors of the stream
 */
export function createStreamSink(stream: Writable): Sink {
  let isGone = false;
  let failure: NodeJS.ErrnoException | undefined;
  let wake = () => {};
  const onGone = () => {
    isGone = true;
    wake();
  };
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") failure ??= error;
    onGone();
  };
  const onDrain = () => wake();
  stream.on("error", onError).on("close", onGone).on("drain", onDrain);
  const release = () => {
    stream.off("close", onGone).off("drain", onDrain);
  };
  return {
    write: async (text) => {
      if (failure) throw failure;
      if (isGone || stream.destroyed) return false;
      if (!stream.write(text)) await new Promise<void>((resolve) => (wake = resolve));
      if (failure) throw failure;
      return !isGone;
    },
    finish: release,
    abandon: release,
  };
}
