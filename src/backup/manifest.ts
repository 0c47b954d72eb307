import { UserError } from "../config/user-error.ts";
import { ArchiveError, readArchiveText } from "./archive.ts";
import type { Identity } from "./encryption.ts";

/** The version of the format of backups. A new one is needed only if older programs could not restore them. */
const formatVersion = 1;

export const manifestName = "manifest.json";

/** What a backup contains: the beginning of the file, as JSON. */
export interface Manifest {
  readonly format: "starpost-backup";
  readonly format_version: number;
  /** The version of starpost that made it. */
  readonly starpost: string;
  /** When the backup began, in ISO 8601; it contains everything that was committed before. */
  readonly created_at: string;
  /** The path or address, without a password. */
  readonly database: string;
  readonly dialect: "sqlite" | "postgres";
  /** Such as `SQLite 3.50.4`. */
  readonly database_version: string;
  /** The version of the tables. */
  readonly schema: number;
  readonly accounts: number;
  /** The PostgreSQL schema that contains the tables; null for SQLite. */
  readonly namespace: string | null;
  /** The major version of `pg_dump`; null for SQLite. */
  readonly dump_version: number | null;
  /** The database, as a file in the archive. */
  readonly content: { readonly name: string; readonly bytes: number; readonly sha256: string };
}

export function createManifest(facts: Omit<Manifest, "format" | "format_version">): Manifest {
  return { format: "starpost-backup", format_version: formatVersion, ...facts };
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string" && value.length <= 1_000 && !/[\p{Cc}\p{Cf}]/u.test(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isTime: Check = (value) => isText(value) && !Number.isNaN(Date.parse(String(value)));

/** What every version of the format contains. */
const identityChecks = {
  format: (value) => value === "starpost-backup",
  format_version: isCount,
  starpost: isText,
} as const satisfies Readonly<Record<string, Check>>;

const checks: Readonly<Record<Exclude<keyof Manifest, keyof typeof identityChecks | "content">, Check>> = {
  created_at: isTime,
  database: isText,
  dialect: (value) => value === "sqlite" || value === "postgres",
  database_version: isText,
  schema: isCount,
  accounts: isCount,
  namespace: (value) => value === null || isText(value),
  dump_version: (value) => value === null || isCount(value),
};

const contentChecks: Readonly<Record<keyof Manifest["content"], Check>> = {
  name: isText,
  bytes: isCount,
  sha256: isText,
};

/** @returns the name of the first field that is missing or invalid */
function findInvalid(value: unknown, fields: Readonly<Record<string, Check>>): string | undefined {
  const record = (value ?? {}) as Readonly<Record<string, unknown>>;
  return Object.keys(fields).find((name) => !fields[name]?.(record[name]));
}

/**
 * Reads the manifest of a backup, which anybody may have written.
 * @throws UserError if the file is not a backup, or was made by a newer version
 */
export async function readManifest(path: string, identity?: Identity): Promise<Manifest> {
  const text = await readArchiveText(path, manifestName, identity).catch((error: unknown) => {
    throw toUserError(error);
  });
  const manifest = parseJson(text) as Manifest;
  if (findInvalid(manifest, identityChecks)) throw toUserError(new ArchiveError(`${path}: not a backup of starpost`));
  if (manifest.format_version > formatVersion) {
    throw new UserError(
      "failed",
      `${path}: made by a newer starpost (${manifest.starpost}), in a format that this version does not support`,
      "Update starpost.",
    );
  }
  const invalid = findInvalid(manifest, checks) ?? findInvalid(manifest.content, contentChecks);
  if (invalid !== undefined) {
    throw toUserError(new ArchiveError(`${path}: invalid backup: ${invalid} in ${manifestName} is missing or invalid`));
  }
  return manifest;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Converts an error about the content of a backup. Returns any other error unchanged. */
export function toUserError(error: unknown): unknown {
  if (!(error instanceof ArchiveError)) return error;
  return new UserError("failed", error.message, "Use another backup; `starpost backup list` lists them.", error);
}
