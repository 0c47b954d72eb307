import { sql } from "kysely";
import type { EmailRuleName } from "../../../contract/index.ts";
import type { OutgoingEmail } from "../../../email/outgoing-email.ts";
import type { Row } from "../../../storage/tables.ts";
import type { HandlerContext } from "../../kernel/handler.ts";
import { toEventSubject, markNotSent, type UnsentEmail } from "./held-emails.ts";
import { saveDroppedProducts } from "../rules/dropped-products.ts";
import { type EmailEvent, recordEmailEvents } from "../../kernel/email-log.ts";
import { evaluateEmails } from "../rules/evaluate.ts";
import { selectDueEmails } from "./email-rows.ts";
import { buildOutgoingEmails } from "./outgoing-emails.ts";

/** A mail that is its worker's until the lease ends. */
export interface ClaimedEmail {
  readonly mail: OutgoingEmail;
  /** The worker that was lost while it handed the mail over: nobody knows whether it did. */
  readonly previousWorker?: string | undefined;
  /** The rule that holds now against a mail that was taken up, if any: it is not to be sent once more. */
  readonly obstacle?: EmailRuleName | undefined;
}

export interface Claim {
  /** Mails that workers held and had not begun when they were lost: taken as if nobody had held them. */
  readonly recovered: number;
  readonly mails: readonly ClaimedEmail[];
  readonly notSent: readonly UnsentEmail[];
}

/** Who claims, and for how long. */
export interface LeaseHolder {
  readonly worker: string;
  readonly leaseMs: number;
}

type Context = Pick<HandlerContext, "transaction" | "nowMs">;

/**
 * Judges the mails that are due: takes those that pass, and writes down what keeps the others back.
 * Assumed: a mail that an order brings counts as a request of its category once it has passed the rules.
 */
export async function claimEmails(
  limit: number,
  { worker, leaseMs }: LeaseHolder,
  context: HandlerContext,
): Promise<Claim> {
  const due = await selectDueEmails(limit, context);
  if (due.length === 0) return { mails: [], notSent: [], recovered: 0 };
  const verdicts = await evaluateEmails(due, context);
  const obstacleOf = ({ id }: Row<"mails">) => verdicts.get(id)?.obstacle;
  const refused = due.flatMap((row) => {
    const obstacle = mayHaveArrived(row) ? undefined : obstacleOf(row);
    return obstacle === undefined ? [] : [{ row, obstacle }];
  });
  const notSent = await markNotSent(refused, context);
  const taken = due.filter((row) => mayHaveArrived(row) || obstacleOf(row) === undefined);
  await lease(taken, { worker, leaseMs }, context);
  await recordEmailEvents(taken.flatMap(eventsOf), context);
  await saveDroppedProducts(taken, verdicts, context);
  const passed = taken.map((row) => ({ row, productRows: verdicts.get(row.id)?.productRows ?? [] }));
  const outgoing = await buildOutgoingEmails(passed, context);
  const mails = taken.map((row, at) => ({
    mail: outgoing[at] as OutgoingEmail,
    previousWorker: mayHaveArrived(row) ? (row.worker ?? "") : undefined,
    obstacle: obstacleOf(row),
  }));
  const recovered = due.filter(({ state }) => state === "leased").length;
  return { mails, notSent, recovered };
}

/** A mail that somebody began to hand over, and nobody ended; or whose answer was lost, which still names its worker. */
function mayHaveArrived({ state, worker }: Row<"mails">): boolean {
  return state === "sending" || (state === "queued" && worker !== null);
}

/** A mail that may have been sent stays `sending`, so that whoever takes it up next knows as well. */
async function lease(
  rows: readonly Row<"mails">[],
  { worker, leaseMs }: LeaseHolder,
  { transaction, nowMs }: Context,
): Promise<void> {
  if (rows.length === 0) return;
  await transaction
    .updateTable("mails")
    .set({
      state: sql<string>`case when state = 'sending' or (state = 'queued' and worker is not null)
        then 'sending' else 'leased' end`,
      worker,
      leased_until: nowMs + leaseMs,
    })
    .where(
      "id",
      "in",
      rows.map(({ id }) => id),
    )
    .execute();
}

/** What the claim itself is for a mail. */
function eventsOf(row: Row<"mails">): EmailEvent[] {
  const about = toEventSubject(row);
  const takenUp = {
    ...about,
    event: "taken_up",
    key: String(row.attempts),
    detail: row.worker ?? undefined,
  } as const;
  // Mails that no order brings were counted as they were queued.
  const requested = row.order_row === null ? [] : [{ ...about, event: "requested" } as const];
  return mayHaveArrived(row) ? [...requested, takenUp] : requested;
}
