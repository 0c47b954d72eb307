import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { type Environment, readVariable } from "./environment.ts";

export interface KeyringRequest {
  readonly action: "read" | "write" | "remove";
  readonly account: string;
  readonly secret?: string | undefined;
}

export type KeyringResponse =
  /** `value`: the secret that was read, or the account that was removed; null if there was none. */
  | { readonly outcome: "done"; readonly value: string | null }
  | { readonly outcome: "failed"; readonly why: string }
  /** The package that accesses the keyring is not installed. */
  | { readonly outcome: "absent" };

/** Accesses the system keyring. Never rejects: failures are responses. */
export type Keyring = (request: KeyringRequest) => Promise<KeyringResponse>;

/** How long to wait for the keyring, in milliseconds. The user may have to type a password to unlock it. */
const timeoutMs = { unattended: 5_000, interactive: 60_000 } as const;

/** Whether `STARPOST_KEYRING` disables the use of the system keyring. */
export function isKeyringOff(env: Environment): boolean {
  return ["off", "0", "false", "no"].includes(readVariable(env, "STARPOST_KEYRING") ?? "");
}

/**
 * Finds the system keyring: Keychain (macOS), Credential Manager (Windows), or Secret Service (Linux). Returns undefined
 * if it does not exist or is disabled.
 */
export function findKeyring(env: Environment, hasPerson: () => boolean): Keyring | undefined {
  if (isKeyringOff(env) || !hasSession(env)) return undefined;
  return (request) => callInProcess(request, env, hasPerson() ? timeoutMs.interactive : timeoutMs.unattended);
}

/** On systems other than macOS and Windows, the keyring is accessed over the D-Bus session bus. */
function hasSession(env: Environment): boolean {
  if (platform() === "darwin" || platform() === "win32") return true;
  const runtime = readVariable(env, "XDG_RUNTIME_DIR");
  const hasAddress = readVariable(env, "DBUS_SESSION_BUS_ADDRESS") !== undefined;
  return hasAddress || (runtime !== undefined && existsSync(join(runtime, "bus")));
}

function callInProcess(request: KeyringRequest, env: Environment, waitMs: number): Promise<KeyringResponse> {
  const file = new URL(`./keyring-process${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url);
  const child = fork(file, [], {
    env: withoutOwnVariables(env),
    execArgv: [],
    stdio: ["pipe", "pipe", "ignore", "ipc"],
    timeout: waitMs,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    child.on("error", (error) => resolve({ outcome: "failed", why: error.message }));
    child.on("close", (_code, signal) => resolve(parseResponse(text, signal)));
    // If the process has already exited, its response has been read.
    child.stdin?.on("error", () => {}).end(JSON.stringify(request));
  });
}

/** Variables for starpost or Node.js must not affect the keyring process. */
function withoutOwnVariables(env: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:STARPOST|NODE)_/.test(name)));
}

function parseResponse(text: string, signal: NodeJS.Signals | null): KeyringResponse {
  if (signal !== null) return { outcome: "failed", why: "it does not respond" };
  try {
    const response = JSON.parse(text) as KeyringResponse;
    return response.outcome === "failed" ? { outcome: "failed", why: describeFailure(response.why) } : response;
  } catch {
    return { outcome: "failed", why: "it cannot be accessed" };
  }
}

function describeFailure(why: string): string {
  if (why.includes("unlock prompt was dismissed")) return "it is locked and was not unlocked";
  if (why.includes("Secret Service: no result found")) return "it is not set up";
  const [line = ""] = why.split("\n");
  return line.replace(/^(?:Couldn't access platform storage|Platform failure): /, "");
}
