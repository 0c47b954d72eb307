import { UserError } from "../config/user-error.ts";
import { ArchiveError, readArchiveText } from "./archive.ts";

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

/** Parses the manifest of a file. @returns undefined if the text is not one */
function parseManifest(text: string): Manifest | undefined {
  try {
    const found = JSON.parse(text) as Partial<Manifest> | null;
    const isKnown = found?.format === "starpost-backup" && typeof found.content?.sha256 === "string";
    return isKnown ? (found as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads the manifest of a backup.
 * @throws UserError if the file is not a backup, or was made by a newer version
 */
export async function readManifest(path: string): Promise<Manifest> {
  const text = await readArchiveText(path, manifestName).catch((error: unknown) => {
    throw toUserError(error);
  });
  const manifest = parseManifest(text);
  if (!manifest) throw toUserError(new ArchiveError(`${path}: not a backup of starpost`));
  if (manifest.format_version > formatVersion) {
    throw new UserError(
      "failed",
      `${path}: made by a newer starpost (${manifest.starpost}), in a format that this version does not support`,
      "Update starpost.",
    );
  }
  return manifest;
}

/** Converts an error about the content of a backup. Returns any other error unchanged. */
export function toUserError(error: unknown): unknown {
  if (!(error instanceof ArchiveError)) return error;
  return new UserError("failed", error.message, "Use another backup; `starpost backup list` lists them.", error);
}
