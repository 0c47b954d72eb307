import type { MailCheck, HostContext } from "./ports.ts";
import type { EmailTransportSettings } from "../email/transports/transport.ts";

/** Where this machine sends mails. */
export async function findEmailTransportSettings({
  env,
  paths,
}: HostContext): Promise<EmailTransportSettings> {
  const settings = await import("../config/email-settings.ts");
  const { smtp, from, outboxFolder } = await settings.findEmailSettings(env, paths);
  return smtp ? { kind: "smtp", ...smtp, from } : { kind: "outbox", folder: outboxFolder, from };
}

/**
 * Tries the way out of mails as it is configured.
 * @throws UserError
 */
export async function checkMail(host: HostContext): Promise<MailCheck> {
  const { openEmailTransport } = await import("../email/transports/open-transport.ts");
  const transport = await openEmailTransport(await findEmailTransportSettings(host), host.clock);
  try {
    return await transport.check();
  } finally {
    await transport.close();
  }
}
