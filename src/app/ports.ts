import type { Writable } from "node:stream";
import type {
  BackupResult,
  BackupSettings,
  ListedBackup,
  Restoration,
  RestoreSettings,
  VerifiedBackup,
  VerifySettings,
} from "./backups/ports.ts";
import type { HostContext } from "./host.ts";
import type { RunningServer, ServerSettings } from "./serve-ports.ts";
import type { Paths } from "../config/paths.ts";
import type { LocalProfile, Profile } from "../config/profile.ts";
import type { StoredToken } from "../config/token-file.ts";
import type { EmailAccess, EmailAccessChange } from "../engine/emails/administration.ts";
import type { AccountDetails, AccountSummary } from "../engine/accounts/administration.ts";
import type { AccountKeys } from "../engine/accounts/first-account.ts";
import type { Invitation } from "../engine/accounts/invitations.ts";
import type { GroupName } from "../contract/index.ts";
import type { SendSigned } from "../service/raw-call.ts";
import type { Service } from "../service/service.ts";
import type { Preview } from "../service/call-preview.ts";
import type { OnTrace } from "../service/trace.ts";
import type { CallOptions } from "../service/transport.ts";
import type { WebhookForwarding } from "../service/webhook-forwarding.ts";
import type { WriteGuard } from "../service/with-write-guard.ts";
import type { DatabaseFacts } from "../storage/inspect-database.ts";
import type { TableDistribution } from "../storage/postgres/distribution.ts";

export type {
  BackupResult,
  BackupSettings,
  ListedBackup,
  Restoration,
  RestoreSettings,
  VerifiedBackup,
  VerifySettings,
};
export type { HostContext };
export type { ChaosCounts, RunningServer, ServeOptions, ServerSettings, SignUpState } from "./serve-ports.ts";
export type { AccountDetails, AccountSummary, EmailAccess, EmailAccessChange };

export interface ConnectionSettings extends HostContext {
  readonly profile: Profile;
  /** Calls per second; 0 disables pacing. The default depends on the profile. */
  readonly rate?: number | undefined;
  /** The fraction of the rate to use, above 0 up to 1 (default: 1). */
  readonly rateShare?: number | undefined;
  /** Called before each call that changes a live account; the call is not made if it throws. */
  readonly guardWrite?: WriteGuard | undefined;
  readonly version?: string | undefined;
  /** Shows a warning. */
  readonly notice?: ((message: string) => void) | undefined;
  /** Shows that a call will be retried, and when. */
  readonly onWait?: ((message: string) => void) | undefined;
  /** Receives every HTTP request, or every call of the embedded engine. */
  readonly onTrace?: OnTrace | undefined;
  /** Set if calls are shown instead of made. */
  readonly preview?: Preview | undefined;
  /** Whether many calls follow. Then the embedded engine runs in a separate thread. */
  readonly isBulk?: boolean | undefined;
}

/** A connection to an account. Signs in when a call first needs it. */
export interface Connection {
  readonly service: Service;
  /** Sends any HTTP call with the credentials of the account. The embedded engine responds as a server does. */
  readonly send: SendSigned;
  readonly appKey: string;
  /**
   * Reads the secret of the account.
   * @throws UserError `auth` if none is stored
   */
  readonly readSecret: () => Promise<string>;
  /** The recommended number of concurrent calls. */
  readonly concurrency: number;
  /** The recommended number of concurrent calls with one record each. */
  readonly singleConcurrency: number;
  /** Whether concurrent calls run in the order in which they were made. */
  readonly keepsOrder: boolean;
  /** The rate limit in calls per second; undefined if calls are not paced. */
  readonly ratePerSecond: number | undefined;
  /** Returns a valid utoken: the cached one, or a new one. */
  token(): Promise<StoredToken>;
  /** Requests a new utoken, which verifies the secret. */
  renewToken(): Promise<StoredToken>;
  close(): Promise<void>;
}

