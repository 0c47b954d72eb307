import type { HostContext } from "../host.ts";
import type { Manifest } from "../../backup/manifest.ts";
import type { BackupRecord } from "../../backup/records.ts";
import type { LocalProfile } from "../../config/profile.ts";

export interface BackupSettings extends HostContext {
  readonly profile: LocalProfile;
  /** The version of the program. */
  readonly version: string;
  /** The file to write, which must not exist, or an existing folder for it (default: `folder`). */
  readonly file?: string | undefined;
  /** The folder in which to create a file (default: a folder in the data folder). It is created if necessary. */
  readonly folder?: string | undefined;
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
}

export interface VerifiedBackup {
  readonly file: string;
  readonly manifest: Manifest;
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
  /** Whether to keep the replaced file after the restore. */
  readonly keepsReplaced: boolean;
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
export type BackupRequest = Pick<BackupSettings, "profile" | "version" | "folder" | "paths">;

export type BackupReply = { readonly file: string; readonly bytes: number } | { readonly error: string };
