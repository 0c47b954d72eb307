import { type Paths, resolvePaths } from "../../config/paths.ts";
import type { Profile, ProfileSources } from "../../config/profile.ts";
import type { WriteGuard } from "../../service/with-write-guard.ts";
import type { Connection, ConnectionSettings, Rehearsal, RehearsalSettings, HostContext } from "../../app/ports.ts";
import type { Globals } from "./global-flags.ts";
import type { Io } from "./io.ts";
import { describeLiveProfile, type WriteApproval } from "./live-profile.ts";
import { canPrompt } from "./prompt.ts";
import { CallPreviewed, type CallPreview } from "../../service/call-preview.ts";
import type { Messages } from "./output/messages.ts";

/** What a command runs with. Nothing is read, opened, or created before it is needed. */
export interface Context {
  readonly io: Io;
  readonly globals: Globals;
  readonly messages: Messages;
  /** The help for a command, noun, or topic. */
  readonly findHelp: (name: string) => Promise<string>;
  profileSources(): Promise<ProfileSources>;
  profile(): Promise<Profile>;
  host(): Promise<HostContext>;
  /** Warns before a write to a live profile, once per command. Connections call it themselves. */
  announceWrite(): Promise<void>;
  /** Whether changes are described instead of made. */
  readonly isDryRun: boolean;
  /**
   * Makes a change without a call of the service, or describes it: an imperative sentence without its period.
   * @param isRehearsed whether the change is discarded anyway, so that a dry run makes it, too
   */
  change<T>(description: string, make: () => Promise<T>, isRehearsed?: "rehearsed"): Promise<T>;
  /** Whether the user has confirmed a write to the account. */
  readonly approval: WriteApproval;
  connect(
    options?: Pick<ConnectionSettings, "rate" | "rateShare" | "isBulk"> & { readonly importId?: string | undefined },
  ): Promise<Connection>;
  /** Runs work on a connection to the profile's account, and closes the connection afterward. */
  withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  withService<T>(work: (service: Connection["service"]) => Promise<T>): Promise<T>;
  /** Starts to load what a bulk connection needs. */
  prepareBulk(): Promise<void>;
  /** Opens the profile's account so that all writes are discarded. */
  rehearse(
    options: Pick<RehearsalSettings, "resources" | "copy" | "rate" | "rateShare" | "signal" | "onEvent">,
  ): Promise<Rehearsal>;
}

/** What a command does without a local database: creates it, or works without one. Otherwise, it fails. */
export type DatabaseUse = "created" | "optional";

interface ContextOptions extends Pick<Context, "findHelp"> {
  readonly database?: DatabaseUse | undefined;
  /** Collects the calls, if they are shown instead of made. */
  readonly shown?: CallPreview | undefined;
}

export function createContext(
  io: Io,
  given: Globals,
  messages: Messages,
  { findHelp, shown, database }: ContextOptions,
): Context {
  // Calls that are not made need no confirmation.
  const globals = shown ? { ...given, yes: true } : given;
  const { env, clock, random } = io;
  let paths: Promise<Paths> | undefined;
  const findPaths = () => (paths ??= resolvePaths(env, io.cwd));
  const profileSources = async () => ({
    env,
    cwd: io.cwd,
    paths: await findPaths(),
    flag: globals.profile,
    account: globals.account,
    hasPerson: () => canPrompt({ io, globals }),
  });
  const withoutDatabase = findFallback(database, shown);
  const host = async () => ({ paths: await findPaths(), env, clock, random, withoutDatabase });
  let found: Promise<Profile> | undefined;
  const profile = () => (found ??= findProfile(profileSources()));
  let isAnnounced = shown !== undefined;
  const announceWrite = async () => {
    const target = await profile();
    if (!target.isLive || isAnnounced) return;
    isAnnounced = true;
    messages.warn(`Writing to ${describeLiveProfile(target)}.`);
  };
  const approval: WriteApproval = { isGiven: false };
  const guarded = { io, globals, messages, profile, approval, announceWrite };
  const guardWrite = createWriteGuard(guarded);
  const ownSettings = async () => ({ ...(await host()), guardWrite, ...(await readSettings(guarded, shown)) });
  const connect: Context["connect"] = async ({ importId, ...options } = {}) => {
    // Settings first: reports an invalid setting before loading anything else.
    const own = await ownSettings();
    const settings = { ...own, by: nameRun(own.by, importId), ...options };
    const { openConnection } = await io.loadApp();
    return openConnection(settings);
  };
  const withConnection: Context["withConnection"] = async (work) => {
    const connection = await connect();
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  };
  return {
    io,
    globals,
    messages,
    findHelp,
    profileSources,
    profile,
    host,
    announceWrite,
    approval,
    connect,
    withConnection,
    withService: (work) => withConnection(({ service }) => work(service)),
    isDryRun: shown !== undefined,
    change: async (description, make, isRehearsed) => {
      if (!shown) return make();
      if (isRehearsed) await make();
      shown.changes.push(description);
      throw new CallPreviewed();
    },
    prepareBulk: async () => {
      const { prepareBulk } = await io.loadApp();
      await prepareBulk(await profile());
    },
    rehearse: async (options) => {
      const settings = { ...(await ownSettings()), ...options };
      const { openRehearsal } = await io.loadApp();
      return openRehearsal(settings);
    },
  };
}

async function findProfile(sources: Promise<ProfileSources>): Promise<Profile> {
  const { resolveProfile } = await import("../../config/profile.ts");
  return resolveProfile(await sources);
}

/** Who makes changes: a person, with the run of an import. */
function nameRun(person: string | undefined, importId: string | undefined): string | undefined {
  if (importId === undefined) return person;
  return [...(person === undefined ? [] : [person]), `import ${importId}`].join(", ");
}

/** What replaces a missing database. A dry run of a command that would create one uses an empty one. */
function findFallback(
  database: DatabaseUse | undefined,
  shown: CallPreview | undefined,
): HostContext["withoutDatabase"] {
  if (database === undefined || shown?.mode === "curl") return undefined;
  return database === "created" && !shown ? "create" : "temporary";
}

type Guarded = Pick<Context, "io" | "globals" | "messages" | "profile" | "approval" | "announceWrite">;

/** What a connection needs in addition to the host, but for the options of the command. */
async function readSettings(context: Guarded, shown: CallPreview | undefined) {
  const { io, globals, messages } = context;
  const profile = await context.profile();
  const { findPerson } = await import("../../config/profile.ts");
  return {
    profile,
    by: findPerson(io.env, profile),
    version: io.version,
    preview: shown?.preview,
    notice: (message: string) => messages.warn(message),
    // A trace contains the waits, too.
    ...(globals.verbose ? { onTrace: messages.trace } : { onWait: (message: string) => messages.info(message) }),
  };
}

function createWriteGuard(context: Guarded): WriteGuard {
  let asking = Promise.resolve();
  return async (operation, input) => {
    if (!context.approval.isGiven) {
      const { confirmOperation } = await import("./confirm.ts");
      const { endpointOf } = await import("../../contract/index.ts");
      // One after the other, so that concurrent calls ask once.
      asking = asking.then(() => confirmOperation(context, endpointOf(operation), input));
      await asking;
    }
    await context.announceWrite();
  };
}
