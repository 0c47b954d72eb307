import { once } from "node:events";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Environment } from "../config/environment.ts";
import { UserError } from "../config/user-error.ts";
import { readBackupFacts } from "../storage/postgres/backup-facts.ts";
import { extractFile } from "./archive.ts";
import { type Manifest, manifestName, toUserError } from "./manifest.ts";
import { readToolVersion, requireVersion, runTool, toConnectionEnv, toNewFile } from "./postgres-tools.ts";

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
 * @throws UserError, StorageError
 */
export async function dumpDatabase(
  { url, shownAs, env, signal }: Server,
  target: string,
): Promise<Pick<Manifest, "namespace" | "dump_version">> {
  const dumpVersion = await readToolVersion("pg_dump", { env });
  const { serverVersion, namespace } = await readBackupFacts(url, shownAs);
  requireVersion("pg_dump", dumpVersion, serverVersion, `the server (PostgreSQL ${serverVersion})`);
  const content = ["--format=custom", "--compress=1", `--schema=${quotePattern(namespace)}`];
  const args = [...content, "--no-owner", "--no-privileges", `--lock-wait-timeout=${lockWait}`, "--no-password"];
  await runTool("pg_dump", args, { env: toConnectionEnv(url, env), signal }, { output: toNewFile(target) });
  return { namespace, dump_version: dumpVersion };
}

/** Quotes a name, which would otherwise be a pattern. */
function quotePattern(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Reads a complete dump without restoring it.
 * @throws UserError if it is damaged, or `pg_restore` is missing or too old
 */
export async function verifyDump(path: string, manifest: Manifest, settings: Pick<Server, "env" | "signal">) {
  await readRestoreVersion(manifest, settings.env);
  await runTool("pg_restore", ["--file=-"], settings, {
    input: (stream) => pipeline(createReadStream(path), stream),
    output: async (stream) => {
      stream.resume();
      await once(stream, "end");
    },
  });
}

async function readRestoreVersion({ dump_version }: Manifest, env: Environment): Promise<void> {
  const version = await readToolVersion("pg_restore", { env });
  requireVersion("pg_restore", version, dump_version ?? 0, "the backup");
}

/**
 * Replaces the tables of a database with those of a backup, in one transaction: until it is committed, and if anything
 * fails, the database has its own tables.
 * @throws UserError, StorageError
 */
export async function restoreDump(server: Server, file: string, manifest: Manifest): Promise<void> {
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
  const restoreArgs = ["--no-owner", "--no-privileges", `--schema=${namespace}`, "--file=-"];
  await runTool("psql", ["--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-"], options, {
    input: async (script) => {
      const begin = ["set client_min_messages = warning", "begin", `set local lock_timeout = '${lockWait}'`, ...drops];
      script.write(begin.map((statement) => `${statement};\n`).join(""));
      await runTool(
        "pg_restore",
        restoreArgs,
        { env, signal },
        {
          input: async (archive) => {
            const { text, file: content } = { text: manifestName, file: manifest.content.name };
            const read = await extractFile(file, { text, file: content }, archive).catch((error: unknown) => {
              throw toUserError(error);
            });
            if (read.sha256 !== manifest.content.sha256) throw damaged(file);
          },
          output: async (sql) => pipeline(sql, script, { end: false }),
        },
      );
      // Without this, the end of the input rolls back.
      script.end("commit;\n");
    },
  });
}

export function inUse(shownAs: string): UserError {
  return new UserError(
    "failed",
    `${shownAs} is in use; nothing was changed`,
    "Stop all servers, workers, and imports that use the database, then try again.",
  );
}

export function damaged(file: string): UserError {
  return new UserError("failed", `${file}: damaged: its checksum does not match`, "Use another backup.");
}
