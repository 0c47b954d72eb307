import type { App, Connection, ConnectionSettings, Rehearsal, RehearsalSettings } from "./ports.ts";
import { commandAccounts, openEngine } from "./engine.ts";
import { findRate, pace, defaultRate, openSharedPace } from "./pacing.ts";
import { findPoolSettings } from "../config/database-settings.ts";
import type { Environment } from "../config/environment.ts";
import type { LocalProfile, Profile, RemoteProfile } from "../config/profile.ts";
import { UserError } from "../config/user-error.ts";
import { findPublicUrl } from "../config/public-url.ts";
import { createTokenStore } from "../config/token-file.ts";
import type { EngineThread } from "./start-engine-thread.ts";
import { noTokens, type Stage } from "./rehearsal.ts";
import type { OperationName } from "../contract/index.ts";
import { callOf, createService } from "../service/service.ts";
import { createSignedSender, type SendRaw } from "../service/raw-call.ts";
import { findThreadFile } from "../service/thread-file.ts";
import type { Transport } from "../service/transport.ts";
import { withToken } from "../service/with-token.ts";
import { withWriteGuard } from "../service/with-write-guard.ts";
import type { Server } from "../server/server.ts";
import type { ForwardSettings, ForwardWebhook } from "../service/webhook-forwarding.ts";
import type { WebhookPost } from "../worker/webhooks/webhook-request.ts";
import { builtInNames } from "../config/profile-name.ts";
import { ServiceError } from "../contract/errors.ts";

export { openAccounts, openDistribution, openSealingKeys, readDatabaseStatus } from "./administration.ts";
export { checkDkim, createDkimKey } from "./dkim.ts";
export { checkEmail } from "./email-transport.ts";
export { openWorker, startServer } from "./server.ts";

/** Loaded on demand: few commands make backups. */
const loadBackups = () => import("./backups/backups.ts");

export const createBackup: App["createBackup"] = async (settings) => (await loadBackups()).createBackup(settings);
export const verifyBackup: App["verifyBackup"] = async (settings) => (await loadBackups()).verifyBackup(settings);
export const listBackups: App["listBackups"] = async (paths, database) =>
  (await loadBackups()).listBackups(paths, database);
export const openRestoration: App["openRestoration"] = async (settings) =>
  (await import("./backups/restore.ts")).openRestoration(settings);

/** Default number of concurrent calls. The embedded engine serializes writes, but waiting calls share a commit. */
const concurrency = 4;

/** The same for calls with one record each, which the embedded engine carries out together. */
const singleConcurrency = { local: 384, remote: concurrency } as const;

/**
 * Connects to the account of a profile. With `withoutDatabase: "create"`, creates the embedded database with a key and an account.
 * @throws UserError, ServiceError
 */
export async function openConnection(settings: ConnectionSettings): Promise<Connection> {
  const { profile } = settings;
  const account = await (profile.mode === "local" ? openLocal(settings, profile) : openRemote(settings, profile));
  const { appKey, secret, keepsOrder, target } = account;
  const isRemote = profile.mode === "remote";
  const mark = isRemote ? profile.tokenMark : secret;
  const readSecret = async () => (isRemote ? await profile.readSecret() : secret) ?? refuseWithoutSecret(profile);
  const signed = withToken(account.transport, {
    appKey,
    readSecret,
    cache: account.isTemporary
      ? noTokens
      : createTokenStore(settings.paths.tokensFolder, { profile: profile.name, target, appKey, mark }),
    utoken: isRemote ? profile.utoken : undefined,
    clock: settings.clock,
  });
  // Before bulk calls, so that they do not change order while waiting for a token.
  if (settings.isBulk === true) await signed.token();
  const ratePerSecond = findRate(settings);
  const guarded = profile.isLive && settings.guardWrite ? withWriteGuard(signed, settings.guardWrite) : signed;
  const connection = {
    service: createService(guarded, { appKey, by: settings.by }),
    send: createSignedSender({
      send: account.send,
      appKey,
      by: settings.by,
      tokens: signed,
      createCoreToken: async () => {
        const input = { secret: await readSecret() };
        return (await signed.call("core.createToken", input, { appKey })).access_token;
      },
    }),
    appKey,
    readSecret,
    concurrency,
    singleConcurrency: singleConcurrency[profile.mode],
    keepsOrder,
    ratePerSecond,
    token: () => signed.token(),
    renewToken: () => signed.renewToken(),
    close: async () => {
      await signed.close();
      account.remove?.();
    },
  };
  const { preview } = settings;
  if (!preview) return connection;
  const { previewCalls } = await import("./preview.ts");
  return previewCalls(connection, { ...settings, preview, transport: signed, rehearse: rehearseOne(settings) });
}

