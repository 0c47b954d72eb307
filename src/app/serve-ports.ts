import type { Writable } from "node:stream";
import type { HostContext } from "./host.ts";
import type { ChaosPlan } from "../config/chaos-plan.ts";
import type { LocalProfile } from "../config/profile.ts";
import type { UserError } from "../config/user-error.ts";
import type { PublicLimits } from "../contract/index.ts";

/** Backups that a server makes by itself. */
export interface BackupSchedule {
  readonly everyMs: number;
  /** The number of scheduled backups to keep. */
  readonly keep: number;
  /** Default: a folder in the data folder. */
  readonly folder?: string | undefined;
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
  /** When to make backups, if at all. */
  readonly backups?: BackupSchedule | undefined;
  /** Where to serve metrics, if anywhere. Port 0 selects a free port. */
  readonly metricsAt?: { readonly host: string; readonly port: number } | undefined;
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
  /** Finishes requests in flight first. */
  close(): Promise<void>;
}
