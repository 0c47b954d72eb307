import { sql } from "kysely";
import { ServiceError } from "../../contract/index.ts";
import { minuteMs } from "../../contract/time.ts";
import { createStatement } from "../../storage/statement.ts";
import { type AccountWalk, createAccountWalk } from "./account-walk.ts";
import type { Queue } from "./due-times.ts";
import type { EngineWork, HandlerContext } from "./handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "random">;

/** Accounts per search. */
const windowSize = 500;

/** How long the accounts of a full search are taken in turn before another search. */
const windowMs = 1_000;

/** How long workers ask each shard after a node was lost. */
const degradedMs = 10_000;

interface DueAccount {
  readonly account_id: number;
  readonly at: number;
}

/** Accounts of which a worker takes rows at the same time. */
const accountsAtOnce = 8;

/** What a worker took of an account, and the number of rows. */
interface Taken<T> {
  readonly rows: number;
  readonly result: T;
}

/**
 * Lets the accounts that have due rows take turns. Finds those that have waited longest with one lookup in an index, which
 * costs the number of accounts that it returns.
 */
export class DueAccounts {
  readonly #statements: (typeof statements)[Queue];
  readonly #loadOf: (accountId: number) => number;
  readonly #queue: Queue;
  #lastServed = 0;
  /** What is left of a full search. */
  #rest: { readonly accountIds: readonly number[]; readonly sinceMs: number } | undefined;
  /** Until then, nodes of a cluster are lost, and each shard is asked on its own. */
  #degradedUntilMs = 0;

  /** @param loadOf accounts with a lower load come first */
  constructor(queue: Queue, loadOf: (accountId: number) => number = () => 0) {
    this.#queue = queue;
    this.#statements = statements[queue];
    this.#loadOf = loadOf;
  }

  /** Moves the account to the end of the line. */
  noteServed(accountId: number): void {
    this.#lastServed = accountId;
  }

