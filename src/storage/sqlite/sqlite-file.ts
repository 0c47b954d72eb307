import { DatabaseSync } from "@photostructure/sqlite";
import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultBusyTimeoutMs } from "../dialect.ts";

/** Statements kept prepared; the engine has fewer. */
const maxPrepared = 200;

interface Prepared {
  readonly statement: ReturnType<Connection["prepare"]>;
  readonly isReader: boolean;
}
type Connection = InstanceType<typeof DatabaseSync>;

export type SqlValue = null | number | bigint | string | Uint8Array;

/** SQLite's words for the result codes that storage acts on. Source: sqlite3_errstr. */
const resultCodes: Readonly<Record<string, number>> = {
  "database is locked": 5,
  "database table is locked": 6,
  "attempt to write a readonly database": 8,
  "disk I/O error": 10,
  "database disk image is malformed": 11,
  "database or disk is full": 13,
  "unable to open database file": 14,
  "file is not a database": 26,
};

export interface SqliteFileOptions {
  /** How long a statement waits for another process's lock, milliseconds. */
  readonly busyTimeoutMs?: number | undefined;
  /** Whether nothing is written, not even the files beside it that a reader makes. */
  readonly isReadOnly?: boolean | undefined;
}

/**
 * A reader makes the files of the write-ahead log where they are missing, and leaves them. Where there is no log,
 * nobody has the file open, and all of it is in the file itself: it can be read as one that never changes.
 */
function placeToRead(path: string): string | URL {
  if (existsSync(`${path}-wal`)) return path;
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

/** The driver leaves the result code off the errors of statements that give rows. */
function withResultCode(error: unknown): unknown {
  if (!(error instanceof Error) || "errcode" in error) return error;
  const errcode = resultCodes[error.message];
  return errcode === undefined ? error : Object.assign(error, { errcode });
}

/**
 * One open SQLite file, with its statements kept prepared. The only file that names the driver,
 * whose interface is that of `node:sqlite`, so that the built-in can take its place.
 */
export class SqliteFile {
  readonly #database: Connection;
  readonly #path: string;
  readonly #busyTimeoutMs: number;
  readonly #prepared = new Map<string, Prepared>();

  /** Creates the file (0600) and its folder (0700) where they are not there, unless it is only read. */
  constructor(path: string, options: SqliteFileOptions = {}) {
    const { busyTimeoutMs = defaultBusyTimeoutMs, isReadOnly = false } = options;
    this.#path = path;
    this.#busyTimeoutMs = busyTimeoutMs;
    if (isReadOnly) {
      this.#database = new DatabaseSync(placeToRead(path), { readOnly: true, timeout: busyTimeoutMs });
      return;
    }
    if (path !== ":memory:") {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      closeSync(openSync(path, "a", 0o600));
    }
    this.#database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  }

  execute(sql: string): void {
    this.#database.exec(sql);
  }

  all(sql: string, parameters: readonly SqlValue[] = []): Record<string, unknown>[] {
    const { statement } = this.#prepare(sql);
    try {
      return statement.all(...parameters) as Record<string, unknown>[];
    } catch (error) {
      throw withResultCode(error);
    }
  }

  iterate(sql: string, parameters: readonly SqlValue[] = []): IterableIterator<Record<string, unknown>> {
    return this.#prepare(sql).statement.iterate(...parameters) as IterableIterator<Record<string, unknown>>;
  }

  run(sql: string, parameters: readonly SqlValue[] = []): { changes: bigint; lastInsertRowid: bigint } {
    const { changes, lastInsertRowid } = this.#prepare(sql).statement.run(...parameters);
    return { changes: BigInt(changes), lastInsertRowid: BigInt(lastInsertRowid) };
  }

  /** Whether the statement gives rows back. */
  isReader(sql: string): boolean {
    return this.#prepare(sql).isReader;
  }

  /** Takes the write lock, or fails at once where another process has it. */
  beginImmediate(): void {
    this.#database.exec("pragma busy_timeout = 0");
    try {
      this.#database.exec("begin immediate");
    } finally {
      this.#database.exec(`pragma busy_timeout = ${this.#busyTimeoutMs}`);
    }
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /**
   * Copies the write-ahead log to the file and empties it, unless somebody else reads or writes now: whoever opens the
   * file next reads all of the log first. By itself the driver leaves it, since a closed file keeps its statements.
   */
  emptyLog(): void {
    const log = statSync(`${this.#path}-wal`, { throwIfNoEntry: false });
    if (!log || log.size === 0 || this.isInTransaction) return;
    try {
      this.#database.exec("pragma busy_timeout = 0; pragma wal_checkpoint(truncate)");
    } catch {
      // It is as safe in the log, and a full disk is no reason to fail what is done.
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#database.close();
  }

  #prepare(sql: string): Prepared {
    const kept = this.#prepared.get(sql);
    if (kept) return kept;
    if (this.#prepared.size >= maxPrepared) this.#prepared.clear();
    const statement = this.#database.prepare(sql);
    // Asked for once: the driver takes longer to describe the columns than to give a row of them.
    const prepared = { statement, isReader: statement.columns().length > 0 };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}
