import { openOutboxFolder } from "./outbox-folder.ts";
import type { EmailTransportSettings, EmailTransport } from "./transport.ts";

/** Opens the configured transport. It connects on first use. */
export async function openEmailTransport(
  settings: EmailTransportSettings,
  nowMs: () => number,
): Promise<EmailTransport> {
  if (settings.kind === "outbox") return openOutboxFolder(settings.folder, nowMs);
  const { openSmtp } = await import("./smtp.ts");
  return openSmtp(settings);
}
