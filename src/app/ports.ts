import type { Writable } from "node:stream";
import type { ChaosPlan } from "../config/chaos-plan.ts";
import type { Environment } from "../config/environment.ts";
import type { Paths } from "../config/paths.ts";
import type { LocalProfile, Profile } from "../config/profile.ts";
import type { StoredToken } from "../config/token-file.ts";
import type { GroupName } from "../contract/index.ts";
import type { SendSigned } from "../service/raw-call.ts";
import type { Service } from "../service/service.ts";
import type { CallOptions } from "../service/transport.ts";

/** What every way to a service is made from. */
export interface HostContext {
  readonly paths: Paths;
  readonly env: Environment;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
}

export interface ConnectionSettings extends HostContext {
  readonly profile: Profile;
  /** Calls a second; 0 is no pacing. Where absent, the profile's kind decides. */
  readonly rate?: number | undefined;
  /** The part of that rate which is taken, above 0 up to 1; all of it where absent. */
  readonly rateShare?: number | undefined;
  /** Told before each call that changes a live account. */
  readonly announceWrite?: (() => void) | undefined;
  /** Of the program, as a service is told. */
  readonly version?: string | undefined;
  /** Says what a person should know and nothing fails of. */
  readonly notice?: ((message: string) => void) | undefined;
  /** Says to who is at the screen that a call is tried again, and when. */
  readonly onWait?: ((message: string) => void) | undefined;
  /** Many calls follow: worth a thread of its own for what answers them here. */
  readonly isBulk?: boolean | undefined;
}

/** An open way to a service, signed in when a call first needs it. */
export interface Connection {
  readonly service: Service;
  /** Sends any call of the wire with the account's credentials; what answers here answers as a server does. */
  readonly send: SendSigned;
  readonly appKey: string;
  /**
   * The account's secret, from wherever it is kept.
   * @throws UserError `auth` where none is known
   */
  readonly readSecret: () => Promise<string>;
  /** Calls that are worth having under way at once. */
  readonly concurrency: number;
  /** Whether calls are carried out in the order in which they were made, also those under way at once. */
  readonly keepsOrder: boolean;
  /** Calls a second that it is held to; nothing where it is not paced. */
  readonly ratePerSecond: number | undefined;
  /** A utoken that is valid now: the kept one, or a new one. */
  token(): Promise<StoredToken>;
  /** A new utoken, whatever is kept: proves the secret. */
  renewToken(): Promise<StoredToken>;
  close(): Promise<void>;
}

/** What is to be rehearsed: everything as in earnest, and none of it stays. */
export interface RehearsalSettings extends ConnectionSettings {
  /** The records on which the import depends; copied if the account is remote. */
  readonly resources: readonly GroupName[];
  /** Copies what `resources` does not cover. @returns what could not be read */
  readonly copy?:
    | ((from: Service, to: Service, options: CallOptions) => Promise<readonly string[]>)
    | undefined;
  /** Ends the reading of it. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: CallOptions["onEvent"];
}

/** An account as it is, to be written to without a trace. Until it is closed, nobody else writes to a local one. */
export interface Rehearsal extends Pick<Connection, "service" | "concurrency" | "keepsOrder" | "close"> {
  /** Calls a second that the account itself would be given; nothing where they are not paced. */
  readonly ratePerSecond: number | undefined;
  /** What of the account could not be had, in words. */
  readonly notKnown: readonly string[];
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
  /** Faults that calls meet on purpose, for rehearsals. */
  readonly chaos?: ChaosPlan | undefined;
  /** Whether mails and webhooks are sent as well. */
  readonly hasWorker: boolean;
}

export interface ServerSettings extends HostContext, Serving {
  readonly profile: LocalProfile;
  /** Of the program, for the description of the API. */
  readonly version: string;
  readonly logLevel: "error" | "info" | "debug";
  /** Where the log goes, a JSON line an event. */
  readonly log: Writable;
}

export interface ChaosCounts {
  readonly calls: number;
  /** Of those, the ones that were answered as they would be without chaos. */
  readonly spared: number;
  /** By the names that the plan has for them. */
  readonly faults: Readonly<Record<string, number>>;
  /** All calls by their names. */
  readonly operations: Readonly<Record<string, number>>;
}

export interface RunningServer {
  readonly url: string;
  readonly appKey: string;
  /** Where mails go, in words, where the server sends them. */
  readonly mailsTo?: string | undefined;
  /** What calls have met, where the server misbehaves on purpose. */
  readonly chaosCounts?: () => ChaosCounts;
  /** Finishes what is in flight. */
  close(): Promise<void>;
}

/** How mails and webhooks are sent, apart from a server. */
export interface Working {
  /** How long what was taken is held without a word of it, milliseconds; a minute where absent. */
  readonly leaseMs?: number | undefined;
  /** What mails link to; where absent, `STARPOST_PUBLIC_URL`. */
  readonly publicUrl?: string | undefined;
}

export interface WorkerSettings extends HostContext, Working {
  readonly profile: LocalProfile;
  /** Of the program, for the receivers of webhooks. */
  readonly version: string;
  readonly logLevel: "error" | "info" | "debug";
  /** Where the log goes, a JSON line an event. */
  readonly log: Writable;
}

/** What was sent, and what was not. */
export interface WorkSummary {
  /** `interrupted` where a signal came before all was done. */
  readonly state: "completed" | "interrupted";
  readonly mails: Readonly<Record<"sent" | "not_sent" | "deferred" | "bounced" | "failed", number>>;
  readonly webhooks: Readonly<Record<string, number>>;
  /** Why no mail could be sent any more, in words. */
  readonly problem: string | null;
}

/** What sends mails and webhooks. Both ways to run it end early once `stop` is aborted; what is in flight is finished. */
export interface OpenWorker {
  /** Where mails go, in words. */
  readonly mailsTo: string;
  /** Sends what is due, and what becomes due, until it is stopped. */
  run(stop: AbortSignal): Promise<void>;
  /** Sends all that is due now. */
  runOnce(stop: AbortSignal): Promise<WorkSummary>;
  close(): Promise<void>;
}

/** Whether a mail would be taken now; words for a person where not. */
export type MailCheck = { readonly ready: true } | { readonly ready: false; readonly problem: string };

/** What `app.ts` offers to commands. */
export interface App {
  readonly openConnection: (settings: ConnectionSettings) => Promise<Connection>;
  readonly openRehearsal: (settings: RehearsalSettings) => Promise<Rehearsal>;
  readonly startServer: (settings: ServerSettings) => Promise<RunningServer>;
  readonly openWorker: (settings: WorkerSettings) => Promise<OpenWorker>;
  /** Tries the way out of mails as it is configured. */
  readonly checkMail: (host: HostContext) => Promise<MailCheck>;
  /** Finds the program that inspects a SQLite file in a separate process. */
  readonly findDatabaseProbe: () => URL;
}
