import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { access, constants, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type Transform, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { BackupResult, BackupSettings, ListedBackup, VerifiedBackup, VerifySettings } from "../ports.ts";
import { extractFile, hashFile, isEncrypted, writeArchive } from "../../backup/archive.ts";
import { createManifest, type Manifest, manifestName, readManifest, toUserError } from "../../backup/manifest.ts";
import { foreignContent } from "../../backup/dump-script.ts";
import {
  ageMark,
  checkRecipients,
  createMask,
  decrypt,
  encrypt,
  type Identity,
  readIdentity,
} from "../../backup/encryption.ts";
import { damaged, dumpDatabase, verifyDump } from "../../backup/postgres-backup.ts";
import { type BackupRecord, changeRecords, readRecords } from "../../backup/records.ts";
import { isDatabaseServer, type LocalProfile } from "../../config/profile.ts";
import { readSealingKey } from "../../config/sealing-key.ts";
import { codeOf, toFileError, toInputError, UserError } from "../../config/user-error.ts";
import { findFreeBytes } from "../../doctor/local/database-checks.ts";
import { type DatabaseFileProbe, probeDatabaseFile } from "../../doctor/local/database-file-probe.ts";
import { createSealer } from "../../engine/kernel/sealer.ts";
import { toServiceError } from "../../engine/kernel/storage-errors.ts";
import { findThreadFile } from "../../service/thread-file.ts";
import { type DatabaseFacts, inspectDatabase } from "../../storage/inspect-database.ts";
import { findSchemaProblem } from "../../storage/schema/migrate.ts";
import { isMissingFile, parseDatabaseAddress } from "../../storage/address.ts";
import { copyDatabaseFile, deleteDatabaseFile } from "../../storage/sqlite/file-copy.ts";
import { missingDatabase, StorageError } from "../../storage/storage-error.ts";

export { readManifest };

/** Checking a copy reads all of it. Assumed: no disk takes longer than this, in milliseconds. */
const checkWithinMs = 6 * 60 * 60 * 1_000;

const busyTimeoutMs = 5_000;

/**
 * Backs up a database while others use it, into one new file.
 * @throws UserError, ServiceError
 */
export async function createBackup(settings: BackupSettings): Promise<BackupResult> {
  const { profile, clock, random, paths, recipients = [], signal } = settings;
  const startedMs = clock();
  await checkRecipients(recipients);
  const server = await inspectSource(settings).catch((error: unknown) => {
    throw toServiceError(error, profile.shownAs);
  });
  const file = await findTarget(settings, startedMs);
  // A schedule makes one backup at a time, so its temporary files have the same name every time.
  const schedule = createHash("sha256").update([hostname(), paths.dataFolder, profile.shownAs].join("\n"));
  const isScheduled = settings.isScheduled === true;
  const mark = isScheduled ? `scheduled-${schedule.digest("hex").slice(0, 12)}` : random(6).toString("hex");
  const isServer = isDatabaseServer(profile);
  const isSecret = recipients.length > 0;
  // SQLite cannot encrypt its copy, so a secret one stays where the database is.
  const content = `${isSecret && !isServer ? profile.database : file}.${mark}.content`;
  const draft = `${file}.${mark}.draft`;
  const unmask = isSecret && isServer ? createMask(random) : undefined;
  let keyFile: string | undefined;
  try {
    // What a killed process of the schedule has left behind. Otherwise, every further attempt could add a copy.
    const isLeftover = (name: string) => /\.(?:content|draft)(?:-\w+)?$/.test(name) && name.includes(`.${mark}.`);
    for (const folder of isScheduled ? new Set([dirname(content), dirname(draft)]) : []) {
      for (const name of (await readdir(folder)).filter(isLeftover)) await rm(join(folder, name));
    }
    const { facts, ...dumped } = await copyContent(settings, { path: content, unmask }, server);
    if (settings.withSealingKey === true) keyFile = await copySealingKey(settings, keyFileOf(file, settings), facts);
    const { size: bytes } = await stat(content);
    const name = isServer ? "starpost.dump" : "starpost.db";
    const manifest = createManifest({
      starpost: settings.version,
      created_at: new Date(startedMs).toISOString(),
      database: profile.shownAs,
      dialect: isServer ? "postgres" : "sqlite",
      database_version: facts.version,
      schema: facts.schema,
      accounts: facts.accounts,
      ...dumped,
      content: { name, bytes, sha256: await hashFile({ path: content, unmask }, signal) },
    });
    await writeArchive(draft, {
      text: { name: manifestName, content: `${JSON.stringify(manifest, undefined, 2)}\n` },
      file: { name, path: content, bytes, unmask },
      modifiedMs: startedMs,
      isCompressed: isServer,
      recipients,
      signal,
    });
    const record: BackupRecord = {
      file,
      created_at: manifest.created_at,
      database: profile.shownAs,
      bytes: (await stat(draft)).size,
      database_size: facts.bytes,
      sha256: await hashFile({ path: draft }, signal),
      scheduled: isScheduled,
      encrypted: isSecret,
    };
    // Fails if somebody has created the file in the meantime.
    await link(draft, file).catch(async (error: unknown) => {
      // Some file systems do not support hard links.
      if (existsSync(file)) throw error;
      await rename(draft, file);
    });
    const recording = changeRecords(paths, ({ backups }) => ({ backups: [...backups, record] }));
    const isRecorded = await recording.then(() => true).catch(() => false);
    return { ...record, manifest, keyFile, isRecorded, durationMs: clock() - startedMs };
  } catch (error) {
    if (keyFile !== undefined) await rm(keyFile, { force: true });
    throw convertError(error, file, profile);
  } finally {
    deleteDatabaseFile(content);
    await rm(draft, { force: true });
  }
}

function convertError(error: unknown, file: string, { shownAs, database }: LocalProfile): unknown {
  if (codeOf(error) === "ABORT_ERR") return new UserError("interrupted", "interrupted; no backup was made");
  if (codeOf(error) === "EEXIST") return alreadyExists(file);
  const { path } = error as { readonly path?: unknown };
  // All other files are next to the new one, or next to the database.
  const isNear = typeof path === "string" && path !== database && path.startsWith(`${database}.`);
  const hint = isNear
    ? "An encrypted backup needs room for a copy next to the database."
    : "Name a file in a writable folder with enough room.";
  const converted = path === database ? error : toFileError(error, isNear ? database : file, hint);
  return converted === error ? toServiceError(error, shownAs) : converted;
}

function alreadyExists(file: string): UserError {
  return new UserError("failed", `${file} already exists`, "Name another file.");
}

/** Finds the file to write. The default is in the data folder. */
async function findTarget(settings: BackupSettings, nowMs: number): Promise<string> {
  const { file, folder, paths, recipients = [], withSealingKey } = settings;
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const isFolder = file === undefined || (await stat(file).catch(() => undefined))?.isDirectory() === true;
  const parent = file ?? folder ?? join(paths.dataFolder, "backups");
  const target = isFolder ? join(parent, `starpost-${time}.tar.gz${suffixOf(recipients)}`) : file;
  for (const path of [target, ...(withSealingKey === true ? [keyFileOf(target, settings)] : [])]) {
    if (existsSync(path)) throw alreadyExists(path);
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw toFileError(error, dirname(target), "Name a file in a writable folder.");
  });
  return target;
}

