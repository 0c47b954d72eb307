import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";
import { isDeferred, isHarmless } from "../statement.ts";
import { CommitLostError, explainPostgresError } from "./errors.ts";

const rollback = CompiledQuery.raw("rollback");
const commit = CompiledQuery.raw("commit");

/** "The current transaction is aborted": another statement of the transaction failed before. */
const abortedCode = "25P02";

/**
 * A connection that sends statements of a transaction without waiting for responses, to save round trips: queries
 * together with `begin`, deferred statements and changes of the schema together with `commit`. The server executes them in order and, after an
 * error, none of the others, not even `commit`.
 */
export class PipelinedConnection implements DatabaseConnection {
  readonly #inner: DatabaseConnection;
  #begun: Promise<unknown> = Promise.resolve();
  #hasBegun = true;
  /** Whether a statement waits for `begin`, and so do all later ones. */
  #waitsForBegin = false;
  #deferred: Promise<unknown>[] = [];
  #isInTransaction = false;
  #isReadOnly = false;
  /** Why the server has aborted the transaction. */
  #failure: { readonly error: unknown } | undefined;

  constructor(inner: DatabaseConnection) {
    this.#inner = inner;
  }

  /** Sends `begin`. If it fails, every statement of the transaction and its commit fail with the same error. */
  begin(query: CompiledQuery, { isReadOnly }: { readonly isReadOnly: boolean }): void {
    this.#isInTransaction = true;
    this.#isReadOnly = isReadOnly;
    this.#failure = undefined;
    this.#deferred = [];
    this.#hasBegun = false;
    this.#waitsForBegin = false;
    this.#begun = this.#inner.executeQuery(query).then(() => (this.#hasBegun = true));
    // Reported by the next statement.
    this.#begun.catch(() => {});
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // Outside a transaction, a query changes nothing. Most other statements must not be executed if `begin` has failed.
    if (!isQuery(query) && !isHarmless(query)) this.#waitsForBegin = true;
    if (this.#waitsForBegin && !this.#hasBegun) await this.#begun;
    const execution = this.#execute<R>(query);
    const isLater = this.#isInTransaction && (isDeferred(query) || isDefinition(query));
    if (isLater || isHarmless(query)) {
      execution.catch(() => {});
      this.#deferred.push(execution);
    }
    if (isLater) return { rows: [] };
    const [begun, executed] = await Promise.allSettled([this.#begun, execution]);
    if (begun.status === "rejected") throw begun.reason;
    if (executed.status === "rejected") throw executed.reason;
    return executed.value;
  }

  async #execute<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const result = await this.#inner.executeQuery<R>(query);
      if (query.sql.startsWith("rollback to ")) {
        this.#failure = undefined;
        this.#deferred = [];
      }
      return result;
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === abortedCode && this.#failure) throw this.#failure.error;
      this.#failure = { error };
      throw error;
    }
  }

  // eslint-disable-next-line require-yield -- The driver is used without a cursor.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("queries are not streamed");
  }

  /**
   * @throws CommitLostError if the connection was lost after `commit` was sent; otherwise, if the transaction is not
   * committed, the error of the statement that failed
   */
  async commit(): Promise<void> {
    await this.#begun;
    if (this.#failure) throw this.#failure.error;
    if (this.#isReadOnly) {
      // There is nothing to wait for. If the connection is lost, its next statement reports it.
      this.#inner.executeQuery(commit).catch(() => {});
      return;
    }
    const outcomes = await Promise.allSettled([...this.#deferred, this.#inner.executeQuery(commit)]);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (!failed) return;
    if (explainPostgresError(failed.reason)?.[0] !== "unreachable") throw failed.reason;
    const message = "the connection to the server was lost during a commit; the changes may or may not have been saved";
    throw new CommitLostError(message, { cause: failed.reason });
  }

  /** After a lost connection, there is nothing to roll back, and a second error must not hide the first. */
  async rollback(): Promise<void> {
    await this.#inner.executeQuery(rollback).catch(() => {});
  }
}

/** Whether a statement changes the schema, and so returns nothing. */
function isDefinition({ sql }: CompiledQuery): boolean {
  return /^\s*(?:create|alter|drop)\s/i.test(sql);
}

function isQuery({ sql }: CompiledQuery): boolean {
  return /^\s*select\s/i.test(sql);
}
