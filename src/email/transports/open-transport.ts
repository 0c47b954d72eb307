import { openOutboxFolder } from "./outbox-folder.ts";
import type { EmailTransportSettings, EmailTransport } from "./transport.ts";

/** Opens the configured way out; nothing is connected before it is used. */
export async function openEmailTransport(
  settings: EmailTransportSettings,
  nowMs: () => number,
): Promise<EmailTransport> {
  if (settings.kind === "outbox") return openOutboxFolder(settings.folder, nowMs);
  const { openSmtp } = await import("./smtp.ts");
  return openSmtp(settings);
}