function suffixOf(recipients: readonly string[] = []): string {
  return recipients.length > 0 ? ".age" : "";
}

function keyFileOf(file: string, { recipients }: BackupSettings): string {
  return `${file}.key${suffixOf(recipients)}`;
}

type CopyFacts = Pick<DatabaseFacts, "version" | "accounts" | "account" | "bytes"> & { readonly schema: number };
type CopiedContent = Pick<Manifest, "namespace" | "dump_version"> & { readonly facts: CopyFacts };

/**
 * Checks that there is something to back up.
 * @returns the facts of a database on a server
 * @throws StorageError also `missing`
 */
async function inspectSource({ profile, clock }: BackupSettings): Promise<DatabaseFacts | undefined> {
  const { database, shownAs } = profile;
  const address = parseDatabaseAddress(database);
  if (isMissingFile(address)) throw missingDatabase(shownAs);
  if (address.isFile) return undefined;
  const inspection = await inspectDatabase(database, { clock, busyTimeoutMs });
  if ("failure" in inspection) throw toStorageFailure(inspection.failure);
  if (inspection.facts.tables === 0) throw missingDatabase(shownAs);
  return inspection.facts;
}

async function copyContent(
  { profile, env, signal }: BackupSettings,
  { path, unmask }: { readonly path: string; readonly unmask: (() => Transform) | undefined },
  server: DatabaseFacts | undefined,
): Promise<CopiedContent> {
  const { database, shownAs } = profile;
  if (!server) {
    await copyDatabaseFile(database, path);
    signal?.throwIfAborted();
    return { facts: await checkFile(path, shownAs), namespace: null, dump_version: null };
  }
  return {
    facts: requireSchema(server, shownAs),
    ...(await dumpDatabase({ url: database, shownAs, env, signal }, path, unmask)),
  };
}

