import type { Work, WriteOptions } from "./combined-writes.ts";
import type { Database } from "./database.ts";
import { Turns, WriteQueue, type WriteQueueOptions } from "./write-queue.ts";

type WrittenDatabase = Pick<Database, "db" | "dialect"> & Partial<Pick<Database, "maxTransactions">>;
type Options = Omit<WriteQueueOptions, "turns" | "onIdle">;

/**
 * Runs the writes of each account in order. On a server, accounts do not wait for each other's locks, and writes that
 * belong to no account are not queued. In a file, which has one writer, all writes are in one queue.
 */
export class AccountWrites {
  readonly #database: WrittenDatabase;
  readonly #options: Options;
  /** Calls that wait for a turn are combined, which costs a busy server less than more transactions at a time. */
  readonly #turns: Turns | undefined;
  readonly #queues = new Map<number | undefined, WriteQueue>();

  constructor(database: WrittenDatabase, options: Options = {}) {
    const { maxTransactions } = database;
    this.#database = database;
    this.#options = options;
    this.#turns = maxTransactions === undefined ? undefined : new Turns(maxTransactions);
  }

  /** The number of writes that wait for a transaction. */
  get length(): number {
    return [...this.#queues.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async run<T>(work: Work<T>, options: WriteOptions<T>): Promise<T> {
    const { db, dialect } = this.#database;
    if (!dialect.runsInOrder && options.accountId === undefined) return db.transaction().execute(work);
    const key = dialect.runsInOrder ? undefined : options.accountId;
    const queue = this.#queues.get(key) ?? this.#addQueue(key);
    return queue.run(work, options);
  }

  #addQueue(key: number | undefined): WriteQueue {
    const queue: WriteQueue = new WriteQueue(this.#database, {
      ...this.#options,
      turns: this.#turns,
      onIdle: () => {
        if (this.#queues.get(key) === queue) this.#queues.delete(key);
      },
    });
    this.#queues.set(key, queue);
    return queue;
  }
}
