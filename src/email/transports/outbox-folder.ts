import { randomBytes } from "node:crypto";
import { access, constants, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ComposedMessage, EmailTransport, SendOutcome } from "./transport.ts";

const onlyOwner = { folder: 0o700, file: 0o600 } as const;
const ending = ".eml";

/**
 * A folder of messages, one file each, which mail programs open; nothing leaves the machine.
 * A file's name begins with the time of writing and ends with the mail's key.
 */
export function openOutboxFolder(folder: string, nowMs: () => number): EmailTransport {
  return {
    send: (message) => writeMessage(folder, message, nowMs()),
    wasSent: (key) => hasMessage(folder, key),
    check: () => checkFolder(folder),
    close: () => Promise.resolve(),
    describe: () => `the folder ${folder}; nothing leaves this machine`,
  };
}

async function writeMessage(folder: string, message: ComposedMessage, nowMs: number): Promise<SendOutcome> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]/g, "");
  const path = join(folder, `${time}-${message.key}${ending}`);
  const draft = join(folder, `.${message.key}.${randomBytes(6).toString("hex")}`);
  try {
    await mkdir(folder, { recursive: true, mode: onlyOwner.folder });
    await writeWhole(draft, message.raw);
    await rename(draft, path);
    return { state: "accepted", answer: path };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    return { state: "unreachable", problem: wordsOf(folder, error) };
  }
}

async function writeWhole(path: string, content: Buffer): Promise<void> {
  const file = await open(path, "wx", onlyOwner.file);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function hasMessage(folder: string, key: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  // The time has no hyphen in it.
  return names.some((name) => name.slice(name.indexOf("-") + 1) === `${key}${ending}`);
}

async function checkFolder(folder: string): ReturnType<EmailTransport["check"]> {
  try {
    await mkdir(folder, { recursive: true, mode: onlyOwner.folder });
    await access(folder, constants.W_OK | constants.X_OK);
    return { ready: true };
  } catch (error) {
    return { ready: false, problem: wordsOf(folder, error) };
  }
}

function wordsOf(folder: string, error: unknown): string {
  return `The outbox folder ${folder} cannot be written: ${(error as Error).message}. Make room there, or let it be written.`;
}
