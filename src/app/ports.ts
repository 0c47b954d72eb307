import type { Writable } from "node:stream";
import type { CertificateFiles } from "./certificate.ts";
import type { ChaosCounts } from "../server/chaos.ts";
import type { Paths } from "../config/paths.ts";
import type { LocalProfile, Profile } from "../config/profile.ts";
import type { StoredToken } from "../config/token-file.ts";
import type { EmailAccess, EmailAccessChange } from "../engine/emails/administration.ts";
import type { AccountDetails, AccountSummary } from "../engine/accounts/administration.ts";
import type { AccountKeys } from "../engine/accounts/first-account.ts";
import type { Invitation } from "../engine/accounts/invitations.ts";
import type { GroupName, PublicLimits } from "../contract/index.ts";
import type { SendSigned } from "../service/raw-call.ts";
import type { Service } from "../service/service.ts";
import type { Preview } from "../service/call-preview.ts";
import type { OnTrace } from "../service/trace.ts";
import type { CallOptions } from "../service/transport.ts";
import type { WebhookForwarding } from "../service/webhook-forwarding.ts";
import type { WriteGuard } from "../service/with-write-guard.ts";
import type { DatabaseFacts } from "../storage/inspect-database.ts";
import type { TableDistribution } from "../storage/postgres/distribution.ts";
import type { DkimPublication, DkimRecord } from "../email/dkim-record.ts";
import type { EmailTransport } from "../email/transports/transport.ts";
import type { Environment } from "../config/environment.ts";
import type { ChaosPlan } from "../config/chaos-plan.ts";
import type { UserError } from "../config/user-error.ts";
import type { Manifest } from "../backup/manifest.ts";
import type { BackupRecord } from "../backup/records.ts";
import type { ShopTools } from "./shop-tools.ts";

export type { ChaosCounts };
export type { AccountDetails, AccountSummary, EmailAccess, EmailAccessChange };

