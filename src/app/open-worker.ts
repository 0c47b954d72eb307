import type { OpenWorker, WorkerSettings } from "./ports.ts";
import { findLinkProblem, findPublicUrl } from "../config/public-url.ts";
import { loadEngine, openEngine } from "./engine.ts";
import { findEmailTransportSettings } from "./email-transport.ts";

/**
 * Opens a worker that sends emails and webhooks, without a server.
 * @throws UserError, ServiceError
 */
export async function openWorker(settings: WorkerSettings): Promise<OpenWorker> {
  const { createServerLog } = await import("../server/server-log.ts");
  const { createWorker } = await import("./worker.ts");
  await loadEngine();
  const mail = await findEmailTransportSettings(settings);
  const publicUrl = settings.publicUrl ?? findPublicUrl(settings.env);
  const problem = findLinkProblem(publicUrl, mail.kind === "smtp" ? mail.host : undefined);
  if (problem) throw problem;
  const { transport } = await openEngine(settings, settings.profile, {
    enforceLimits: false,
    ...(publicUrl !== undefined && { publicUrl: () => publicUrl }),
  });
  const log = createServerLog(settings.log, { level: settings.logLevel, clock: settings.clock });
  const sending = { ...settings, work: transport.work, log };
  const worker = await createWorker({ ...sending, mail });
  const close = async () => {
    await worker.close();
    await transport.close();
  };
  return { ...worker, close };
}
