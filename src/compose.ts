import { setTimeout as wait } from "node:timers/promises";
import type { Check } from "./cli/check.ts";
import type {
  Connection,
  ConnectionSettings,
  MailCheck,
  OpenWorker,
  ProbeSettings,
  Rehearsal,
  RehearsalSettings,
  RunningServer,
  ServerSettings,
  Surroundings,
  WorkerSettings,
} from "./cli/connection.ts";
import type { LocalProfile, Profile, RemoteProfile } from "./config/profile.ts";
import { builtInNames } from "./config/profile-name.ts";
import { Problem } from "./config/problem.ts";
import { ServiceError } from "./contract/errors.ts";
import type { PacedAccount } from "./client/pace-file.ts";
import { createSealingKey, readSealingKey } from "./config/sealing-key.ts";
import { createTokenStore } from "./config/token-file.ts";
import { findPublicUrl } from "./config/public-url.ts";
import { findWebhookSettings } from "./config/webhook-settings.ts";
import type { LocalTransport, LocalTransportOptions } from "./engine/local-transport.ts";
import type { EngineThreadData } from "./engine-thread.ts";
import type { MailSettings } from "./mailer/transport.ts";
import { noTokens, type Stage } from "./rehearsal.ts";
import { createService } from "./service/service.ts";
import { findThreadFile } from "./service/thread-file.ts";
import type { Transport } from "./service/transport.ts";
import type { SendRaw } from "./service/raw-call.ts";
import { createSignedSender } from "./service/sign-raw-call.ts";
import type { Server } from "./http/server.ts";
import { withToken } from "./service/with-token.ts";
import { withWriteNotice } from "./service/with-write-notice.ts";
import type { Database } from "./storage/database.ts";

/** Calls a second to a service that says nothing else. Source: spec "Limits". */
const usualRate = 5;

/** Rates above this, in calls a second, are not shared between processes. */
const mostSharedRate = 50;

/** How long a server that stops waits for its database, once all calls are answered or cut off. */
const closeDatabaseWithinMs = 5_000;

/** Calls that are worth having under way at once. The embedded engine writes one after another; those that wait share a commit. */
const concurrency = { local: 5, remote: 4 } as const;

/**
 * Opens the way to a profile's account. The embedded engine's database, its key and its account are made by the
 * first use.
 * @throws Problem, ServiceError
 */
export async function openConnection(settings: ConnectionSettings): Promise<Connection> {
  const { profile } = settings;
  const account = await (profile.mode === "local"
    ? openLocal(settings, profile)
    : openRemote(settings, profile));
  const { appKey, secret, keepsOrder, target } = account;
  const isElsewhere = profile.mode === "remote";
  const mark = isElsewhere ? profile.tokenMark : secret;
  const readSecret = async () =>
    (isElsewhere ? await profile.readSecret() : secret) ?? refuseWithoutSecret(profile);
  const signed = withToken(account.transport, {
    appKey,
    readSecret,
    cache: createTokenStore(settings.paths.tokensFolder, { profile: profile.name, target, appKey, mark }),
    given: isElsewhere ? profile.utoken : undefined,
    clock: settings.clock,
  });
  // Before many calls, so that none overtakes another while the token is on its way.
  if (settings.isBulk === true) await signed.token();
  const announced =
    profile.isLive && settings.announceWrite ? withWriteNotice(signed, settings.announceWrite) : signed;
  return {
    service: createService(announced, { appKey }),
    send: createSignedSender({
      send: account.send,
      appKey,
      tokens: signed,
      createCoreToken: async () => {
        const input = { secret: await readSecret() };
        return (await signed.call("core.createToken", input, { appKey })).access_token;
      },
    }),
    appKey,
    secret,
    concurrency: concurrency[profile.mode],
    keepsOrder,
    ratePerSecond: heldTo(settings),
    token: () => signed.token(),
    renewToken: () => signed.renewToken(),
    close: () => signed.close(),
  };
}

/**
 * Opens a profile's account for a rehearsal: the database itself in a transaction that is taken back, or a copy of
 * what a service elsewhere tells.
 * @throws Problem, ServiceError
 */