function toStorageFailure({ problem, message }: { problem: StorageError["problem"] | "bug"; message: string }): Error {
  return problem === "bug" ? new Error(message) : new StorageError(problem, message);
}

/**
 * Inspects a file in another process, because the driver would keep it open in this one.
 * @param mode whether to omit the check of all pages, and whether somebody else may have written the file
 */
export function probeFile(
  path: string,
  mode: { isQuick?: boolean; isUntrusted?: boolean },
): Promise<DatabaseFileProbe> {
  const program = findThreadFile(import.meta.url, "./database-probe");
  return probeDatabaseFile(path, { program, timeoutMs: checkWithinMs, ...mode });
}

/**
 * Reads all pages of a database file in another process.
 * @param shownAs what the file is, for errors
 * @throws UserError if it is damaged, or could run code although it is not trusted
 */
export async function checkFile(path: string, shownAs: string, isUntrusted = false): Promise<CopyFacts> {
  const { inspection, damage, foreign } = await probeFile(path, { isUntrusted });
  if (foreign) throw foreignContent(shownAs, foreign.slice(0, 3).join(", "));
  if (inspection && "failure" in inspection) {
    const { problem, message } = inspection.failure;
    throw toStorageFailure({ problem, message: message.replaceAll(path, shownAs) });
  }
  if (!inspection || damage === undefined) throw new Error(`the check of ${shownAs} was ended`);
  if (damage.length > 0) {
    throw new UserError("failed", `${shownAs} is damaged: ${damage.join("; ")}`, "Use an earlier backup.");
  }
  return requireSchema(inspection.facts, shownAs);
}

function requireSchema({ version, accounts, account, bytes, schema }: DatabaseFacts, shownAs: string): CopyFacts {
  if (schema !== null) return { version, accounts, account, bytes, schema };
  throw new UserError("failed", `${shownAs} is not a starpost database: it has none of its tables`, "Use another one.");
}

/** Copies the sealing keys to a new file, which only its owner can read, encrypted as the backup is. */
async function copySealingKey(settings: BackupSettings, target: string, facts: CopyFacts): Promise<string> {
  const { env, paths } = settings;
  const hint = "Run the command as the user, and with the environment, of the server.";
  const keys = await readSealingKey(env, paths.keyFile);
  if (!keys) {
    const problem = `${paths.keyFile} does not exist, and STARPOST_KEY is not set`;
    throw new UserError("failed", `there is no sealing key: ${problem}`, hint);
  }
  if (!opensAccount(keys, facts)) {
    throw new UserError("failed", "the sealing key of this machine does not open the secrets in the database", hint);
  }
  const lines = Array.from({ length: keys.length / 32 }, (_, at) => keys.subarray(at * 32, (at + 1) * 32));
  const content = Buffer.from(lines.map((key) => `${key.toString("hex")}\n`).join(""));
  await writeFile(target, encrypt([content], settings.recipients), { flag: "wx", mode: 0o600 });
  return target;
}

