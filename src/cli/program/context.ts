import { type Paths, resolvePaths } from "../../config/paths.ts";
import type { Profile, ProfileSources } from "../../config/profile.ts";
import type { Connection, ConnectionSettings, Rehearsal, RehearsalSettings, HostContext } from "../../app/ports.ts";
import type { Globals } from "./global-flags.ts";
import type { Io } from "./io.ts";
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
  const ownSettings = async () => {
    const target = await profile();
    return {
      ...(await host()),
      profile: target,
      version: io.version,
      announceWrite: () => announceWrite(target),
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

/** The account or database, for a person to double-check: `shop (live, https://api.example.com)`. */
export function describeLiveProfile(profile: Profile): string {
  return `${profile.name} (live, ${profile.mode === "remote" ? profile.baseUrl : profile.shownAs})`;
}