export async function openRehearsal(settings: RehearsalSettings): Promise<Rehearsal> {
  const { profile, clock } = settings;
  const stage = await (profile.mode === "local" ? stageLocal(settings, profile) : stageRemote(settings));
  const { appKey, secret } = stage;
  const transport = await moveToThread(stage, stage, findPublicUrl(settings.env), true).catch(
    async (error: unknown) => {
      await stage.remove();
      throw error;
    },
  );
  const signed = withToken(transport, { appKey, readSecret: async () => secret, cache: noTokens, clock });
  const close = async () => {
    try {
      await signed.close();
    } finally {
      await stage.remove();
    }
  };
  try {
    // Now, since with it comes the lock.
    await signed.token();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    service: createService(signed, { appKey }),
    concurrency: concurrency.local,
    keepsOrder: true,
    ratePerSecond: heldTo(settings),
    notKnown: stage.notKnown,
    close,
  };
}

async function stageLocal(settings: RehearsalSettings, profile: LocalProfile): Promise<Stage> {
  const engine = await openEngine(settings, profile, { enforceLimits: false });
  const { database, shownAs } = profile;
  return { ...engine, database, shownAs, notKnown: [], remove: async () => {} };
}

async function stageRemote(settings: RehearsalSettings): Promise<Stage> {
  const { copyAccount } = await import("./rehearsal.ts");
  const connection = await openConnection(settings);
  try {
    return await copyAccount(connection.service, settings);
  } finally {
    await connection.close();
  }
}

/**
 * Serves the embedded engine over HTTP, with the service's limits kept.
 * @throws Problem, ServiceError
 */
export async function startServer(settings: ServerSettings): Promise<RunningServer> {
  const { createServer } = await import("./http/server.ts");
  const { createServerLog } = await import("./http/server-log.ts");
  await loadEngine();
  const { ListenError } = await import("./http/listen-error.ts");
  const { version, limitLegacy, bottomLinesDelayMs } = settings;
  const publicUrl = settings.publicUrl ?? findPublicUrl(settings.env);
  const mail = settings.hasWorker ? await findMailSettings(settings) : undefined;
  let listensAt = `http://${settings.host}:${settings.port}`;
  const { transport, appKey, allowsPrivateWebhooks } = await openEngine(settings, settings.profile, {
    enforceLimits: true,
    limitLegacy,
    bottomLinesDelayMs,
    publicUrl: () => publicUrl ?? listensAt,
    // Who calls need not know where it is.
    databaseShownAs: "the database",
  });
  const logger = createServerLog(settings.log, { level: settings.logLevel, clock: settings.clock });
  const chaos = await createChaos(settings);
  const { startWork, createWorker } = await import("./worker.ts");
  const sending = { ...settings, work: transport.work, allowsPrivateWebhooks, log: logger };
  const worker = mail && (await createWorker({ ...sending, mail }));
  const server = createServer(transport, {
    logger,
    chaos,
    ...(settings.chaos?.maxBodyBytes !== undefined && { bodyLimitBytes: settings.chaos.maxBodyBytes }),
    clock: settings.clock,
    about: () => ({ version, publicUrl }),
  });
  try {
    const { url } = await server.listen(settings);
    listensAt = asReachable(url);
    const stopWork = worker && startWork(worker);
    const close = async () => {
      await Promise.all([server.close(), stopWork?.()]);
      // A server of a database that is silent would be waited for without end; nobody waits for its answers any more.
      await Promise.race([transport.close(), wait(closeDatabaseWithinMs, undefined, { ref: false })]);
    };
    const mailsTo = worker?.mailsTo;
    return { url, appKey, close, mailsTo, ...(chaos && { chaosCounts: () => chaos.counts }) };
  } catch (error) {
    await transport.close();
    throw error instanceof ListenError ? new Problem("failed", error.message, error.hint, error) : error;
  }
}

/**
 * Opens what sends mails and webhooks, without a server.
 * @throws Problem, ServiceError
 */
