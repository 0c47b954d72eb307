import { openOutboxFolder } from "./outbox-folder.ts";
import type { MailSettings, MailTransport } from "./transport.ts";

/** Opens the configured way out; nothing is connected before it is used. */
export async function openMailTransport(settings: MailSettings, nowMs: () => number): Promise<MailTransport> {
  if (settings.kind === "outbox") return openOutboxFolder(settings.folder, nowMs);
  const { openSmtp } = await import("./smtp.ts");
  return openSmtp(settings);
}
