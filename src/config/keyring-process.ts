import { readFileSync, writeSync } from "node:fs";
import type { KeyringResponse, KeyringRequest } from "./keyring.ts";

/**
 * Handles one request to the system keyring in a separate process, because a call to a keyring that hangs can be ended only
 * with its process. The request is read from standard input, so that no secret appears on a command line.
 */
async function handleRequest({ action, account, secret }: KeyringRequest): Promise<KeyringResponse> {
  const binding = await import("@napi-rs/keyring").catch(() => undefined);
  if (!binding) return { outcome: "absent" };
  try {
    // Not the kernel keyring of Linux, which does not outlive the session.
    const entry = new binding.Entry("starpost", account, { linux: { store: "secret-service" } });
    if (action === "read") return { outcome: "done", value: entry.getPassword() };
    if (action === "remove") return { outcome: "done", value: entry.deleteCredential() ? account : null };
    entry.setPassword(secret ?? "");
    const isStored = entry.getPassword() === secret;
    return isStored ? { outcome: "done", value: null } : { outcome: "failed", why: "it stored a different value" };
  } catch (error) {
    return { outcome: "failed", why: (error as Error).message };
  }
}

void handleRequest(JSON.parse(readFileSync(0, "utf8")) as KeyringRequest).then((response) =>
  writeSync(1, JSON.stringify(response)),
);
