import { sql } from "kysely";
import { createStatement } from "../../storage/statement.ts";
import type { Queue } from "./due-times.ts";
import type { EngineWork, HandlerContext } from "./handler.ts";

type Context = Pick<HandlerContext, "transaction" | "dialect" | "nowMs" | "random">;

/** Accounts per search. */
const windowSize = 500;

/**
 * Lets the accounts that have due rows take turns. Finds those that have waited longest with one lookup in an index, which
 * costs the number of accounts that it returns.
 */
export class DueAccounts {
  readonly #statements: (typeof statements)[Queue];
  readonly #loadOf: (accountId: number) => number;
  #lastServed = 0;

  /** @param loadOf accounts with a lower load come first */
  constructor(queue: Queue, loadOf: (accountId: number) => number = () => 0) {
    this.#statements = statements[queue];
    this.#loadOf = loadOf;
  }

  /** Moves the account to the end of the line. */
  noteServed(accountId: number): void {
    this.#lastServed = accountId;
  }

  /** Finds the accounts of which rows can be taken now, those that have waited longest first. */
  async find({ transaction, dialect, nowMs, random }: Context): Promise<readonly number[]> {
    const { rows } = await this.#statements.selectDue(transaction, dialect, { nowMs });
    const accountIds = rows.map(({ account_id }) => account_id);
    // Several workers begin at different accounts, so that they do not wait for each other.
    if (rows.length === windowSize) this.#lastServed = accountIds[random(4).readUInt32BE() % windowSize] ?? 0;
    const waited = (accountId: number) => (accountId > this.#lastServed ? 0 : 1);
    const loadOf = this.#loadOf;
    return accountIds.toSorted((a, b) => loadOf(a) - loadOf(b) || waited(a) - waited(b) || a - b);
  }

  /** Finds when the next row is due or the next lease expires, in milliseconds; undefined if nothing is pending. */
  async findNextDueTime({ transaction, dialect }: Context): Promise<number | undefined> {
    const { rows } = await this.#statements.selectFirst(transaction, dialect, {});
    return rows[0]?.at ?? undefined;
  }

  /**
   * Takes rows of the accounts that have due ones, an equal share of each. If an account cannot be written to, the others
   * come first the next time.
   * @param takeFrom takes up to `limit` rows of an account; returns their number
   * @throws what `takeFrom` throws for the first account
   */
  async takeInTurn(
    limit: number,
    { read }: Pick<EngineWork, "read">,
    takeFrom: (accountId: number, limit: number) => Promise<number>,
  ): Promise<void> {
    const accountIds = await read((context) => this.find(context));
    const share = Math.ceil(limit / accountIds.length);
    let remaining = limit;
    for (const [at, accountId] of accountIds.entries()) {
      try {
        remaining -= await takeFrom(accountId, Math.min(share, remaining));
        if (remaining <= 0) return;
      } catch (error) {
        this.noteServed(accountId);
        if (at === 0) throw error;
        return;
      }
    }
    // Their times were too early, and are right now.
    if (remaining === limit && accountIds.length === windowSize) await this.takeInTurn(limit, { read }, takeFrom);
  }
}

const createStatements = (queue: Queue) => ({
  selectDue: createStatement<{ nowMs: number }, { readonly account_id: number }>(
    (slot) => sql`
      select account_id from account_versions as due where ${sql.ref(queue)} <= ${slot("nowMs")}
      order by ${sql.ref(queue)}, account_id limit ${sql.lit(windowSize)}`,
  ),
  selectFirst: createStatement<Record<never, never>, { readonly at: number | null }>(
    () => sql`select min(${sql.ref(queue)}) as at from account_versions as due where ${sql.ref(queue)} is not null`,
  ),
});

const statements = {
  emails_due_at: createStatements("emails_due_at"),
  deliveries_due_at: createStatements("deliveries_due_at"),
};
