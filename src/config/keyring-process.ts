import { readFileSync, writeSync } from "node:fs";
import type { KeyringAnswer, KeyringQuestion } from "./keyring.ts";

/**
 * Asks the system's keyring one question, in a process of its own: a keyring that hangs holds up whoever asks it, and
 * only a process can then be ended. The question comes on standard input, so that no secret is in a command line.
 */
async function answerQuestion({ action, account, secret }: KeyringQuestion): Promise<KeyringAnswer> {
  const binding = await import("@napi-rs/keyring").catch(() => undefined);
  if (!binding) return { outcome: "absent" };
  try {
    // Linux has a second store, which forgets with the session: not one to keep a secret in.
    const entry = new binding.Entry("starpost", account, { linux: { store: "secret-service" } });
    if (action === "read") return { outcome: "done", value: entry.getPassword() };
    if (action === "remove") return { outcome: "done", value: entry.deleteCredential() ? account : null };
    entry.setPassword(secret ?? "");
    const isKept = entry.getPassword() === secret;
    return isKept ? { outcome: "done", value: null } : { outcome: "failed", why: "it kept something else" };
  } catch (error) {
    return { outcome: "failed", why: (error as Error).message };
  }
}

void answerQuestion(JSON.parse(readFileSync(0, "utf8")) as KeyringQuestion).then((answer) =>
  writeSync(1, JSON.stringify(answer)),
);