/** Makes one call so that its changes are discarded. */
function rehearseOne(settings: ConnectionSettings) {
  return async (operation: OperationName, input: Readonly<Record<string, unknown>>) => {
    const rehearsal = await openRehearsal({ ...settings, resources: [] });
    try {
      await callOf(rehearsal.service, operation)(input);
    } finally {
      await rehearsal.close();
    }
  };
}

/**
 * Opens the account of a profile for a rehearsal: the local profile's database in a transaction that is rolled back, or a copy of
 * a remote account.
 * @throws UserError, ServiceError
 */
export async function openRehearsal(settings: RehearsalSettings): Promise<Rehearsal> {
  const { clock } = settings;
  const stage = await stageAccount(settings);
  const { appKey, secret } = stage;
  const transport = await moveToThread(await startThread(), stage, stage, settings.env, true).catch(
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
    // Takes the lock now.
    await signed.token();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    service: createService(signed, { appKey }),
    concurrency,
    singleConcurrency: singleConcurrency.local,
    keepsOrder: true,
    ratePerSecond: findRate(settings),
    notKnown: stage.notKnown,
    close,
  };
}

async function stageAccount(settings: RehearsalSettings): Promise<Stage> {
  const { profile } = settings;
  if (profile.mode === "local") {
    const engine = await openEngine(settings, profile, { enforceLimits: false, ...commandAccounts });
    return { ...engine, shownAs: profile.shownAs, notKnown: [], remove: async () => engine.remove() };
  }
  const { copyAccount } = await import("./rehearsal.ts");
  const connection = await openConnection(settings);
  try {
    return await copyAccount(connection.service, settings);
  } finally {
    await connection.close();
  }
}

/** Finds the program that inspects a SQLite file in a separate process. */
export function findDatabaseProbe(): URL {
  return findThreadFile(import.meta.url, "./database-probe");
}

export const requestPage: App["requestPage"] = async (request) =>
  (await import("../worker/page-request.ts")).requestPage(request);

export const startDemo: App["startDemo"] = async (settings) =>
  (await import("./demo.ts")).startDemo(settings, openConnection);

async function openLocal(settings: ConnectionSettings, profile: LocalProfile): Promise<Account> {
  const publicUrl = findPublicUrl(settings.env);
  // Started first, so that it loads the engine while this thread opens the database.
  const thread = settings.isBulk === true ? await startThread() : undefined;
  const options = {
    enforceLimits: false,
    // A command on the database itself is the operator's.
    photoStorageBytes: Infinity,
    ...commandAccounts,
    ...(publicUrl !== undefined && { publicUrl: () => publicUrl }),
  };
  const engine = await openEngine(settings, profile, options).catch(async (error: unknown) => {
    await thread?.stop();
    throw error;
  });
  const { appKey, secret, keepsOrder, database, remove } = engine;
  const { shownAs } = profile;
  const transport = thread ? await moveToThread(thread, engine, { database, shownAs }, settings.env) : engine.transport;
  const { onTrace, clock } = settings;
  const traced = onTrace ? (await import("../service/trace.ts")).traceCalls(transport, onTrace, clock) : transport;
  const paced = await pace(traced, settings, { target: profile.database, appKey });
  const send = createLocalSender(paced, settings, profile);
  const isTemporary = database !== profile.database;
  return { transport: paced, send, appKey, secret, keepsOrder, target: shownAs, isTemporary, remove };
}

async function startThread(): Promise<EngineThread> {
  return (await import("./start-engine-thread.ts")).takeEngineThread();
}

/** Starts to load what a bulk connection to the profile needs, while files are read. */
export async function prepareBulk({ mode }: Pick<Profile, "mode">): Promise<void> {
  if (mode === "local") (await import("./start-engine-thread.ts")).prepareEngineThread();
}

/** Runs the engine in a separate thread, so that storing overlaps with reading and checking. */
async function moveToThread(
  thread: EngineThread,
  { transport, sealingKey }: Pick<Stage, "transport" | "sealingKey">,
  { database, shownAs }: Pick<LocalProfile, "database" | "shownAs">,
  env: Environment,
  isRehearsal = false,
): Promise<Transport> {
  const settings = { publicUrl: findPublicUrl(env), pool: findPoolSettings(env) };
  await transport.close();
  thread.open({ database, shownAs, sealingKey, isRehearsal, ...settings });
  return thread.transport;
}

