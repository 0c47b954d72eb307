import type { Writable } from "node:stream";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { PoolClient } from "pg";
import { isReused } from "../statement.ts";
import { isStalePlan } from "./errors.ts";

/** The maximum number of prepared statements per connection, which take memory on the server. */
const maxPrepared = 200;

/**
 * After this time, plans are made again, because tables may have grown: in a small table, PostgreSQL reads all rows of an
 * account instead of using an index. It doubles each time up to the maximum, because new tables grow the fastest.
 */
const firstPlanAgeMs = 250;
const maxPlanAgeMs = 10_000;

/** Statements with longer parameters are planned each time, because that takes little of their time. */
const maxPreparedCharacters = 4_000;

const changingCommands: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** Settings of a session, by name. */
export type SessionSettings = Readonly<Record<string, number>>;

/** A connection to a server, or to a connection pooler, whose sessions have other settings and statements in each transaction. */
export class ServerConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #stream: Writable;
  #isCorked = false;
  #isDirect = false;
  /** The names of prepared statements by their text; undefined while the server prepares one. */
  readonly #names = new Map<string, string | undefined>();
  #lastNumber = 0;
  #plannedMs = performance.now();
  #planAgeMs = firstPlanAgeMs;

  constructor(client: PoolClient, settings: SessionSettings) {
    this.#client = client;
    this.#stream = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection.stream;
    void this.#prepareSession(settings);
  }

  /** Whether the session has the settings: there is no pooler in between. */
  get isDirect(): boolean {
    return this.#isDirect;
  }

  /** Changes the session only if it is that of the connection. A pooler reports another process. */
  async #prepareSession(settings: SessionSettings): Promise<void> {
    const { processID } = this.#client as unknown as { readonly processID?: number };
    const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
    try {
      const { rows } = await this.#send(`select ${calls.join(", ")} where pg_backend_pid() = $1`, [processID ?? 0]);
      this.#isDirect = rows.length > 0;
    } catch {
      // Reported by the next statement.
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const isPrepared = this.#isDirect && isReused(query) && isShort(query);
    // Each result arrives after the same number of promises, so that results keep their order.
    const { command, rowCount, rows } = await (isPrepared ? this.#sendPrepared(query) : this.#sendUnnamed(query));
    const affected = changingCommands.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : undefined;
    return { rows: (rows as R[] | undefined) ?? [], ...affected };
  }

  #sendUnnamed({ sql, parameters }: CompiledQuery) {
    return this.#send(sql, parameters);
  }

  /** Lets the server parse and plan a statement once. */
  #sendPrepared(query: CompiledQuery) {
    const { sql, parameters } = query;
    const names = this.#names;
    this.#discardOldPlans();
    const known = names.get(sql);
    if (known !== undefined) {
      const sent = this.#send(sql, parameters, known);
      sent.catch((error: unknown) => isStalePlan(error) && names.delete(sql));
      return sent;
    }
    // Until the server has prepared a statement, it may still fail to.
    const isPending = names.has(sql);
    if (isPending || this.#lastNumber >= maxPrepared) return this.#sendUnnamed(query);
    const name = `starpost_${++this.#lastNumber}`;
    names.set(sql, undefined);
    const sent = this.#send(sql, parameters, name);
    sent.then(
      () => names.set(sql, name),
      () => names.delete(sql),
    );
    return sent;
  }

  #discardOldPlans(): void {
    const nowMs = performance.now();
    if (nowMs - this.#plannedMs < this.#planAgeMs) return;
    this.#plannedMs = nowMs;
    this.#planAgeMs = Math.min(this.#planAgeMs * 2, maxPlanAgeMs);
    this.#send("discard plans").catch(() => {});
  }

  /** Sends the statements that are started in one turn of the event loop together, because each system call takes time. */
  #send(text: string, values: readonly unknown[] = [], name?: string) {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#stream.cork();
      setImmediate(() => {
        this.#isCorked = false;
        this.#stream.uncork();
      });
    }
    return this.#client.query<Record<string, unknown>>({
      text,
      values: values as unknown[],
      ...(name !== undefined && { name }),
    });
  }

  // eslint-disable-next-line require-yield -- The driver is used without a cursor.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("queries are not streamed");
  }
}

function isShort({ parameters }: CompiledQuery): boolean {
  return parameters.every((value) => typeof value !== "string" || value.length <= maxPreparedCharacters);
}
