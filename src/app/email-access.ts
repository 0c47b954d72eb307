import type { EmailAccessAdmin, LocalSettings } from "./ports.ts";
import { commandAccounts, openEngine } from "./engine.ts";

/** Opens the embedded database for changing what its accounts may send. */
export async function openEmailAccess(settings: LocalSettings): Promise<EmailAccessAdmin> {
  const { changeEmailAccess, readEmailAccess } = await import("../engine/emails/administration.ts");
  const { transport } = await openEngine(settings, settings.profile, { enforceLimits: false, ...commandAccounts });
  const { work } = transport;
  return {
    read: (appKey) => work.read((context) => readEmailAccess(appKey, context)),
    change: (appKey, change) => work.write((context) => changeEmailAccess(appKey, change, context)),
    close: () => transport.close(),
  };
}
