import { existsSync, statSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Restoration, RestoreSettings } from "../ports.ts";
import { checkContent, extractContent, opensAccount, probeFile, readKeyFile, refuseOtherSchema } from "./backups.ts";
import { type Identity, readIdentity } from "../../backup/encryption.ts";
import { type Manifest, readManifest } from "../../backup/manifest.ts";
import { inUse, restoreDump } from "../../backup/postgres-backup.ts";
import { isDatabaseServer, type LocalProfile } from "../../config/profile.ts";
import { hasSealingVariable, readSealingKey, writeSealingKeys } from "../../config/sealing-key.ts";
import { codeOf, toInputError, UserError } from "../../config/user-error.ts";
import { toServiceError } from "../../engine/kernel/storage-errors.ts";
import { inspectDatabase } from "../../storage/inspect-database.ts";
import { deleteDatabaseFile, lockDatabaseFile, placeFile } from "../../storage/sqlite/file-copy.ts";

const busyTimeoutMs = 5_000;

/**
 * Prepares to restore a backup into the database of a profile. Nothing is changed until `restore` is called.
 * @throws UserError if the backup cannot be restored there
 */
export async function openRestoration(settings: RestoreSettings): Promise<Restoration> {
  const { file, profile, sealingKeyFile, identityFile, env } = settings;
  const identity = identityFile === undefined ? undefined : await readIdentity(identityFile);
  const manifest = await readManifest(file, identity).catch((error: unknown) => {
    throw toInputError(error, file);
  });
  refuseOtherDatabase(manifest, settings);
  if (sealingKeyFile !== undefined && hasSealingVariable(env)) {
    throw new UserError(
      "usage",
      "the sealing keys are in STARPOST_KEY",
      "Add the keys of the file to the variable, after a comma, and remove --sealing-key.",
    );
  }
  const keys = sealingKeyFile === undefined ? undefined : await readKeyFile(sealingKeyFile, identity);
  // Keys that cannot be read must not fail after the database was replaced.
  await readSealingKey(env, settings.paths.keyFile);
  return {
    manifest,
    replaced: await describeExisting(settings),
    restore: async () => {
      try {
        const { database: url, shownAs } = profile;
        const isServer = isDatabaseServer(profile);
        // PostgreSQL keeps the replaced tables until the transaction is committed.
        const { signal, isTrusted } = settings;
        if (isServer) await restoreDump({ url, shownAs, env, signal }, { file, manifest, identity }, isTrusted);
        const keptAs = isServer ? undefined : await restoreFile(settings, manifest, identity);
        if (keys) await addSealingKeys(settings, keys);
        return { keptAs, opensSecrets: await opensSecrets(settings) };
      } catch (error) {
        throw toServiceError(error, profile.shownAs);
      }
    },
  };
}

function refuseOtherDatabase(manifest: Manifest, { profile, file }: RestoreSettings): void {
  refuseOtherSchema(manifest, file);
  const isForServer = manifest.dialect === "postgres";
  if (isForServer === isDatabaseServer(profile)) return;
  throw new UserError(
    "failed",
    `${file} contains a ${isForServer ? "PostgreSQL" : "SQLite"} database, but ${profile.shownAs} is ${isForServer ? "a SQLite file" : "on PostgreSQL"}`,
    `Set STARPOST_DATABASE to ${isForServer ? "the URL of a PostgreSQL database" : "the path of a file"}, or select a profile with --profile.`,
  );
}

/** @returns what would be replaced; undefined if there is nothing */
async function describeExisting({ profile, clock }: RestoreSettings): Promise<Restoration["replaced"]> {
  const { database, shownAs } = profile;
  const isServer = isDatabaseServer(profile);
  if (!isServer && !(statSync(database, { throwIfNoEntry: false })?.size ?? 0)) return undefined;
  const { inspection } = isServer
    ? { inspection: await inspectDatabase(database, { clock, busyTimeoutMs }) }
    : await probeFile(database, { isQuick: true });
  if (!inspection) throw new UserError("failed", `${shownAs} cannot be read`);
  if ("failure" in inspection) {
    if (isServer) throw new UserError("failed", inspection.failure.message);
    // Damaged: the usual reason to restore a backup.
    return { accounts: undefined };
  }
  const { schema, tables, accounts } = inspection.facts;
  if (schema !== null) return { accounts };
  if (tables === 0) return undefined;
  throw new UserError(
    "failed",
    `${shownAs} is not a starpost database: it contains other tables; nothing was changed`,
    "Restore into another database.",
  );
}

/** @returns the path of the replaced database, if it is kept */
async function restoreFile(
  settings: RestoreSettings,
  manifest: Manifest,
  identity: Identity | undefined,
): Promise<string | undefined> {
  const { profile, file, random, clock, keepsReplaced, isTrusted } = settings;
  const { database: path } = profile;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${random(6).toString("hex")}.restored`;
  try {
    await extractContent(file, manifest, draft, identity);
    await checkContent(draft, file, manifest, isTrusted);
    if (!existsSync(path)) {
      placeFile(draft, path);
      return undefined;
    }
    const keptAs = `${path}.replaced-${new Date(clock()).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    await replaceFile(profile, draft, keptAs);
    if (keepsReplaced) return keptAs;
    deleteDatabaseFile(keptAs);
    return undefined;
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw inUse(profile.shownAs);
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function replaceFile({ database, shownAs }: LocalProfile, draft: string, keptAs: string): Promise<void> {
  const locked = await lockDatabaseFile(database);
  if (!locked) throw inUse(shownAs);
  try {
    locked.replaceBy(draft, keptAs);
  } finally {
    locked.close();
  }
}

/** Adds keys to the file of this machine, after its own. */
async function addSealingKeys({ env, paths }: RestoreSettings, keys: Buffer): Promise<void> {
  const own = (await readSealingKey(env, paths.keyFile)) ?? Buffer.alloc(0);
  const split = (buffer: Buffer) => buffer.toString("hex").match(/.{64}/g) ?? [];
  const all = new Set([...split(own), ...split(keys)]);
  await writeSealingKeys(paths.keyFile, Buffer.from([...all].join(""), "hex"));
}

/** Whether the keys of this machine open the secrets of the database. */
async function opensSecrets({ profile, env, paths, clock }: RestoreSettings): Promise<boolean> {
  const inspection = await inspectDatabase(profile.database, { clock, busyTimeoutMs });
  if ("failure" in inspection) throw new Error(inspection.failure.message);
  const keys = await readSealingKey(env, paths.keyFile);
  return keys ? opensAccount(keys, inspection.facts) : inspection.facts.account === null;
}
