import { setTimeout as wait } from "node:timers/promises";
import type { RunningServer, ServerSettings, SignUpState } from "./ports.ts";
import { UserError } from "../config/user-error.ts";
import { findLinkProblem } from "../config/email-links.ts";
import { isLoopback } from "../config/proxy-settings.ts";
import { findPublicUrl } from "../config/public-url.ts";
import { publicLimits } from "../contract/http-limits.ts";
import { loadEngine, openEngine } from "./engine.ts";
import { findEmailTransportSettings } from "./email-transport.ts";

/** How long to wait for the database to close after the last response, in milliseconds. */
const closeDatabaseWithinMs = 5_000;

/**
 * Serves the embedded engine over HTTP, and enforces the rate limits of the service.
 * @throws UserError, ServiceError
 */
export async function startServer(settings: ServerSettings): Promise<RunningServer> {
  const { createServer } = await import("../server/server.ts");
  const { createServerLog } = await import("../server/server-log.ts");
  await loadEngine();
  const { ListenError } = await import("../server/listen-error.ts");
  const { version, limitLegacy, bottomLinesDelayMs } = settings;
  const publicUrl = settings.publicUrl ?? findPublicUrl(settings.env);
  const mail = settings.hasWorker ? await findEmailTransportSettings(settings) : undefined;
  const signUp = findSignUpState(settings, publicUrl);
  const limits = settings.publicLimits ?? (isLocal(settings.host, publicUrl) ? {} : publicLimits);
  let listensAt = toUrl(settings);
  const smtpHost = mail?.kind === "smtp" ? mail.host : undefined;
  const findEmailProblem = () => findLinkProblem(publicUrl ?? listensAt, smtpHost);
  const { transport, appKey } = await openEngine(settings, settings.profile, {
    enforceLimits: true,
    limitLegacy,
    publicLimits: limits,
    bottomLinesDelayMs,
    publicUrl: () => publicUrl ?? listensAt,
    isSignUpClosed: signUp === "closed",
    // Clients should not see its path.
    databaseShownAs: "the database",
  });
  const logger = createServerLog(settings.log, { level: settings.logLevel, clock: settings.clock });
  const chaos = await createChaos(settings);
  const { closeTemplateThreads } = await import("../email/templates/render-custom.ts");
  const { startWork, createWorker } = await import("./worker.ts");
  const sending = { ...settings, work: transport.work, log: logger };
  const worker = mail && (await createWorker({ ...sending, mail, sendsEmails: !findEmailProblem() }));
  const server = createServer(transport, {
    logger,
    chaos,
    trustedProxies: settings.trustedProxies,
    ...(settings.chaos?.maxBodyBytes !== undefined && { bodyLimitBytes: settings.chaos.maxBodyBytes }),
    clock: settings.clock,
    about: () => ({ version, publicUrl }),
  });
  try {
    const { url } = await server.listen(settings);
    listensAt = toReachable(url);
    const stopWork = worker && startWork(worker);
    const close = async () => {
      await Promise.all([server.close(), stopWork?.()]);
      await closeTemplateThreads();
      // Does not wait indefinitely for a database server that does not respond.
      await Promise.race([transport.close(), wait(closeDatabaseWithinMs, undefined, { ref: false })]);
    };
    const emailProblem = findEmailProblem();
    const emailTarget = emailProblem ? undefined : worker?.emailTarget;
    const mixesClients = publicUrl !== undefined && !settings.trustedProxies && Object.keys(limits).length > 0;
    const localLinks = publicUrl === undefined && !isLoopback(settings.host) && !emailProblem ? listensAt : undefined;
    return {
      url,
      appKey,
      signUp,
      close,
      mixesClients,
      localLinks,
      emailTarget,
      emailProblem,
      ...(chaos && { chaosCounts: () => chaos.counts }),
    };
  } catch (error) {
    await transport.close();
    throw error instanceof ListenError ? new UserError("failed", error.message, error.hint, error) : error;
  }
}

/** Assumed: only people on this machine can reach a server that listens on loopback and has no public URL. */
function findSignUpState(
  { host, allowsSignUp }: Pick<ServerSettings, "host" | "allowsSignUp">,
  publicUrl: string | undefined,
): SignUpState {
  if (allowsSignUp) return "open";
  return isLocal(host, publicUrl) ? "local" : "closed";
}

async function createChaos({ chaos, clock }: ServerSettings) {
  if (!chaos) return undefined;
  const { Chaos } = await import("../server/chaos.ts");
  return new Chaos(chaos, clock);
}

/** Whether only this machine can call, such as a developer's or a CI runner's. */
function isLocal(host: string, publicUrl: string | undefined): boolean {
  return publicUrl === undefined && isLoopback(host);
}

function toUrl({ host, port }: Pick<ServerSettings, "host" | "port">): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Replaces a wildcard address by loopback, which clients can connect to. */
function toReachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
