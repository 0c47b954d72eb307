import { usageError } from "../../../config/user-error.ts";
import type { sendCategories } from "../../../contract/emails/categories.ts";
import { maxRecipients, type RecipientOutcome } from "../../../contract/emails/emails.ts";
import { shape } from "../../../contract/shapes.ts";
import {
  readSmallTable,
  type SmallReject,
  type SmallRow,
  writeSmallRejects,
} from "../../../import/source/small-table.ts";
import type { InputOf } from "../../../service/transport.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { confirmSelection, reportSkipped, type Skipped } from "../../program/selection.ts";
import { resolve } from "node:path";

type Category = (typeof sendCategories)[number];
type Recipient = InputOf<"emails.send">["recipients"][number];

/** A row that was rejected, as scripts read it. */
interface Rejected {
  readonly line: number;
  readonly column: string;
  readonly code: string;
  readonly reason: string;
}

interface Sent {
  readonly mails: readonly { readonly email: string; readonly reference: string | null; readonly mail_id: number }[];
  /** Named recipients who get no email. */
  readonly skipped: readonly Skipped[];
  /** Recipients in a file who get no email because of a rule, or because they got it before. */
  readonly prevented: readonly Skipped[];
  readonly rejected: readonly Rejected[];
  readonly rejects_file: string | null;
}

/** Sends emails to recipients that were named, after confirmation. */
export async function sendEmails(
  context: Context,
  category: Category,
  recipients: readonly Recipient[],
): Promise<Sent> {
  const { mails, repeated, prevented } = await sendTo(context, category, recipients);
  return { mails, skipped: prevented, prevented: repeated, rejected: [], rejects_file: null };
}

interface SendFile {
  readonly category: Category;
  readonly file: string;
  readonly rejects: string | undefined;
}

/**
 * Sends emails to the recipients in a CSV file, after confirmation.
 * @throws UserError `usage` if it has no column with addresses; ImportError if it cannot be read
 */
export async function sendFile(context: Context, { category, file, rejects }: SendFile): Promise<Sent> {
  const { cwd } = context.io;
  const table = readSmallTable(file, cwd);
  if (!table.head.header.some((name) => name.trim().toLowerCase() === "email")) {
    throw usageError(`${file}: missing column email`, "Name the column with the addresses email.");
  }
  const checked = table.rows.map((row) => ({ row, reject: findProblem(row) }));
  const rejected = checked.flatMap(({ reject }) => reject ?? []);
  if (rejected.length > 0) {
    const lines = rejected.map(({ row, column, reason }) => ({
      id: `line ${row.line}`,
      problem: `${column} ${reason}`,
    }));
    reportSkipped(context, lines, ["row", "rows"]);
    if (rejects !== undefined) writeSmallRejects(resolve(cwd, rejects), table, rejected);
  }
  const recipients = checked.flatMap(({ row, reject }) => (reject ? [] : [toRecipient(row)]));
  const { mails, repeated, prevented } = await sendTo(context, category, recipients);
  return {
    mails,
    skipped: [],
    prevented: [...repeated, ...prevented],
    rejected: rejected.map(({ row, ...place }) => ({ line: row.line, ...place })),
    rejects_file: rejected.length > 0 ? (rejects ?? null) : null,
  };
}

function toRecipient({ values: { email = "", name, reference, date } }: SmallRow): Recipient {
  return { email, name: name || undefined, reference: reference || undefined, date: date || undefined };
}

function findProblem(row: SmallRow): SmallReject | undefined {
  const { email = "", date = "" } = row.values;
  if (row.problem !== undefined) return { row, column: "", code: row.problem, reason: "cannot be read" };
  if (email === "") return { row, column: "email", code: "missing", reason: "is missing" };
  if (!shape.email.safeParse(email).success) {
    return { row, column: "email", code: "bad_email", reason: "is not an email address" };
  }
  if (date === "" || shape.date.safeParse(date).success) return undefined;
  return { row, column: "date", code: "bad_date", reason: "must be a date, YYYY-MM-DD" };
}

async function sendTo(context: Context, category: Category, recipients: readonly Recipient[]) {
  const found = await callInParts(recipients, (part) =>
    context.withService(({ emails }) => emails.previewSend({ category, recipients: part })),
  );
  const sendable = found.flatMap((outcome, at) => (isSendable(outcome) ? [recipients[at] as Recipient] : []));
  const unsent = listUnsent(found);
  if (sendable.length === 0) {
    reportUnsent(context, unsent);
    context.messages.info("No emails to send.");
    return { mails: [], ...unsent };
  }
  const others = found.length - sendable.length;
  const rest = others > 0 ? ` ${countOf(others, "other recipient gets", "other recipients get")} none.` : "";
  const question = `Send ${countOf(sendable.length, "email")} of the category ${category}?${rest}`;
  await confirmSelection(context, { rows: sendable.map(({ email, reference = "" }) => [email, reference]), question });
  const sent = await callInParts(sendable, (part) =>
    context.withService(({ emails }) => emails.send({ category, recipients: part })),
  );
  // Since the question, somebody may have unsubscribed.
  const late = listUnsent(sent);
  const all = {
    repeated: [...unsent.repeated, ...late.repeated],
    prevented: [...unsent.prevented, ...late.prevented],
  };
  reportUnsent(context, all);
  const mails = sent.flatMap(({ email, reference, mail_id }) =>
    mail_id === null ? [] : [{ email, reference, mail_id }],
  );
  context.messages.info(
    `Queued ${countOf(mails.length, "email")}, which \`starpost mail run\` or \`starpost serve\` sends.`,
  );
  return { mails, ...all };
}

const isSendable = ({ is_repeated, rule }: RecipientOutcome) => !is_repeated && rule === null;

/** The recipients who got the email before, and those to whom a rule prevents it. */
interface Unsent {
  readonly repeated: readonly Skipped[];
  readonly prevented: readonly Skipped[];
}

function listUnsent(outcomes: readonly RecipientOutcome[]): Unsent {
  return {
    repeated: outcomes.flatMap(({ email, is_repeated }) =>
      is_repeated ? [{ id: email, problem: "already sent" }] : [],
    ),
    prevented: outcomes.flatMap(({ email, rule }) =>
      rule === null ? [] : [{ id: email, problem: `prevented by the rule ${rule}` }],
    ),
  };
}

function reportUnsent(context: Context, { repeated, prevented }: Unsent): void {
  reportSkipped(context, [...repeated, ...prevented], ["recipient", "recipients"]);
}

/** Makes as many calls as the recipients need. */
async function callInParts(
  recipients: readonly Recipient[],
  call: (part: Recipient[]) => Promise<{ readonly recipients: readonly RecipientOutcome[] }>,
): Promise<readonly RecipientOutcome[]> {
  const outcomes: RecipientOutcome[] = [];
  for (let at = 0; at < recipients.length; at += maxRecipients) {
    outcomes.push(...(await call(recipients.slice(at, at + maxRecipients))).recipients);
  }
  return outcomes;
}
