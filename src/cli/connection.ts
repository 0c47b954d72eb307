import type { Writable } from "node:stream";
import type { Environment } from "../config/environment.ts";
import type { Paths } from "../config/paths.ts";
import type { LocalProfile, Profile } from "../config/profile.ts";
import type { KeptToken } from "../config/token-file.ts";
import type { Service } from "../service/service.ts";

/** What every way to a service is made from. */
export interface Surroundings {
  readonly paths: Paths;
  readonly env: Environment;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
}

export interface ConnectionSettings extends Surroundings {
  readonly profile: Profile;
  /** Calls a second; 0 is no pacing. Where absent, the profile's kind decides. */
  readonly rate?: number | undefined;
  /** The part of that rate which is taken, above 0 up to 1; all of it where absent. */
  readonly rateShare?: number | undefined;
  /** Many calls follow: worth a thread of its own for what answers them here. */
  readonly isBulk?: boolean | undefined;
}

/** An open way to a service, signed in when a call first needs it. */
export interface Connection {
  readonly service: Service;
  readonly appKey: string;
  /** Nothing where the profile knows none. */
  readonly secret: string | undefined;
  /** Calls that are worth having under way at once. */
  readonly concurrency: number;
  /** Whether calls are carried out in the order in which they were made, also those under way at once. */
  readonly keepsOrder: boolean;
  /** A utoken that is valid now: the kept one, or a new one. */
  token(): Promise<KeptToken>;
  /** A new utoken, whatever is kept: proves the secret. */
  renewToken(): Promise<KeptToken>;
  close(): Promise<void>;
}

/** How the service is served. */
export interface Serving {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** What mails and pages link to; where absent, `STARPOST_PUBLIC_URL`, or else where it listens. */
  readonly publicUrl?: string | undefined;
  /** Whether the calls that have no limit in the specification are limited as well. */
  readonly limitLegacy: boolean;
  /** How late the bottom lines of all products are; the specification's hour where absent. */
  readonly bottomLinesDelayMs?: number | undefined;
}

export interface ServerSettings extends Surroundings, Serving {
  readonly profile: LocalProfile;
  /** Of the program, for the description of the API. */
  readonly version: string;
  readonly logLevel: "silent" | "info" | "debug";
  /** Where the log goes, a JSON line an event. */
  readonly log: Writable;
}

export interface RunningServer {
  readonly url: string;
  readonly appKey: string;
  /** Finishes what is in flight. */
  close(): Promise<void>;
}

/** What `compose.ts` offers to commands. */
export interface Compose {
  readonly openConnection: (settings: ConnectionSettings) => Promise<Connection>;
  readonly startServer: (settings: ServerSettings) => Promise<RunningServer>;
}
