import { setTimeout as wait } from "node:timers/promises";
import type { LocalTransport } from "../engine/local-transport.ts";
import type { Transport } from "../service/transport.ts";
import type { EmailTransportSettings } from "../email/transports/transport.ts";
import type { WorkerLog } from "../worker/job.ts";
import type { RunningServer, ServerSettings, SignUpState, OpenWorker, WorkerSettings } from "./ports.ts";
import { toFileError, UserError } from "../config/user-error.ts";
import { findPoolSettings, findReader, maxReaderLagMs } from "../config/database-settings.ts";
import { findLinkProblem, findPublicUrl } from "../config/public-url.ts";
import { isLoopback } from "../config/proxy-settings.ts";
import { type PublicLimits, publicLimits } from "../contract/http-limits.ts";
import { ListenError, toUrl } from "../server/listen.ts";
import { openCertificate } from "./certificate.ts";
import { loadEngine, openEngine } from "./engine.ts";
import { createMonitoring, type Monitoring } from "./monitoring.ts";
import type { Metrics } from "../server/metrics.ts";
import { findEmailTransportSettings } from "./email-transport.ts";

/** The interval of checks of the replica, in milliseconds. */
const checkReplicaEachMs = 1_000;

/** How long to wait for the database to close after the last response, in milliseconds. */
const closeDatabaseWithinMs = 5_000;

/**
 * Serves the embedded engine over HTTP, and enforces the rate limits of the service.
 * @throws UserError, ServiceError
 */
export async function startServer(settings: ServerSettings): Promise<RunningServer> {
  const { createServer } = await import("../server/server.ts");
  const { logger, logFile } = await openLog(settings);
  await loadEngine();
  const publicUrl = settings.publicUrl ?? findPublicUrl(settings.env);
  const mail = settings.hasWorker ? await findEmailTransportSettings(settings) : undefined;
  const { isLocal, signUp, limits, receiving } = describeAccess(settings, publicUrl);
  const tls = openCertificate(settings.certificate, logger);
  let listensAt = toUrl({ ...settings, isSecure: tls !== undefined });
  const findEmailProblem = (found = mail) =>
    findLinkProblem(publicUrl ?? listensAt, found?.kind === "smtp" ? found.host : undefined);
  const backups = await createBackups(settings, logger);
  let monitoring: Monitoring | undefined;
  const { transport, clock, appKey, reloadWebhooks } = await openEngine(settings, settings.profile, {
    ...pickEngineSettings(settings),
    publicLimits: limits,
    publicUrl: () => publicUrl ?? listensAt,
    isSignUpClosed: signUp === "closed",
    ...pickEngineCounters(() => monitoring?.metrics),
  });
  monitoring = await createMonitoring(transport, { ...settings, backupCounts: backups && (() => backups.counts) });
  const served = await useReplica(transport, settings, logger);
  const chaos = settings.chaos && new (await import("../server/chaos.ts")).Chaos(settings.chaos, settings.clock);
  const { closeTemplateThreads } = await import("../email/templates/render-custom.ts");
  const { createWorker, WorkerReload } = await import("./worker.ts");
  const openSender = (found: EmailTransportSettings) =>
    createWorker({
      ...settings,
      clock,
      work: transport.work,
      log: logger,
      onResult: monitoring?.metrics?.countResult,
      mail: found,
      sendsEmails: !findEmailProblem(found),
    });
  const worker = mail && (await openSender(mail));
  const server = createServer(served, {
    ...pickServerOptions({ ...settings, clock }),
    logger,
    tls,
    chaos,
    receiving,
    about: () => ({ version: settings.version, publicUrl }),
    readReadiness: monitoring.readReadiness,
    onAnswer: monitoring.metrics?.countCall,
  });
  try {
    const { url } = await server.listen(settings);
    // Clients can connect to loopback, but not to a wildcard address.
    listensAt = url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
    const metrics = await monitoring.listen();
    const readEmailSettings = () => findEmailTransportSettings(settings);
    const reloading = { log: logger, readEmailSettings, reloadWebhooks, createWorker: openSender, findEmailProblem };
    const work = new WorkerReload(reloading, worker);
    const backingUp = backups?.run();
    const emailProblem = findEmailProblem();
    const localLinks = publicUrl === undefined && !isLocal ? listensAt : undefined;
    return {
      url,
      metricsUrl: metrics?.url,
      appKey,
      signUp,
      reload: () => work.reload(),
      reopenLog: () => logFile?.reopen(),
      close: async () => {
        backups?.stop();
        await Promise.all([server.close(), work.close(), backingUp]);
        await monitoring?.close();
        await closeTemplateThreads();
        // Does not wait indefinitely for a database server that does not respond.
        await Promise.race([served.close(), wait(closeDatabaseWithinMs, undefined, { ref: false })]);
      },
      mixesClients: publicUrl !== undefined && !settings.trustedProxies && Object.keys(limits).length > 0,
      ...(emailProblem ? { emailProblem } : { emailTarget: worker?.emailTarget, localLinks }),
      ...(chaos && { chaosCounts: () => chaos.counts }),
    };
  } catch (error) {
    await server.close();
    await served.close();
    throw asUserError(error);
  }
}