/** Settings of a rehearsal, which runs an import without keeping its changes. */
export interface RehearsalSettings extends ConnectionSettings {
  /** The records on which the import depends; copied if the account is remote. */
  readonly resources: readonly GroupName[];
  /** Copies what `resources` does not cover. @returns what could not be read */
  readonly copy?: ((from: Service, to: Service, options: CallOptions) => Promise<readonly string[]>) | undefined;
  /** Aborts copying the account. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: CallOptions["onEvent"];
}

/** A connection whose changes are discarded. Until it is closed, other processes cannot write to a local database. */
export interface Rehearsal extends Pick<
  Connection,
  "service" | "concurrency" | "singleConcurrency" | "keepsOrder" | "close"
> {
  /** The rate limit of the account itself, in calls per second; undefined if calls are not paced. */
  readonly ratePerSecond: number | undefined;
  /** Descriptions of account data that could not be copied. */
  readonly notKnown: readonly string[];
}

/** How to send emails and webhooks without a server. */
export interface WorkerOptions {
  /** The lease duration, in milliseconds (default: one minute). */
  readonly leaseMs?: number | undefined;
  /** The base of links in emails (default: `STARPOST_PUBLIC_URL`). */
  readonly publicUrl?: string | undefined;
}

export interface WorkerSettings extends HostContext, WorkerOptions {
  readonly profile: LocalProfile;
  /** The version of the program, for receivers of webhooks. */
  readonly version: string;
  readonly logLevel: "error" | "info" | "debug";
  /** The destination of the log: one JSON line per event. */
  readonly log: Writable;
}

/** What was sent and what was not. */
export interface WorkSummary {
  /** `interrupted` if a signal stopped the worker early. */
  readonly state: "completed" | "interrupted";
  readonly mails: Readonly<Record<"sent" | "not_sent" | "deferred" | "bounced" | "failed", number>>;
  readonly webhooks: Readonly<Record<string, number>>;
  /** Emails that their accounts may not send yet. */
  readonly held: number;
  /** Why sending emails stopped, if it did. */
  readonly problem: string | null;
}

/** Sends emails and webhooks. Aborting `stop` ends a run after the deliveries in flight. */
export interface OpenWorker {
  /** A description of where emails are sent. */
  readonly emailTarget: string;
  /** Sends everything that is or becomes due, until it is stopped. */
  run(stop: AbortSignal): Promise<void>;
  /** Sends everything that is due now. */
  runOnce(stop: AbortSignal): Promise<WorkSummary>;
  close(): Promise<void>;
}

/** Whether the mail server accepts emails, and why not. */
export type EmailCheck = { readonly ready: true } | { readonly ready: false; readonly problem: string };

/** The accounts of an embedded database, for its operator. Unknown app keys are rejected with `recordNotFound`. */
export interface AccountAdmin {
  /** The account that commands use: the one of `--account`, or else the first. */
  readonly ownAppKey: string;
  readonly list: () => Promise<readonly AccountSummary[]>;
  readonly show: (appKey: string) => Promise<AccountDetails & { readonly emailAccess: EmailAccess }>;
  /** Shows and changes which emails an account may send. */
  readonly emailAccess: (appKey: string) => Promise<EmailAccess>;
  readonly changeEmailAccess: (appKey: string, change: EmailAccessChange) => Promise<EmailAccess>;
  /** Allows or forbids an account's webhooks to call private addresses. */
  readonly setPrivateWebhooks: (appKey: string, isAllowed: boolean) => Promise<void>;
  readonly create: (name: string | undefined) => Promise<AccountKeys>;
  /** Lists invitations that can still be used. */
  readonly invitations: () => Promise<readonly Invitation[]>;
  readonly invite: (lifetimeMs: number) => Promise<{ readonly code: string; readonly expiresAtMs: number }>;
  readonly disable: (appKey: string) => Promise<void>;
  /** @returns false if the account is being deleted */
  readonly enable: (appKey: string) => Promise<boolean>;
  /** @returns the new secret */
  readonly rotateSecret: (appKey: string) => Promise<string>;
  /** Revokes one token, or all. @returns the number of revoked tokens */
  readonly revokeTokens: (appKey: string, token: string | undefined) => Promise<number>;
  /** @returns the number of deleted rows */
  readonly delete: (appKey: string, onDeleted: (rows: number) => void) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** The state of a database, and its name for users. */
export interface DatabaseStatus extends DatabaseFacts {
  readonly shownAs: string;
}

/** What distributing a database over several servers changes. */
export interface Distribution extends TableDistribution {
  /** Whether it adds the Citus extension to the database. */
  readonly addsExtension: boolean;
  /** Does it, in one transaction, after migrating the database. @returns what was changed */
  readonly distribute: () => Promise<TableDistribution>;
}

/** The keys that encrypt secrets in embedded databases. */
export interface SealingKeyAdmin {
  /** Adds a key, unless a rotation was interrupted, and seals the secrets of the database with it. */
  readonly rotate: () => Promise<{
    readonly isNewKey: boolean;
    readonly resealed: number;
    /** Secrets that no key can open. They remain unchanged. */
    readonly unreadable: number;
  }>;
  /** Counts the secrets of the database that are sealed with an old key. */
  readonly outdated: () => Promise<number>;
  /** Deletes the old keys. @returns their number */
  readonly retire: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** The application, as commands use it. Implemented by `app.ts`. */
export interface App extends WebhookForwarding {
  readonly openConnection: (settings: ConnectionSettings) => Promise<Connection>;
  /** Starts to load what a bulk connection needs, before it is opened. */
  readonly prepareBulk: (profile: Pick<Profile, "mode">) => Promise<void>;
  readonly openRehearsal: (settings: RehearsalSettings) => Promise<Rehearsal>;
  readonly startServer: (settings: ServerSettings) => Promise<RunningServer>;
  readonly openWorker: (settings: WorkerSettings) => Promise<OpenWorker>;
  readonly openSealingKeys: (host: HostContext, profile: LocalProfile) => Promise<SealingKeyAdmin>;
  /** Reads the state of a database without migrating it. */
  readonly readDatabaseStatus: (host: HostContext, profile: LocalProfile) => Promise<DatabaseStatus>;
  readonly openDistribution: (host: HostContext, profile: LocalProfile) => Promise<Distribution>;
  readonly createBackup: (settings: BackupSettings) => Promise<BackupResult>;
  readonly verifyBackup: (settings: VerifySettings) => Promise<VerifiedBackup>;
  readonly openRestoration: (settings: RestoreSettings) => Promise<Restoration>;
  /** Lists the backups that were made on this machine, newest first; with a database, only its own. */
  readonly listBackups: (paths: Paths, database?: string) => Promise<readonly ListedBackup[]>;
  /** @param isRehearsed whether changes of one transaction are rolled back; the others must not be made */
  readonly openAccounts: (host: HostContext, profile: LocalProfile, isRehearsed?: boolean) => Promise<AccountAdmin>;
  /** Connects to the configured mail server without sending anything. */
  readonly checkEmail: (host: HostContext) => Promise<EmailCheck>;
  /** Finds the program that inspects a SQLite file in a separate process. */
  readonly findDatabaseProbe: () => URL;
}