function refuseWithoutSecret(profile: Profile): never {
  if (profile.mode === "remote" && profile.utoken !== undefined) {
    throw new UserError(
      "auth",
      `${profile.baseUrl} rejected the token in STARPOST_UTOKEN, and STARPOST_SECRET is not set`,
      "To get a new token, run `starpost auth token` where the secret is known.",
    );
  }
  throw new UserError(
    "auth",
    `no secret stored for profile ${profile.name}`,
    `Run \`starpost auth login --profile ${profile.name}\`.`,
  );
}

/** Handles raw calls with an in-process server, which is created on the first call. */
function createLocalSender(
  transport: Transport,
  { clock, env, version = "unknown" }: ConnectionSettings,
  { shownAs }: LocalProfile,
): SendRaw {
  let opened: Promise<Server> | undefined;
  const open = async () => {
    const { createServer } = await import("../server/server.ts");
    const { silentLog } = await import("../server/server-log.ts");
    const about = () => ({ version, publicUrl: findPublicUrl(env) });
    return createServer(transport, { logger: silentLog(), clock, about });
  };
  return async ({ utoken, ...request }) => {
    const { parseRefusal } = await import("../client/response-parser.ts");
    opened ??= open();
    const response = await (await opened).answer(request);
    const path = request.target.split("?", 1)[0] ?? "";
    return { ...response, refusal: parseRefusal(response, { service: shownAs, path, utoken, nowMs: clock() }) };
  };
}

/** Creates a function that sends webhook requests to any address, signed as those of a worker. */
export function openForwarder({ clock, version, url }: ForwardSettings): ForwardWebhook {
  let opened: Promise<WebhookPost> | undefined;
  // Loaded on demand, because every command loads this file.
  const open = async () =>
    (await import("../worker/webhooks/webhook-request.ts")).createWebhookPost({ clock, version });
  return async ({ eventId, body, secret }, signal) => {
    opened ??= open();
    const outcome = await (await opened)({ url, eventId, body, secret, isPrivateAllowed: true }, signal);
    return {
      durationMs: Math.round(outcome.durationMs),
      status: "status" in outcome ? outcome.status : undefined,
      problem: "problem" in outcome ? outcome.problem : undefined,
    };
  };
}

async function openRemote(settings: ConnectionSettings, profile: RemoteProfile): Promise<Account> {
  const { createHttpTransport } = await import("../client/http-transport.ts");
  const { findProxy } = await import("../config/proxy-settings.ts");
  const { baseUrl, appKey } = profile;
  const { clock, env, onWait, onTrace } = settings;
  const proxy = findProxy(env, baseUrl);
  const ratePerSecond = settings.rate ?? defaultRate;
  const shared = await openSharedPace(settings, { target: baseUrl, appKey }, ratePerSecond);
  const paced = { ratePerSecond, pace: shared.options };
  const remote = createHttpTransport({ baseUrl, proxy, ...paced, clock, onWait, onTrace });
  const transport: Transport = {
    call: (operation, input, caller, options) =>
      remote.call(operation, input, caller, options).catch((error: unknown) => {
        throw describeRejectedSecret(error, profile);
      }),
    close: async () => {
      await remote.close();
      shared.close();
    },
  };
  return { transport, send: remote.send, appKey, secret: undefined, keepsOrder: false, target: baseUrl };
}

/** Adds the account and a hint to the error for a rejected secret. */
function describeRejectedSecret(error: unknown, { name, appKey, baseUrl }: RemoteProfile): unknown {
  if (!(error instanceof ServiceError) || error.kind !== "invalidClient") return error;
  return new ServiceError("invalidClient", `${baseUrl} rejected the secret of app key ${appKey}`, {
    hint:
      name === builtInNames.environment
        ? "correct STARPOST_SECRET if it is set; otherwise, run `starpost auth login`"
        : `run \`starpost auth login --profile ${name}\``,
    cause: error,
  });
}

/** An account, and the transport for unsigned calls to it. */
interface Account {
  readonly transport: Transport;
  /** Sends any call, also one that is not in the contract, unsigned. */
  readonly send: SendRaw;
  readonly appKey: string;
  readonly secret: string | undefined;
  /** Whether calls run in the order in which they were made. Not over HTTP, or with several database connections. */
  readonly keepsOrder: boolean;
  /** The address of the service, or the database as it is shown to users. */
  readonly target: string;
  /** Whether the database is temporary. */
  readonly isTemporary?: boolean;
  readonly remove?: () => void;
}