export interface ConnectionSettings extends HostContext {
  readonly profile: Profile;
  /** The person or job that changes data, for histories. */
  readonly by?: string | undefined;
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
  /** The version of the program, for receivers of webhooks and the OpenAPI document. */
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
export type EmailCheck = Awaited<ReturnType<EmailTransport["check"]>>;

/** The key with which emails are signed (DKIM), and its TXT record. */
export interface DkimKey extends DkimRecord {
  readonly domain: string;
  readonly selector: string;
}

/** The key compared with DNS. `unused`: the sender has another domain. */
export interface DkimCheck extends DkimKey {
  readonly state: DkimPublication["state"] | "unused";
  /** What is wrong, for people; null if the key is published. */
  readonly problem: string | null;
}

/** The accounts of an embedded database, for its operator. Unknown app keys are rejected with `recordNotFound`. */
export interface AccountAdmin {
  /** The account that commands use: the one of `--account`, or else the first. */
  readonly ownAppKey: string;
  readonly list: () => AsyncIterable<readonly AccountSummary[]>;
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
export interface App extends WebhookForwarding, ShopTools {
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
  /** Creates or replaces the DKIM key of the sender's domain. */
  readonly createDkimKey: (host: HostContext, selector?: string) => Promise<DkimKey>;
  /** Compares the DKIM key with DNS. Returns undefined without a key. */
  readonly checkDkim: (host: HostContext) => Promise<DkimCheck | undefined>;
  /** Finds the program that inspects a SQLite file in a separate process. */
  readonly findDatabaseProbe: () => URL;
}

/** The machine and environment that the program runs in. */
export interface HostContext {
  readonly paths: Paths;
  readonly env: Environment;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
  /** What to do if there is no local database (default: fail). `temporary`: use an empty one, and delete it afterward. */
  readonly withoutDatabase?: "create" | "temporary" | undefined;
}

/** Backups that a server makes by itself. */
export interface BackupSchedule {
  readonly everyMs: number;
  /** The number of scheduled backups to keep. */
  readonly keep: number;
  /** Default: a folder in the data folder. */
  readonly folder?: string | undefined;
  /** As for `BackupSettings`. */
  readonly recipients?: readonly string[] | undefined;
}

export interface ServeOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** For HTTPS (default: HTTP). */
  readonly certificate?: CertificateFiles | undefined;
  /** The base of links in emails and pages (default: `STARPOST_PUBLIC_URL`, or else the server's address). */
  readonly publicUrl?: string | undefined;
  /** Whether to limit calls for which the specification defines no limit. */
  readonly limitLegacy: boolean;
  /** The limits of calls without a token (default: those of the contract, unless only this machine can call). */
  readonly publicLimits?: PublicLimits | undefined;
  /** Addresses and networks of reverse proxies whose `X-Forwarded-For` is used. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** The delay of the bottom lines of all products (default: one hour, as in the specification). */
  readonly bottomLinesDelayMs?: number | undefined;
  /** The space that the photos of an account may take up, in bytes (default: `photoLimits.bytesPerAccount`). */
  readonly photoStorageBytes?: number | undefined;
  /** Faults to inject, for testing clients. */
  readonly chaos?: ChaosPlan | undefined;
  /** Whether to send emails and webhooks, too. */
  readonly hasWorker: boolean;
  /** Whether anyone may create an account, even if other machines can reach the server. */
  readonly allowsSignUp: boolean;
  /** When to make backups, if at all. */
  readonly backups?: BackupSchedule | undefined;
  /** The file for the log (default: standard error). */
  readonly logFile?: string | undefined;
  /** Where to serve metrics, if anywhere. Port 0 selects a free port. */
  readonly metricsAt?: { readonly host: string; readonly port: number } | undefined;
}

export type ServerSettings = Omit<WorkerSettings, keyof WorkerOptions> & ServeOptions;

/** Who may create accounts: people on this machine, anyone, or only people with an invitation. */
export type SignUpState = "local" | "open" | "closed";

export interface RunningServer {
  readonly url: string;
  /** The address of `/metrics`, without the path, if metrics are served. */
  readonly metricsUrl?: string | undefined;
  readonly appKey: string;
  readonly signUp: SignUpState;
  /** Where links in emails and pages point, if that works only on this machine although others can reach the server. */
  readonly localLinks?: string | undefined;
  /** Whether all clients behind a reverse proxy count as one, because the server does not know the proxy. */
  readonly mixesClients: boolean;
  /** A description of where emails are sent, if the server sends them. */
  readonly emailTarget?: string | undefined;
  /** Why the server does not send emails, although it should; they stay queued. */
  readonly emailProblem?: UserError | undefined;
  /** Counts of injected faults, if there are any. */
  readonly chaosCounts?: () => ChaosCounts;
  /** Reads the settings of emails and webhooks again. If they are invalid, logs why, and keeps the old ones. */
  reload(): Promise<void>;
  /** Continues in a new log file, after another program has renamed the old one. */
  reopenLog(): void;
  /** Finishes requests in flight first. */
  close(): Promise<void>;
}

export interface BackupSettings extends HostContext {
  readonly profile: LocalProfile;
  /** The version of the program. */
  readonly version: string;
  /** The file to write, which must not exist, or an existing folder for it (default: `folder`). */
  readonly file?: string | undefined;
  /** The folder in which to create a file (default: a folder in the data folder). It is created if necessary. */
  readonly folder?: string | undefined;
  /** The public keys (age) for which the backup is encrypted (default: it is not encrypted). */
  readonly recipients?: readonly string[] | undefined;
  /** Whether to copy the sealing key, too, to a second file. */
  readonly withSealingKey?: boolean | undefined;
  /** Whether a server made it by itself, and may delete it later. */
  readonly isScheduled?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A backup that was made. */
export interface BackupResult extends BackupRecord {
  readonly manifest: Manifest;
  readonly keyFile: string | undefined;
  /** Whether it is in the list of backups; false if the data folder is not writable. */
  readonly isRecorded: boolean;
  readonly durationMs: number;
}

export interface VerifySettings extends Pick<BackupSettings, "env" | "random" | "signal"> {
  readonly file: string;
  /** The file with the secret key of an encrypted backup. */
  readonly identityFile?: string | undefined;
}

export interface VerifiedBackup {
  readonly file: string;
  readonly manifest: Manifest;
  readonly isEncrypted: boolean;
}

export interface ListedBackup extends BackupRecord {
  /** Whether the file is still there. */
  readonly exists: boolean;
}

export interface RestoreSettings extends HostContext {
  readonly profile: LocalProfile;
  readonly file: string;
  /** The file with the sealing key of the backup. */
  readonly sealingKeyFile?: string | undefined;
  /** The file with the secret key of an encrypted backup. */
  readonly identityFile?: string | undefined;
  /** Whether to keep the replaced file after the restore. */
  readonly keepsReplaced: boolean;
  /** Whether the backup may contain views, triggers, and functions that starpost does not create. */
  readonly isTrusted: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A backup that can be restored. */
export interface Restoration {
  readonly manifest: Manifest;
  /** What would be replaced, if anything. The accounts are undefined if the database cannot be read. */
  readonly replaced: { readonly accounts: number | undefined } | undefined;
  readonly restore: () => Promise<{
    /** The path of the replaced file, if it was kept. */
    readonly keptAs: string | undefined;
    /** Whether the sealing key of this machine opens the secrets in the database. */
    readonly opensSecrets: boolean;
  }>;
}

/** What the process needs to make a backup. The address of the database may contain a password, so it is not an argument. */
export type BackupRequest = Pick<BackupSettings, "profile" | "version" | "folder" | "paths" | "recipients">;

export type BackupReply = { readonly file: string; readonly bytes: number } | { readonly error: string };
