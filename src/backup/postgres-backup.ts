import { text } from "node:stream/consumers";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Environment } from "../config/environment.ts";
import { UserError, codeOf } from "../config/user-error.ts";
import { readBackupFacts } from "../storage/postgres/backup-facts.ts";
import { newestSchema } from "../storage/schema/migrate.ts";
import { extractFile } from "./archive.ts";
import { checkScript } from "./dump-script.ts";
import type { Identity } from "./encryption.ts";
import { type Manifest, manifestName, toUserError } from "./manifest.ts";
import { spawn } from "node:child_process";
import { PassThrough, type Readable, type Transform, type Writable } from "node:stream";

/** How long a dump or a restore waits for the locks of others. */
const lockWait = "30s";

interface Server {
  /** The URL, with its password. */
  readonly url: string;
  readonly shownAs: string;
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Dumps the tables of a database with `pg_dump`, which reads one snapshot.
 * @param mask encrypts the dump
 * @throws UserError, StorageError
 */
export async function dumpDatabase(
  { url, shownAs, env, signal }: Server,
  target: string,
  mask?: () => Transform,
): Promise<Pick<Manifest, "namespace" | "dump_version">> {
  const dumpVersion = await readToolVersion("pg_dump", { env });
  const { serverVersion, namespace } = await readBackupFacts(url, shownAs);
  requireVersion("pg_dump", dumpVersion, serverVersion, `the server (PostgreSQL ${serverVersion})`);
  // Unless it is quoted, the name is a pattern.
  const content = ["--format=custom", "--compress=1", `--schema="${namespace.replaceAll('"', '""')}"`];
  const args = [...content, "--no-owner", "--no-privileges", `--lock-wait-timeout=${lockWait}`, "--no-password"];
  await runTool("pg_dump", args, { env: toConnectionEnv(url, env), signal }, { output: toNewFile(target, mask?.()) });
  return { namespace, dump_version: dumpVersion };
}

/** A backup of a database on a server. */
export interface DumpFile {
  readonly file: string;
  readonly manifest: Manifest;
  readonly identity: Identity | undefined;
}

/**
 * Reads a complete dump without restoring it, or writing it to a file.
 * @throws UserError if it is damaged, or would run code, or `pg_restore` is missing or too old
 */
export async function verifyDump(dump: DumpFile, settings: Pick<Server, "env" | "signal">): Promise<void> {
  const { file, manifest } = dump;
  await readRestoreVersion(manifest, settings.env);
  const namespace = manifest.namespace ?? "";
  await runTool("pg_restore", listRestoreArgs(namespace), settings, {
    input: (archive) => writeDump(dump, archive),
    output: (stream) =>
      pipeline(stream, checkScript(file, namespace), async (checked) => {
        for await (const _ of checked);
      }),
  });
}

/** Writes the dump in a backup to the input of `pg_restore`. @throws UserError if it is damaged */
async function writeDump({ file, manifest, identity }: DumpFile, archive: Writable): Promise<void> {
  const { name, bytes, sha256 } = manifest.content;
  const names = { text: manifestName, file: name, bytes };
  const read = await extractFile(file, names, archive, identity).catch((error: unknown) => {
    throw toUserError(error);
  });
  if (read.sha256 !== sha256) throw damaged(file);
}

function listRestoreArgs(namespace: string): readonly string[] {
  return ["--no-owner", "--no-privileges", `--schema=${namespace}`, "--file=-"];
}

async function readRestoreVersion({ dump_version }: Manifest, env: Environment): Promise<void> {
  const version = await readToolVersion("pg_restore", { env });
  requireVersion("pg_restore", version, dump_version ?? 0, "the backup");
}

/**
 * Replaces the tables of a database with those of a backup, in one transaction: until it is committed, and if anything
 * fails, the database has its own tables.
 * @param isTrusted whether the backup may contain other statements than those of `checkScript`
 * @throws UserError, StorageError
 */
export async function restoreDump(server: Server, dump: DumpFile, isTrusted: boolean): Promise<void> {
  const { file, manifest } = dump;
  const { url, shownAs, env, signal } = server;
  await readToolVersion("psql", { env });
  await readRestoreVersion(manifest, env);
  const { namespace, drops, users } = await readBackupFacts(url, shownAs);
  if (users > 0) throw inUse(shownAs);
  if (namespace !== manifest.namespace) {
    throw new UserError(
      "failed",
      `the backup contains the schema ${manifest.namespace}, but ${shownAs} uses ${namespace}`,
      "Set the search path of the role or the database to the schema of the backup.",
    );
  }
  const options = { env: toConnectionEnv(url, env), signal };
  const finalChecks = await listFinalChecks(namespace, manifest.schema);
  await runTool("psql", ["--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-"], options, {
    input: async (script) => {
      const begin = ["set client_min_messages = warning", "begin", `set local lock_timeout = '${lockWait}'`, ...drops];
      script.write(begin.map((statement) => `${statement};\n`).join(""));
      await runTool(
        "pg_restore",
        listRestoreArgs(namespace),
        { env, signal },
        {
          input: (archive) => writeDump(dump, archive),
          output: (sql) => {
            if (isTrusted) return pipeline(sql, script, { end: false });
            return pipeline(sql, checkScript(file, namespace), script, { end: false });
          },
        },
      );
      // Without this, the end of the input rolls back.
      script.end([...finalChecks, "commit"].map((statement) => `${statement};\n`).join(""));
    },
  });
}

/** Lists statements that fail if the restored tables are of another version, or incomplete. */
async function listFinalChecks(namespace: string, schema: number): Promise<readonly string[]> {
  const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const own = (table: string) => `${quote(namespace)}.${quote(table)}`;
  const found = `case when max(version) = ${schema} then '0' else 'schema ' || max(version) || ' instead of ${schema}' end`;
  const version = `select cast(${found} as integer) from ${own("starpost_migrations")}`;
  if (schema !== newestSchema) return [version];
  const { tables } = await import("../storage/tables.ts");
  const columns = Object.entries(tables).map(
    ([name, table]) => `select ${Object.keys(table.columns).map(quote).join(", ")} from ${own(name)} limit 0`,
  );
  return [version, ...columns];
}

export function inUse(shownAs: string): UserError {
  return new UserError(
    "failed",
    `${shownAs} is in use; nothing was changed`,
    "Stop all servers, workers, and imports that use the database, then try again.",
  );
}

export function damaged(file: string, problem = "its checksum does not match"): UserError {
  return new UserError("failed", `${file}: damaged: ${problem}`, "Use another backup.");
}

/** The programs of PostgreSQL that backups use. */
type Tool = "pg_dump" | "pg_restore" | "psql";

export interface ToolSettings {
  /** The environment of the program: it contains the address and the password, which must not be arguments. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
}

/** How much of the output of a failed program is shown, in characters. */
const maxShown = 500;

/** The environment variables of libpq, by the parameter of a URL. Source: postgresql.org/docs/current/libpq-envars.html */
const parameterVariables: Readonly<Record<string, string>> = {
  host: "PGHOST",
  port: "PGPORT",
  user: "PGUSER",
  password: "PGPASSWORD",
  dbname: "PGDATABASE",
  options: "PGOPTIONS",
  sslmode: "PGSSLMODE",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  sslrootcert: "PGSSLROOTCERT",
  sslnegotiation: "PGSSLNEGOTIATION",
};

/** Describes a connection as environment variables, so that no password is on a command line. */
export function toConnectionEnv(address: string, env: Environment): Environment {
  const url = new URL(address);
  const decode = (part: string) => decodeURIComponent(part.replace(/^\[(.+)\]$/, "$1"));
  const parameters: Readonly<Record<string, string>> = {
    host: decode(url.hostname),
    port: url.port,
    user: decode(url.username),
    password: decode(url.password),
    dbname: decode(url.pathname.slice(1)),
    ...Object.fromEntries(url.searchParams),
    ...toSslMode(url.searchParams),
  };
  const found = Object.entries(parameterVariables).flatMap(([name, variable]) => {
    const value = parameters[name];
    return value === undefined || value === "" ? [] : [[variable, value] as const];
  });
  return { ...env, PGAPPNAME: "starpost backup", PGCONNECT_TIMEOUT: "10", ...Object.fromEntries(found) };
}

/** The driver knows modes that libpq does not. */
function toSslMode(parameters: URLSearchParams): Readonly<Record<string, string>> {
  if (parameters.get("sslmode") === "no-verify") return { sslmode: "require" };
  const isOn = ["true", "1"].includes(parameters.get("ssl") ?? "");
  return isOn && !parameters.has("sslmode") ? { sslmode: "verify-full", sslrootcert: "system" } : {};
}

/**
 * Finds out the major version of a program.
 * @throws UserError if it is not installed
 */
export async function readToolVersion(tool: Tool, { env }: ToolSettings): Promise<number> {
  let shown = "";
  await runTool(tool, ["--version"], { env }, { output: async (stream) => void (shown = await text(stream)) });
  return Number(/\(PostgreSQL\) (\d+)/.exec(shown)?.[1] ?? 0);
}

/** @throws UserError if a program is older than what it must read */
export function requireVersion(tool: Tool, found: number, needed: number, what: string): void {
  if (found >= needed) return;
  throw new UserError(
    "failed",
    `${tool} ${found} is too old: ${what} needs version ${needed}`,
    `Install ${packageOf(needed)}, and put it first in PATH.`,
  );
}

interface ToolStreams {
  readonly input?: (stream: Writable) => Promise<void>;
  readonly output?: (stream: Readable) => Promise<void>;
}

/**
 * Runs a program.
 * @throws UserError if it is not installed, or fails
 */
export async function runTool(
  tool: Tool,
  args: readonly string[],
  { env, signal }: ToolSettings,
  { input, output }: ToolStreams,
): Promise<void> {
  const child = spawn(tool, args, {
    env: { ...env },
    stdio: [input ? "pipe" : "ignore", output ? "pipe" : "ignore", "pipe"],
    ...(signal && { signal }),
  });
  let complaint = "";
  child.stderr?.on("data", (data: Buffer) => (complaint = `${complaint}${data.toString()}`.slice(0, maxShown)));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  // A program that fails closes its input.
  child.stdin?.on("error", () => {});
  const endOnError = async (work: Promise<void> | null | undefined): Promise<Error | undefined> => {
    try {
      await work;
      return undefined;
    } catch (error) {
      child.kill();
      return error as Error;
    }
  };
  const work = [endOnError(child.stdin && input?.(child.stdin)), endOnError(child.stdout && output?.(child.stdout))];
  const status = await ended.catch((error: unknown) => {
    throw codeOf(error) === "ENOENT" ? notInstalled(tool) : error;
  });
  const [inputError, outputError] = await Promise.all(work);
  // A damaged input also damages the output.
  if (inputError instanceof UserError) throw inputError;
  // If its output cannot be stored, the program has not failed, but was ended.
  if (outputError) throw outputError;
  if (inputError && status === 0) throw inputError;
  const hint = tool === "pg_dump" ? undefined : "Nothing was changed. If the backup is the cause, use another one.";
  if (status !== 0) throw new UserError("failed", `${tool} failed: ${describe(complaint, status)}`, hint);
}

/** Writes the output of a program to a new file, which only its owner can read. */
export function toNewFile(path: string, transform: Transform = new PassThrough()): (stream: Readable) => Promise<void> {
  return (stream) => pipeline(stream, transform, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
}

function describe(complaint: string, status: number | null): string {
  const lines = complaint
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (lines.length > 0) return lines.slice(0, 3).join("; ");
  return status === null ? "it was ended by a signal" : `exit status ${status}`;
}

function notInstalled(tool: Tool): UserError {
  return new UserError(
    "failed",
    `${tool} not found: backups of PostgreSQL use its own programs`,
    `Install ${packageOf()}, or add their folder to PATH.`,
  );
}

function packageOf(version?: number): string {
  return `the client programs of PostgreSQL${version === undefined ? "" : ` ${version}`} (Debian: postgresql-client${version === undefined ? "" : `-${version}`})`;
}
