import { type ChildProcess, fork } from "node:child_process";
import { invalidField, ServiceError } from "../../contract/index.ts";
import { findThreadFile } from "../../service/thread-file.ts";
import type { ImageType, PhotoReply, StoredPhoto } from "./photo-codec.ts";

/** How long a photo may take, and how long the process waits for the next one, in milliseconds. */
const times = { photoMs: 60_000, idleMs: 10_000 } as const;

/** Photos are processed one after another, which bounds the memory. */
let last: Promise<unknown> = Promise.resolve();
/** Photos that are processed or wait for that, also those whose clients have disconnected. */
let queued = 0;
const maxQueued = 16;

/** How long an upload waits before it is repeated, in milliseconds. */
const retryAfterMs = 10_000;

let child: ChildProcess | undefined;
let idle: NodeJS.Timeout | undefined;

/**
 * Processes a photo as `convertPhoto` does, in a process of its own: it has no secrets, a low priority, and returns its
 * memory. A photo that ends it, or takes too long, is refused.
 * @throws ServiceError `invalidParams` if the photo is refused, `featureDisabled` if the codec is not installed,
 *   `unavailable` if there is no process
 */
export function processPhoto(bytes: Uint8Array, type: ImageType): Promise<StoredPhoto> {
  if (queued >= maxQueued) return Promise.reject(unavailable());
  queued += 1;
  const done = last
    .then(() => askProcess(bytes, type))
    .then(takePhoto)
    .finally(() => (queued -= 1));
  last = done.catch(() => {});
  return done;
}

function takePhoto(reply: PhotoReply): StoredPhoto {
  if ("photo" in reply) return reply.photo;
  if ("problem" in reply) throw invalidField("image", reply.problem);
  const hint = "Install the optional dependencies of starpost.";
  throw new ServiceError("featureDisabled", `photos cannot be processed, because sharp is not available. ${hint}`);
}

let isAvailable: Promise<boolean> | undefined;

/** Whether the codec of photos is installed and can be loaded. It is asked once, with a file that is not a photo. */
export function canProcessPhotos(): Promise<boolean> {
  return (isAvailable ??= processPhoto(new Uint8Array(), "image/png").then(
    () => true,
    (error: unknown) => {
      const { kind } = error as ServiceError;
      if (kind === "unavailable") isAvailable = undefined;
      return kind !== "featureDisabled";
    },
  ));
}

async function askProcess(bytes: Uint8Array, type: ImageType): Promise<PhotoReply> {
  clearTimeout(idle);
  try {
    const asked = (child ??= startProcess());
    asked.ref();
    asked.channel?.ref();
    const reply = await ask(asked, { bytes, type });
    asked.unref();
    asked.channel?.unref();
    return reply;
  } catch (cause) {
    // It would keep a command running.
    child?.kill("SIGKILL");
    child = undefined;
    throw unavailable(cause);
  } finally {
    idle = setTimeout(() => {
      if (child?.connected) child.disconnect();
      child = undefined;
    }, times.idleMs).unref();
  }
}

function unavailable(cause?: unknown): ServiceError {
  return new ServiceError("unavailable", "photos cannot be processed now", { retryAfterMs, cause });
}

/** @throws if the process cannot be started, or receives nothing */
function ask(asked: ChildProcess, request: { bytes: Uint8Array; type: ImageType }): Promise<PhotoReply> {
  return new Promise<PhotoReply>((resolve, reject) => {
    const timer = setTimeout(() => asked.kill("SIGKILL"), times.photoMs);
    const settle = (reply: PhotoReply | Error) => {
      clearTimeout(timer);
      asked.removeListener("message", settle).removeListener("exit", onExit).removeListener("error", settle);
      if (reply instanceof Error) reject(reply);
      else resolve(reply);
    };
    const onExit = () => settle({ problem: "cannot be decoded" });
    asked.once("message", settle).once("exit", onExit).once("error", settle);
    asked.send(request, (error) => error && settle(error));
  });
}

function startProcess(): ChildProcess {
  const file = findThreadFile(import.meta.url, "./photo-process");
  const started = fork(file, [], {
    env: {},
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });
  // The one that waits for a photo reports it.
  started.on("error", () => {});
  started.once("exit", () => {
    if (child === started) child = undefined;
  });
  return started;
}
