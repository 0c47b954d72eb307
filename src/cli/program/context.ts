import { type Paths, resolvePaths } from "../../config/paths.ts";
import type { Profile, ProfileSources } from "../../config/profile.ts";
import type { WriteGuard } from "../../service/with-write-guard.ts";
import type { Connection, ConnectionSettings, Rehearsal, RehearsalSettings, HostContext } from "../../app/ports.ts";
import type { Globals } from "./global-flags.ts";
import type { Io } from "./io.ts";
import { describeLiveProfile, type WriteApproval } from "./live-profile.ts";
import { canPrompt } from "./prompt.ts";
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
  /** Whether the user has confirmed a write to the account. */
  readonly approval: WriteApproval;
  connect(options?: Pick<ConnectionSettings, "rate" | "rateShare" | "isBulk">): Promise<Connection>;
  /** Opens the profile's account so that all writes are discarded. */
  rehearse(
    options: Pick<RehearsalSettings, "resources" | "copy" | "rate" | "rateShare" | "signal" | "onEvent">,
  ): Promise<Rehearsal>;
}

export function createContext(io: Io, globals: Globals, messages: Messages, findHelp: Context["findHelp"]): Context {
  let paths: Promise<Paths> | undefined;
  const findPaths = () => (paths ??= resolvePaths(io.env, io.cwd));
  const profileSources = async () => ({
    env: io.env,
    cwd: io.cwd,
    paths: await findPaths(),
    flag: globals.profile,
    account: globals.account,
    hasPerson: () => canPrompt({ io, globals }),
  });
  const host = async () => ({
    paths: await findPaths(),
    env: io.env,
    clock: io.clock,
    random: io.random,
  });
  let found: Promise<Profile> | undefined;
  const findProfile = async () => {
    const { resolveProfile } = await import("../../config/profile.ts");
    return resolveProfile(await profileSources());
  };
  const profile = () => (found ??= findProfile());
  let isAnnounced = false;
  const announceWrite = (target: Profile) => {
    if (!target.isLive || isAnnounced) return;
    isAnnounced = true;
    messages.warn(`Writing to ${describeLiveProfile(target)}.`);
  };
  const approval: WriteApproval = { isGiven: false };
  let asking = Promise.resolve();
  const guardWrite: WriteGuard = async (operation, input) => {
    if (!approval.isGiven) {
      const { confirmOperation } = await import("./confirm.ts");
      const { endpointOf } = await import("../../contract/index.ts");
      // One after the other, so that concurrent calls ask once.
      asking = asking.then(() => confirmOperation({ io, globals, profile, approval }, endpointOf(operation), input));
      await asking;
    }
    announceWrite(await profile());
  };
  const ownSettings = async () => {
    const target = await profile();
    return {
      ...(await host()),
      profile: target,
      version: io.version,
      guardWrite,
      notice: (message: string) => messages.warn(message),
      onWait: (message: string) => messages.info(message),
    };
  };
  return {
    io,
    globals,
    messages,
    findHelp,
    profileSources,
    profile,
    host,
    announceWrite: async () => announceWrite(await profile()),
    approval,
    connect: async (options = {}) => {
      // Settings first: reports an invalid setting before loading anything else.
      const settings = { ...(await ownSettings()), ...options };
      const { openConnection } = await io.loadApp();
      return openConnection(settings);
    },
    rehearse: async (options) => {
      const settings = { ...(await ownSettings()), ...options };
      const { openRehearsal } = await io.loadApp();
      return openRehearsal(settings);
    },
  };
}
