import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { type Environment, readVariable } from "./environment.ts";

export interface KeyringQuestion {
  readonly action: "read" | "write" | "remove";
  readonly account: string;
  readonly secret?: string | undefined;
}

export type KeyringAnswer =
  /** `value`: the secret that was read, or the account that was removed; null where there is none. */
  | { readonly outcome: "done"; readonly value: string | null }
  | { readonly outcome: "failed"; readonly why: string }
  /** What asks the keyring is not installed. */
  | { readonly outcome: "absent" };

/** Asks the system's keyring; whatever is wrong with it is an answer. */
export type AskKeyring = (question: KeyringQuestion) => Promise<KeyringAnswer>;

/** How long a keyring is waited for, milliseconds: a person may be typing the password that unlocks it. */
const patienceMs = { alone: 5_000, withPerson: 60_000 } as const;

/** Whether `STARPOST_KEYRING=off` says that the system's keyring is left alone. */
export function isKeyringOff(env: Environment): boolean {
  return ["off", "0", "false", "no"].includes(readVariable(env, "STARPOST_KEYRING") ?? "");
}

/**
 * The way to the system's keyring: the Keychain, the Credential Manager, or the Secret Service of the session.
 * Nothing where there is none, or where it is turned off. Nothing is loaded before it is asked.
 */
export function findKeyring(env: Environment, hasPerson: () => boolean): AskKeyring | undefined {
  if (isKeyringOff(env) || !hasSession(env)) return undefined;
  return (question) => askInProcess(question, env, hasPerson() ? patienceMs.withPerson : patienceMs.alone);
}

/** Elsewhere than on macOS and Windows the keyring is reached over the session's bus. */
function hasSession(env: Environment): boolean {
  if (platform() === "darwin" || platform() === "win32") return true;
  const runtime = readVariable(env, "XDG_RUNTIME_DIR");
  const hasAddress = readVariable(env, "DBUS_SESSION_BUS_ADDRESS") !== undefined;
  return hasAddress || (runtime !== undefined && existsSync(join(runtime, "bus")));
}

function askInProcess(question: KeyringQuestion, env: Environment, waitMs: number): Promise<KeyringAnswer> {
  const file = new URL(
    `./keyring-process${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`,
    import.meta.url,
  );
  const child = fork(file, [], {
    env: withoutOwn(env),
    execArgv: [],
    stdio: ["pipe", "pipe", "ignore", "ipc"],
    timeout: waitMs,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    child.on("error", (error) => resolve({ outcome: "failed", why: error.message }));
    child.on("close", (_code, signal) => resolve(readAnswer(text, signal)));
    // A process that ended at once has said so by then.
    child.stdin?.on("error", () => {}).end(JSON.stringify(question));
  });
}

/** What is set for this program, or for Node, is no matter of the keyring's. */
function withoutOwn(env: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:STARPOST|NODE)_/.test(name)));
}

function readAnswer(text: string, signal: NodeJS.Signals | null): KeyringAnswer {
  if (signal !== null) return { outcome: "failed", why: "it does not answer" };
  try {
    const answer = JSON.parse(text) as KeyringAnswer;
    return answer.outcome === "failed" ? { outcome: "failed", why: wordFailure(answer.why) } : answer;
  } catch {
    return { outcome: "failed", why: "it cannot be asked" };
  }
}

function wordFailure(why: string): string {
  if (why.includes("unlock prompt was dismissed")) return "it is locked, and nobody unlocked it";
  if (why.includes("Secret Service: no result found")) return "it is not set up";
  const [line = ""] = why.split("\n");
  return line.replace(/^(?:Couldn't access platform storage|Platform failure): /, "");
}
