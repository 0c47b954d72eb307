import type { ComposedMessage, EmailTransport, EmailTransportSettings, SendOutcome } from "./transport.ts";
import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Opens the configured transport. It connects on first use. */
export async function openEmailTransport(
  settings: EmailTransportSettings,
  nowMs: () => number,
): Promise<EmailTransport> {
  if (settings.kind === "outbox") return openOutboxFolder(settings.folder, nowMs);
  const { openSmtp } = await import("./smtp.ts");
  return openSmtp(settings);
}

const ownerOnly = { folder: 0o700, file: 0o600 } as const;
const extension = ".eml";

/**
 * Opens a folder that stores messages instead of sending them, one file each, which email clients can open.
 * File names consist of the time and the message key.
 */
function openOutboxFolder(folder: string, nowMs: () => number): EmailTransport {
  return {
    send: (message) => writeMessage(folder, message, nowMs()),
    wasSent: (key) => hasMessage(folder, key),
    check: () => checkFolder(folder),
    close: () => Promise.resolve(),
    describe: () => `the folder ${folder} (emails are not sent)`,
  };
}

async function writeMessage(folder: string, message: ComposedMessage, nowMs: number): Promise<SendOutcome> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]/g, "");
  const path = join(folder, `${time}-${message.key}${extension}`);
  const draft = join(folder, `.${message.key}.${randomBytes(6).toString("hex")}`);
  const write = () => writeFile(draft, message.raw, { flag: "wx", mode: ownerOnly.file, flush: true });
  try {
    await write().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      await makeFolder(folder);
      await write();
    });
    await rename(draft, path);
    return { state: "accepted", answer: path };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    return { state: "unreachable", problem: formatProblem(folder, error) };
  }
}

const makeFolder = (folder: string) => mkdir(folder, { recursive: true, mode: ownerOnly.folder });

async function hasMessage(folder: string, key: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  // The time does not contain a hyphen.
  return names.some((name) => name.slice(name.indexOf("-") + 1) === `${key}${extension}`);
}

/** Removes emails from an outbox folder, by the IDs with which their keys begin. */
export async function removeMessages(folder: string, mailIds: readonly number[]): Promise<void> {
  const ids = new Set(mailIds.map(String));
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((found) => found.endsWith(extension))) {
    const [, id = ""] = name.split("-", 2);
    if (ids.has(id)) await rm(join(folder, name), { force: true });
  }
}

async function checkFolder(folder: string): ReturnType<EmailTransport["check"]> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
    return { ready: true };
  } catch (error) {
    return { ready: false, problem: formatProblem(folder, error) };
  }
}

function formatProblem(folder: string, error: unknown): string {
  return `Cannot write to the outbox folder ${folder}: ${(error as Error).message}. Check its permissions and the free disk space.`;
}
