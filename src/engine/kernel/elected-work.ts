import { sql } from "kysely";
import { createStatement } from "../../storage/statement.ts";
import type { EngineWork, HandlerContext } from "./handler.ts";

/** The process that wants to do some work on all accounts, and for how long it gets it. */
export interface Candidate {
  /** The work. */
  readonly name: string;
  /** Unique among all processes, including past ones. */
  readonly worker: string;
  readonly leaseMs: number;
}

const take = createStatement<
  { name: string; worker: string; nowMs: number; until: number },
  { readonly walked_to: number }
>(
  (slot) => sql`
    insert into elected_work (name, worker, due_at, walked_to)
    values (${slot("name")}, ${slot("worker")}, ${slot("until")}, 0)
    on conflict (name) do update set worker = excluded.worker, due_at = excluded.due_at
      where elected_work.worker is null or elected_work.worker = excluded.worker
        or elected_work.due_at <= ${slot("nowMs")}
    returning walked_to`,
);

/**
 * Lets one process at a time do some work. If it is lost, another one continues after its lease has expired.
 */
export class ElectedWork {
  readonly #candidate: Candidate;
  readonly #work: Pick<EngineWork, "read" | "write">;

  constructor(candidate: Candidate, work: Pick<EngineWork, "read" | "write">) {
    this.#candidate = candidate;
    this.#work = work;
  }

  /** @returns the account after which the work continues; undefined if another process does it */
  take(): Promise<number | undefined> {
    const { name, worker, leaseMs } = this.#candidate;
    return this.#work.write(undefined, async ({ transaction, dialect, nowMs }) => {
      const { rows } = await take(transaction, dialect, { name, worker, nowMs, until: nowMs + leaseMs });
      return rows[0]?.walked_to;
    });
  }

  /**
   * Stores the progress, and renews the lease.
   * @returns whether this process may continue
   */
  keep(walkedTo: number): Promise<boolean> {
    const { worker, leaseMs } = this.#candidate;
    return this.#store({ walked_to: walkedTo, worker }, leaseMs);
  }

  /** Returns the work, which is due again after some time. */
  release(walkedTo: number, afterMs: number): Promise<boolean> {
    return this.#store({ walked_to: walkedTo, worker: null }, afterMs);
  }

  #store(change: { readonly walked_to: number; readonly worker: string | null }, afterMs: number): Promise<boolean> {
    const { name, worker } = this.#candidate;
    return this.#work.write(undefined, async ({ transaction, nowMs }) => {
      const { numUpdatedRows } = await transaction
        .updateTable("elected_work")
        .set({ ...change, due_at: nowMs + afterMs })
        .where("name", "=", name)
        .where("worker", "=", worker)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    });
  }

  /** Returns in how many milliseconds this process can try to take the work. */
  findWaitMs(): Promise<number> {
    return this.#work.read(async ({ transaction, nowMs }: HandlerContext) => {
      const found = await transaction
        .selectFrom("elected_work")
        .select("due_at")
        .where("name", "=", this.#candidate.name)
        .executeTakeFirst();
      return found ? found.due_at - nowMs : 0;
    });
  }
}