export async function openWorker(settings: WorkerSettings): Promise<OpenWorker> {
  const { createServerLog } = await import("./http/server-log.ts");
  const { createWorker } = await import("./worker.ts");
  await loadEngine();
  const mail = await findMailSettings(settings);
  const publicUrl = settings.publicUrl ?? findPublicUrl(settings.env);
  const { transport, allowsPrivateWebhooks } = await openEngine(settings, settings.profile, {
    enforceLimits: false,
    ...(publicUrl !== undefined && { publicUrl: () => publicUrl }),
  });
  const log = createServerLog(settings.log, { level: settings.logLevel, clock: settings.clock });
  const sending = { ...settings, work: transport.work, allowsPrivateWebhooks, log };
  const worker = await createWorker({ ...sending, mail });
  const close = async () => {
    await worker.close();
    await transport.close();
  };
  return { ...worker, close };
}

/** Where this machine sends mails. */
async function findMailSettings({ env, paths }: Surroundings): Promise<MailSettings> {
  const settings = await import("./config/mail-settings.ts");
  const { smtp, from, outboxFolder } = await settings.findMailSettings(env, paths);
  return smtp ? { kind: "smtp", ...smtp, from } : { kind: "outbox", folder: outboxFolder, from };
}

/**
 * Tries the way out of mails as it is configured.
 * @throws Problem
 */
export async function checkMail(surroundings: Surroundings): Promise<MailCheck> {
  const { openMailTransport } = await import("./mailer/open-transport.ts");
  const transport = await openMailTransport(await findMailSettings(surroundings), surroundings.clock);
  try {
    return await transport.check();
  } finally {
    await transport.close();
  }
}

/**
 * Looks at what a profile stands for, without a change to it: every finding within the time allowed.
 */
export async function probe(settings: ProbeSettings): Promise<readonly Check[]> {
  const { profile } = settings;
  if (profile.mode === "local") {
    const { probeLocal } = await import("./probes/local-probe.ts");
    return probeLocal(settings, profile, findThreadFile(import.meta.url, "./database-probe"));
  }
  const { probeRemote } = await import("./probes/remote-probe.ts");
  return probeRemote(settings, profile);
}

async function createChaos({ chaos, clock }: ServerSettings) {
  if (!chaos) return undefined;
  const { Chaos } = await import("./http/chaos.ts");
  return new Chaos(chaos, clock);
}

/** An address that is none to go to: every address of the machine. */
function asReachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** An account and what carries calls to it, unsigned. */
interface Account {
  readonly transport: Transport;
  /** Sends what the contract may not have, unsigned as well. */
  readonly send: SendRaw;
  readonly appKey: string;
  readonly secret: string | undefined;
  /** One connection of the engine carries out calls in order; several overtake each other, as do those over HTTP. */
  readonly keepsOrder: boolean;
  /** The service's address, or the database as a person may see it. */
  readonly target: string;
}

async function openLocal(settings: ConnectionSettings, profile: LocalProfile): Promise<Account> {
  const publicUrl = findPublicUrl(settings.env);
  const engine = await openEngine(settings, profile, {
    enforceLimits: false,
    ...(publicUrl !== undefined && { publicUrl: () => publicUrl }),
  });
  const transport =
    settings.isBulk === true ? await moveToThread(engine, profile, publicUrl) : engine.transport;
  const { appKey, secret, keepsOrder } = engine;
  const paced = await pace(transport, settings, { target: profile.database, appKey });
  const send = answerHere(paced, settings, profile);
  return { transport: paced, send, appKey, secret, keepsOrder, target: profile.shownAs };
}

/** Answers as a server of this transport would; it is made when it is first asked. */
function answerHere(
  transport: Transport,
  { clock, env, version = "unknown" }: ConnectionSettings,
  { shownAs }: LocalProfile,
): SendRaw {
  let opened: Promise<Server> | undefined;
  const open = async () => {
    const { createServer } = await import("./http/server.ts");
    const { silentLog } = await import("./http/server-log.ts");
    const about = () => ({ version, publicUrl: findPublicUrl(env) });
    return createServer(transport, { logger: silentLog(), clock, about });
  };
  return async ({ utoken, ...request }) => {
    const { readRefusal } = await import("./client/read-answer.ts");
    opened ??= open();
    const answer = await (await opened).answer(request);
    const path = request.target.split("?", 1)[0] ?? "";
    return { ...answer, refusal: readRefusal(answer, { service: shownAs, path, utoken, nowMs: clock() }) };
  };
}

/**
 * Runs the engine in a thread of its own, so that storing overlaps with reading and checking.
 * Garbage is collected earlier than by itself: at full speed two heaps would grow by 100 MB before the first look.
 */