  /** Finds the accounts of which rows can be taken now, those that have waited longest first. */
  async find(context: Context): Promise<readonly number[]> {
    const { transaction, dialect, nowMs, random } = context;
    const accountIds = this.#isDegraded(nowMs)
      ? (await this.#readReachable(context)).filter(({ at }) => at <= nowMs).map(({ account_id }) => account_id)
      : (await this.#statements.selectDue(transaction, dialect, { nowMs })).rows.map(({ account_id }) => account_id);
    // Several workers begin at different accounts, so that they do not wait for each other.
    if (accountIds.length === windowSize) this.#lastServed = accountIds[random(4).readUInt32BE() % windowSize] ?? 0;
    const waited = (accountId: number) => (accountId > this.#lastServed ? 0 : 1);
    const loadOf = this.#loadOf;
    return accountIds.toSorted((a, b) => loadOf(a) - loadOf(b) || waited(a) - waited(b) || a - b);
  }

  /** Finds when the next row is due or the next lease expires, in milliseconds; undefined if nothing is pending. */
  findNextDueTime({ read }: Pick<EngineWork, "read">): Promise<number | undefined> {
    return this.#readSteadily(read, async (context) => {
      if (this.#isDegraded(context.nowMs)) return (await this.#readReachable(context))[0]?.at;
      const { rows } = await this.#statements.selectFirst(context.transaction, context.dialect, {});
      return rows[0]?.at ?? undefined;
    });
  }

  #isDegraded(nowMs: number): boolean {
    return nowMs < this.#degradedUntilMs;
  }

  /** If nodes of a cluster are lost, reads from the others. */
  async #readSteadily<T>(read: EngineWork["read"], search: (context: HandlerContext) => Promise<T>): Promise<T> {
    try {
      return await read(search);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== "unavailable") throw error;
      const isLost = await read(async ({ transaction, dialect, nowMs }) => {
        const lost = (await dialect.findLostNodes?.(transaction)) ?? [];
        if (lost.length > 0) this.#degradedUntilMs = nowMs + degradedMs;
        return lost.length > 0;
      });
      if (!isLost) throw error;
      return read(search);
    }
  }

  /** The accounts of nodes that can be reached, those that are due first come first. */
  async #readReachable({ transaction, dialect }: Context): Promise<readonly DueAccount[]> {
    const select = `select account_id, ${this.#queue} as at from %s as due where ${this.#queue} is not null
      order by ${this.#queue}, account_id limit ${windowSize}`;
    const found = (await dialect.readReachable?.<DueAccount>("account_versions", select, transaction)) ?? [];
    return found.toSorted((a, b) => a.at - b.at || a.account_id - b.account_id).slice(0, windowSize);
  }

  /**
   * Takes rows of the accounts that have due ones, an equal share of each, from several accounts at once. If an account
   * cannot be written to, the others come first the next time.
   * @param takeFrom takes up to `limit` rows of an account
   * @returns what was taken, in the order of the accounts
   * @throws what `takeFrom` throws, if nothing was taken
   */
  async takeInTurn<T>(
    limit: number,
    { read }: Pick<EngineWork, "read">,
    takeFrom: (accountId: number, limit: number) => Promise<Taken<T>>,
  ): Promise<T[]> {
    const rest = this.#takeRest();
    const sinceMs = rest?.sinceMs ?? performance.now();
    const accountIds = rest?.accountIds ?? (await this.#readSteadily(read, (context) => this.find(context)));
    const mayBeMore = rest !== undefined || accountIds.length === windowSize;
    const share = Math.ceil(limit / (mayBeMore ? windowSize : accountIds.length));
    const taken: Taken<T>[] = [];
    const errors: unknown[] = [];
    let [next, remaining] = [0, limit];
    const takeNext = async () => {
      while (next < accountIds.length && remaining > 0 && errors.length === 0) {
        const at = next++;
        const accountId = accountIds[at] ?? 0;
        const asked = Math.min(share, remaining);
        remaining -= asked;
        try {
          taken[at] = await takeFrom(accountId, asked);
          remaining += asked - taken[at].rows;
        } catch (error) {
          this.noteServed(accountId);
          errors.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: accountsAtOnce }, takeNext));
    if (mayBeMore && next < accountIds.length) this.#rest = { accountIds: accountIds.slice(next), sinceMs };
    const found = taken.filter(({ rows }) => rows > 0);
    if (found.length > 0) return found.map(({ result }) => result);
    if (errors.length > 0) throw errors[0];
    // Their times were too early, and are right now.
    return mayBeMore ? this.takeInTurn(limit, { read }, takeFrom) : [];
  }

  #takeRest() {
    const rest = this.#rest;
    this.#rest = undefined;
    return rest && performance.now() - rest.sinceMs < windowMs ? rest : undefined;
  }
}

/** How long rows may be due before their account is checked. */
const checkedAfterMs = 10 * minuteMs;

const createCheck = (queue: Queue, table: "mails" | "webhook_deliveries") =>
  createAccountWalk(
    (accountId, nowMs) => sql`
      select 1 from ${sql.table(table)} where ${sql.ref(`${table}.account_id`)} = ${accountId} and state = 'queued'
        and due_at <= cast(${nowMs} as bigint) - ${sql.lit(checkedAfterMs)}
        and (walked.${sql.ref(queue)} is null or walked.${sql.ref(queue)} > ${nowMs})`,
  );

/** Find accounts with due rows that no worker knows of, such as those that an earlier version of the program has added. */
export const findMissedAccounts: Readonly<Record<Queue, AccountWalk>> = {
  emails_due_at: createCheck("emails_due_at", "mails"),
  deliveries_due_at: createCheck("deliveries_due_at", "webhook_deliveries"),
};

const createStatements = (queue: Queue) => ({
  selectDue: createStatement<{ nowMs: number }, { readonly account_id: number }>(
    (slot) => sql`
      select account_id from account_versions as due where ${sql.ref(queue)} <= ${slot("nowMs")}
      order by ${sql.ref(queue)}, account_id limit ${sql.lit(windowSize)}`,
  ),
  selectFirst: createStatement<object, { readonly at: number | null }>(
    () => sql`
      select min(${sql.ref(queue)}) as at from account_versions as due where ${sql.ref(queue)} is not null`,
  ),
});

const statements = {
  emails_due_at: createStatements("emails_due_at"),
  deliveries_due_at: createStatements("deliveries_due_at"),
};