/** Whether keys open the secrets of a database. */
export function opensAccount(keys: Buffer, { account }: Pick<DatabaseFacts, "account">): boolean {
  if (!account) return true;
  try {
    createSealer(keys).open(account.secretSealed);
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks a backup as far as possible without restoring it.
 * @throws UserError if it is damaged
 */
export async function verifyBackup(settings: VerifySettings): Promise<VerifiedBackup> {
  const { file, identityFile, random, env, signal } = settings;
  const identity = identityFile === undefined ? undefined : await readIdentity(identityFile);
  const manifest = await readManifest(file, identity).catch((error: unknown) => {
    throw toInputError(error, file);
  });
  refuseOtherSchema(manifest, file);
  const found = { file, manifest, isEncrypted: await isEncrypted(file) };
  if (manifest.dialect === "postgres") {
    await verifyDump({ file, manifest, identity }, { env, signal });
    return found;
  }
  if (found.isEncrypted) {
    // Nothing decrypted is written to a disk, so only its checksum is checked. Its pages were before it was encrypted.
    await readContent(file, manifest, new Writable({ write: (_chunk, _encoding, done) => done() }), identity);
    return found;
  }
  const folder = await access(dirname(file), constants.W_OK).then(() => dirname(file), tmpdir);
  const content = join(folder, `${basename(file)}.${random(6).toString("hex")}.content`);
  try {
    await extractContent(file, manifest, content);
    await checkContent(content, file, manifest);
    return found;
  } finally {
    deleteDatabaseFile(content);
  }
}

/** Checks the database file of a backup. @throws UserError if it must not be used */
export async function checkContent(
  content: string,
  file: string,
  manifest: Manifest,
  isTrusted = false,
): Promise<void> {
  const { schema, accounts } = await checkFile(content, file, !isTrusted).catch((error: Error) => {
    // The content of a backup is not a bug.
    throw error instanceof UserError ? error : new UserError("failed", error.message, "Use another backup.", error);
  });
  if (schema !== manifest.schema || accounts !== manifest.accounts)
    throw damaged(file, `${manifestName} does not match the database`);
}

/** @throws UserError if the tables in a backup are of a version that cannot be used */
export function refuseOtherSchema({ schema }: Manifest, file: string): void {
  const found = findSchemaProblem(schema);
  if (found) throw new UserError("failed", `${file}: ${found.problem}`, found.fix);
}

/** Writes the database in a backup to a new file. @throws UserError if the backup is damaged */
export async function extractContent(
  file: string,
  manifest: Manifest,
  target: string,
  identity?: Identity,
): Promise<void> {
  const { content } = manifest;
  const folder = dirname(target);
  const freeBytes = await findFreeBytes(folder);
  if (freeBytes !== undefined && content.bytes > freeBytes) {
    const problem = `contains ${content.bytes} bytes, but ${folder} has only ${freeBytes} free`;
    throw new UserError("failed", `${file}: ${problem}`, "Free some space, or use another backup.");
  }
  const output = createWriteStream(target, { flags: "wx", mode: 0o600 });
  await readContent(file, manifest, output, identity).catch((error: unknown) => {
    throw toFileError(error, target);
  });
}

/** Writes the database in a backup to a stream. @throws UserError if the backup is damaged */
async function readContent(file: string, { content }: Manifest, output: Writable, identity?: Identity): Promise<void> {
  const names = { text: manifestName, file: content.name, bytes: content.bytes };
  const read = await extractFile(file, names, output, identity).catch((error: unknown) => {
    throw toUserError(error);
  });
  if (read.sha256 !== content.sha256 || read.bytes !== content.bytes) throw damaged(file);
}

/**
 * Lists the backups that were made on this machine, newest first.
 * @param database only those of this database, as it is shown to users
 */
export async function listBackups(paths: BackupSettings["paths"], database?: string): Promise<readonly ListedBackup[]> {
  const { backups } = await readRecords(paths);
  return backups
    .filter((record) => database === undefined || record.database === database)
    .map((record) => Object.assign(record, { exists: existsSync(record.file) }))
    .toReversed();
}

/** Reads the keys in a file that was written with a backup. */
export async function readKeyFile(path: string, identity?: Identity): Promise<Buffer> {
  const stored = await readFile(path).catch((error: unknown) => {
    throw toInputError(error, path);
  });
  const isSecret = stored.subarray(0, ageMark.length).equals(ageMark);
  const content = isSecret ? await text(decrypt([stored], path, identity)) : stored.toString();
  const keys = content.split(/\s+/).filter((line) => line !== "");
  if (keys.length > 0 && keys.every((key) => /^[0-9a-f]{64}$/i.test(key))) return Buffer.from(keys.join(""), "hex");
  throw new UserError("failed", `${path} does not contain sealing keys`);
}