/** @throws UserError */
async function openLog({ logFile: path, log, logLevel: level, clock }: ServerSettings) {
  const { createServerLog, openLogFile } = await import("../server/server-log.ts");
  try {
    const logFile = path === undefined ? undefined : openLogFile(path);
    return { logger: createServerLog(logFile ?? log, { level, clock }), logFile };
  } catch (error) {
    throw toFileError(error, path ?? "");
  }
}

function pickEngineSettings({ limitLegacy, bottomLinesDelayMs, photoStorageBytes }: ServerSettings) {
  // Clients should not see the path of the database.
  const databaseShownAs = "the database";
  return { enforceLimits: true, limitLegacy, bottomLinesDelayMs, photoStorageBytes, databaseShownAs };
}

/** What the engine counts. @param find finds the metrics, which are created after the engine */
function pickEngineCounters(find: () => Metrics | undefined) {
  return {
    onLock: (waitedMs: number) => find()?.countLockWait(waitedMs),
    onBounced: (emails: number) => find()?.countResult("emails", "bounced", emails),
  };
}

function pickServerOptions({ clock, random, trustedProxies, chaos }: ServerSettings) {
  return {
    clock,
    random,
    trustedProxies,
    ...(chaos?.maxBodyBytes !== undefined && { bodyLimitBytes: chaos.maxBodyBytes }),
  };
}

/** Explains why a server could not listen. Other errors stay as they are. */
export function asUserError(error: unknown): unknown {
  return error instanceof ListenError ? new UserError("failed", error.message, error.hint, error) : error;
}

/** Assumed: only people on this machine can reach a server that listens on loopback and has no public URL. */
function describeAccess({ host, allowsSignUp, publicLimits: limits }: ServerSettings, publicUrl: string | undefined) {
  const isLocal = publicUrl === undefined && isLoopback(host);
  const signUp: SignUpState = allowsSignUp ? "open" : isLocal ? "local" : "closed";
  const enforced: PublicLimits = limits ?? (isLocal ? {} : publicLimits);
  const { "connections-per-client": connections } = enforced;
  const receiving = { connectionsPerClient: connections && "burst" in connections ? connections.burst : undefined };
  return { isLocal, signUp, limits: enforced, receiving };
}

async function createBackups({ backups: schedule, ...settings }: ServerSettings, log: WorkerLog) {
  if (!schedule) return undefined;
  const { checkRecipients } = await import("../backup/encryption.ts");
  await checkRecipients(schedule.recipients ?? []);
  const { ScheduledBackups } = await import("./backups/scheduled-backups.ts");
  return new ScheduledBackups({ ...settings, schedule, log });
}

/** Sends some reads to the replica in `STARPOST_DATABASE_READER`, if it is set. */
async function useReplica(
  transport: LocalTransport,
  { env, profile }: ServerSettings,
  log: WorkerLog,
): Promise<Transport> {
  const address = findReader(env, profile.database);
  if (!address) return transport;
  const { ReplicaReads } = await import("./replica-reads.ts");
  const { openReplica } = await import("../storage/postgres/replica.ts");
  return new ReplicaReads(transport, {
    open: async () => {
      const database = await openReplica(address.location, findPoolSettings(env));
      const replica = { ...database, shownAs: "the replica" };
      return { transport: transport.onReplica(replica), readLagMs: () => transport.readReplicaLag(replica) };
    },
    log,
    shownAs: address.shownAs,
    maxLagMs: maxReaderLagMs,
    checkEachMs: checkReplicaEachMs,
  });
}

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
  const { transport, clock } = await openEngine(settings, settings.profile, {
    enforceLimits: false,
    ...(publicUrl !== undefined && { publicUrl: () => publicUrl }),
  });
  const log = createServerLog(settings.log, { level: settings.logLevel, clock: settings.clock });
  const sending = { ...settings, clock, work: transport.work, log };
  const worker = await createWorker({ ...sending, mail });
  const close = async () => {
    await worker.close();
    await transport.close();
  };
  return { ...worker, close };
}
