import type { EmailCheck, HostContext } from "./ports.ts";
import type { EmailTransportSettings } from "../email/transports/transport.ts";

/** Finds out how this machine sends emails. */
export async function findEmailTransportSettings(host: HostContext): Promise<EmailTransportSettings> {
  const settings = await import("../config/email-settings.ts");
  const { openDkimSigner } = await import("./dkim.ts");
  const { smtp, from, outboxFolder } = await settings.findEmailSettings(host.env, host.paths);
  const dkim = await openDkimSigner(host);
  return smtp ? { kind: "smtp", ...smtp, from, dkim } : { kind: "outbox", folder: outboxFolder, from, dkim };
}

/**
 * Connects to the configured mail server without sending anything.
 * @throws UserError
 */
export async function checkEmail(host: HostContext): Promise<EmailCheck> {
  const { openEmailTransport } = await import("../email/transports/open-transport.ts");
  const transport = await openEmailTransport(await findEmailTransportSettings(host), host.clock);
  try {
    return await transport.check();
  } finally {
    await transport.close();
  }
}
