import type { Writable } from "node:stream";
import type { ChaosPlan } from "../config/chaos-plan.ts";
import type { Environment } from "../config/environment.ts";
import type { Paths } from "../config/paths.ts";
import type { LocalProfile, Profile } from "../config/profile.ts";
import type { StoredToken } from "../config/token-file.ts";
import type { UserError } from "../config/user-error.ts";
import type { EmailAccess, EmailAccessChange } from "../engine/emails/administration.ts";
import type { AccountDetails, AccountSummary } from "../engine/accounts/administration.ts";
import type { AccountKeys } from "../engine/accounts/first-account.ts";
import type { Invitation } from "../engine/accounts/invitations.ts";
import type { GroupName, PublicLimits } from "../contract/index.ts";
import type { SendSigned } from "../service/raw-call.ts";
import type { Service } from "../service/service.ts";
import type { CallOptions } from "../service/transport.ts";
import type { WriteGuard } from "../service/with-write-guard.ts";

export type { EmailAccess, EmailAccessChange };
export type { AccountDetails, AccountSummary };

/** The machine and environment that the program runs in. */
export interface HostContext {
  readonly paths: Paths;
  readonly env: Environment;
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
}

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

export interface ServeOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
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
  /** Faults to inject, for testing clients. */
  readonly chaos?: ChaosPlan | undefined;
  /** Whether to send emails and webhooks, too. */
  readonly hasWorker: boolean;
  /** Whether anyone may create an account, even if other machines can reach the server. */
  readonly allowsSignUp: boolean;
}

export interface ServerSettings extends HostContext, ServeOptions {
  readonly profile: LocalProfile;
  /** The version of the program, for the OpenAPI document. */
  readonly version: string;
  readonly logLevel: "error" | "info" | "debug";
  /** The destination of the log: one JSON line per event. */
  readonly log: Writable;
}

export interface ChaosCounts {
  readonly calls: number;
  /** Calls without an injected fault. */
  readonly spared: number;
  /** Counts by fault name. */
  readonly faults: Readonly<Record<string, number>>;
  /** Counts by operation. */
  readonly operations: Readonly<Record<string, number>>;
}

/** Who may create accounts: people on this machine, anyone, or only people with an invitation. */
export type SignUpState = "local" | "open" | "closed";

export interface RunningServer {
  readonly url: string;
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
  /** Finishes requests in flight first. */
  close(): Promise<void>;
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
export interface App {
  readonly openConnection: (settings: ConnectionSettings) => Promise<Connection>;
  readonly openRehearsal: (settings: RehearsalSettings) => Promise<Rehearsal>;
  readonly startServer: (settings: ServerSettings) => Promise<RunningServer>;
  readonly openWorker: (settings: WorkerSettings) => Promise<OpenWorker>;
  readonly openSealingKeys: (host: HostContext, profile: LocalProfile) => Promise<SealingKeyAdmin>;
  readonly openAccounts: (host: HostContext, profile: LocalProfile) => Promise<AccountAdmin>;
  /** Connects to the configured mail server without sending anything. */
  readonly checkEmail: (host: HostContext) => Promise<EmailCheck>;
  /** Finds the program that inspects a SQLite file in a separate process. */
  readonly findDatabaseProbe: () => URL;
}