async function moveToThread(
  { transport, sealingKey }: Pick<Stage, "transport" | "sealingKey">,
  { database, shownAs }: Pick<LocalProfile, "database" | "shownAs">,
  publicUrl: string | undefined,
  isRehearsal = false,
): Promise<Transport> {
  const { setFlagsFromString } = await import("node:v8");
  const { Worker } = await import("node:worker_threads");
  const { PortTransport } = await import("./service/port-transport.ts");
  await transport.close();
  setFlagsFromString("--heap-growing-percent=75");
  const workerData: EngineThreadData = { database, shownAs, sealingKey, publicUrl, isRehearsal };
  const file = findThreadFile(import.meta.url, "./engine-thread");
  return new PortTransport(
    new Worker(file, { workerData, resourceLimits: { maxYoungGenerationSizeMb: 24 } }),
  );
}

/** Calls a second that a profile's account is given; nothing where they are not paced. */
function heldTo({ profile, rate, rateShare = 1 }: ConnectionSettings): number | undefined {
  return (rate ?? (profile.mode === "local" ? 0 : usualRate)) * rateShare || undefined;
}

/** Keeps calls to a rate that was asked for in words; by itself the embedded engine is not paced. */
async function pace(
  transport: Transport,
  settings: ConnectionSettings,
  account: PacedAccount,
): Promise<Transport> {
  const { rate = 0, clock } = settings;
  if (rate === 0) return transport;
  const { Pacer } = await import("./client/pacer.ts");
  const { sleep } = await import("./client/sleep.ts");
  const shared = await openSharedPace(settings, account, rate);
  const pacer = new Pacer({ ratePerSecond: rate, clock, sleep, ...shared.options });
  return {
    call: async (operation, input, caller, options) => {
      await pacer.acquire(options);
      return transport.call(operation, input, caller, options);
    },
    close: async () => {
      await transport.close();
      shared.close();
    },
  };
}

/**
 * The pace that all processes of this machine keep together towards an account.
 * Assumed: above 50 calls a second each process keeps a pace of its own, since no limit of the service is near.
 */
async function openSharedPace(
  { paths, clock, random, rateShare: share, notice }: ConnectionSettings,
  account: PacedAccount,
  rate: number,
) {
  if (rate === 0 || rate > mostSharedRate) return { options: { share }, close: () => {} };
  const { SharedPace } = await import("./client/shared-pace.ts");
  const { FileLock } = await import("./storage/file-lock.ts");
  const { sleep } = await import("./client/sleep.ts");
  const { paceFileOf } = await import("./client/pace-file.ts");
  const path = paceFileOf(paths.limitsFolder, account);
  const store = new SharedPace({
    path: `${path}.json`,
    openLock: () => new FileLock(`${path}.lock`),
    sleep,
    clock,
    onFailure: (error) => {
      const why = (error as Error).message;
      notice?.(
        `${path}.json cannot be used (${why}): other processes are not heeded, and together they may exceed the rate`,
      );
    },
  });
  const id = random(6).toString("hex");
  return { options: { share, store, id }, close: () => store.close() };
}

async function openRemote(settings: ConnectionSettings, profile: RemoteProfile): Promise<Account> {
  const { createHttpTransport } = await import("./client/http-transport.ts");
  const { findProxy } = await import("./config/proxy-settings.ts");
  const { baseUrl, appKey } = profile;
  const { clock, env } = settings;
  const proxy = findProxy(env, baseUrl);
  const ratePerSecond = settings.rate ?? usualRate;
  const shared = await openSharedPace(settings, { target: baseUrl, appKey }, ratePerSecond);
  const remote = createHttpTransport({ baseUrl, proxy, ratePerSecond, clock, pace: shared.options });
  const transport: Transport = {
    call: (operation, input, caller, options) =>
      remote.call(operation, input, caller, options).catch((error: unknown) => {
        throw asRefusedSecret(error, profile);
      }),
    close: async () => {
      await remote.close();
      shared.close();
    },
  };
  return { transport, send: remote.send, appKey, secret: undefined, keepsOrder: false, target: baseUrl };
}

