import type { HostContext, PrivateWebhooks } from "./ports.ts";
import type { LocalProfile } from "../config/profile.ts";
import { commandAccounts, openEngine } from "./engine.ts";

/**
 * Allows or forbids an account's webhooks to call private addresses.
 * @throws ServiceError `invalidParams`
 */
export async function setPrivateWebhooks(
  host: HostContext,
  profile: LocalProfile,
  { appKey, isAllowed }: PrivateWebhooks,
): Promise<void> {
  const { savePrivateWebhooks } = await import("../engine/webhooks/private-webhooks.ts");
  const { transport } = await openEngine(host, profile, { enforceLimits: false, ...commandAccounts });
  try {
    await transport.work.write((context) => savePrivateWebhooks(appKey, isAllowed, context));
  } finally {
    await transport.close();
  }
}