/** A service refuses a secret in one word. */
function asRefusedSecret(error: unknown, { name, appKey, baseUrl }: RemoteProfile): unknown {
  if (!(error instanceof ServiceError) || error.kind !== "invalidClient") return error;
  return new ServiceError("invalidClient", `the secret was refused for ${appKey} at ${baseUrl}`, {
    hint:
      name === builtInNames.environment
        ? "put STARPOST_SECRET right where it is set, or sign in with the right one: starpost auth login"
        : `sign in with the right one: starpost auth login --profile ${name}`,
    cause: error,
  });
}

interface Engine {
  readonly transport: LocalTransport;
  readonly appKey: string;
  readonly secret: string;
  readonly sealingKey: Buffer;
  readonly keepsOrder: boolean;
  readonly allowsPrivateWebhooks: boolean;
}

interface EngineOptions extends Omit<LocalTransportOptions, "database" | "clock" | "random" | "sealer"> {
  /** What refusals call the database; its path or address where absent. */
  readonly databaseShownAs?: string;
}

/** For what runs on while a newer version may take the place of the program's files. */
async function loadEngine(): Promise<void> {
  const { loadHandlers } = await import("./engine/handlers.ts");
  await loadHandlers();
}

async function openEngine(
  surroundings: Surroundings,
  { database: url, shownAs }: LocalProfile,
  { databaseShownAs = shownAs, ...options }: EngineOptions,
): Promise<Engine> {
  const { openDatabase } = await import("./storage/database.ts");
  const { ensureFirstAccount } = await import("./engine/first-account.ts");
  const { createLocalTransport } = await import("./engine/local-transport.ts");
  const { createSealer } = await import("./engine/sealer.ts");
  const { asRefusal } = await import("./engine/storage-failure.ts");
  const { clock, random, env, paths } = surroundings;
  const kept = await readSealingKey(env, paths.keyFile);
  const database = await openDatabase(url, { nowMs: clock() }).catch((error: unknown) => {
    throw asRefusal(error, shownAs);
  });
  try {
    const hasAccount = kept === undefined && (await holdsAccount(database.db));
    const key = kept ?? (await findKey(surroundings, { shownAs, hasAccount }));
    const sealer = createSealer(key);
    const { appKey, secret } = await ensureFirstAccount(database, { sealer, clock, random });
    const told = { ...database, shownAs: databaseShownAs };
    const { allowsPrivate: allowsPrivateWebhooks } = await findWebhookSettings(env, paths);
    const given = { database: told, clock, random, sealer, allowsPrivateWebhooks };
    const transport = createLocalTransport({ ...given, ...options });
    const keepsOrder = database.dialect === "sqlite";
    return { transport, appKey, secret, sealingKey: key, keepsOrder, allowsPrivateWebhooks };
  } catch (error) {
    await database.db.destroy();
    throw asRefusal(error, shownAs);
  }
}

async function holdsAccount(db: Database["db"]): Promise<boolean> {
  return (await db.selectFrom("accounts").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Makes the sealing key where there is none. A key is always there before the first account that it seals, so that
 * an account without one has lost it: a new one could open nothing.
 */
async function findKey(
  { env, paths, random }: Surroundings,
  { shownAs, hasAccount }: { readonly shownAs: string; readonly hasAccount: boolean },
): Promise<Buffer> {
  if (!hasAccount) return createSealingKey(paths.keyFile, random);
  // Another process may have made both since this one looked for the key.
  const made = await readSealingKey(env, paths.keyFile);
  if (made) return made;
  throw new Problem(
    "failed",
    `the key of ${shownAs} is missing: ${paths.keyFile} is not there`,
    "Put the key file back from a backup, or set STARPOST_KEY to the key that the database was made with.",
  );
}

function refuseWithoutSecret(profile: Profile): never {
  if (profile.mode === "remote" && profile.utoken !== undefined) {
    throw new Problem(
      "auth",
      `the token in STARPOST_UTOKEN was refused by ${profile.baseUrl}, and STARPOST_SECRET is not set`,
      "Have another printed where the secret is known: starpost auth token.",
    );
  }
  throw new Problem(
    "auth",
    `no secret is known for the profile ${profile.name}`,
    `Sign in: starpost auth login --profile ${profile.name}.`,
  );
}
