import { failedError } from "../../../config/user-error.ts";
import { resendCategories } from "../../../contract/emails/categories.ts";
import { maxResent, type ResendProblem, type ResentEmail } from "../../../contract/emails/emails.ts";
import { listAll } from "../../../service/listings.ts";
import type { Service } from "../../../service/service.ts";
import { countOf } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { listHints } from "../../program/errors/failure.ts";
import { confirmSelection, reportSkipped, type Skipped } from "../../program/selection.ts";
import { describeRecord, formatReason } from "./email-format.ts";

const problems: Readonly<Record<ResendProblem, string>> = {
  not_found: "not found",
  other_category: "not a review request or reminder for an order",
  not_ended: "still queued, or being sent",
  not_sent: "was not sent; to find out why, run `starpost mail show`",
  already_resent: "already resent",
};

/** Resends emails that were named by their IDs, or else those that match a query and can be resent, after confirmation. */
export async function resend(
  context: Context,
  {
    ids: named,
    query,
  }: { readonly ids: readonly number[] | undefined; readonly query: Readonly<Record<string, unknown>> },
) {
  const selected = await context.withService(async (service) => {
    const ids = named ?? (await findUndelivered(service, query));
    return callInParts(ids, ({ mail_ids }) => service.emails.previewResend({ mail_ids }));
  });
  const sendable = selected.filter(isSendable);
  const refused = listSkipped(selected);
  // That filters also select emails which cannot be resent is not an error.
  const [skipped, prevented] = named ? [refused, []] : [[], refused];
  if (sendable.length === 0) return reportNone(context, { skipped, prevented });
  await confirmResend(context, sendable, selected);
  const mail_ids = sendable.map(({ mail_id }) => mail_id);
  const resent = await context.withService((service) => callInParts(mail_ids, (part) => service.emails.resend(part)));
  const copies = resent.filter(isSendable);
  // Since the question, the customer may have unsubscribed, or somebody else resent the email.
  const late = listSkipped(resent);
  reportSkipped(context, [...refused, ...late], noun);
  context.messages.info(
    `Queued ${countOf(copies.length, "copy", "copies")}, which \`starpost mail run\` or \`starpost serve\` sends.`,
  );
  return { mails: copies.map(toCopy), skipped: [...skipped, ...late], prevented };
}

const noun = ["email", "emails"] as const;

const isSendable = ({ problem, rule }: ResentEmail) => problem === null && rule === null;

function describeProblem({ problem, rule, copy_id, mail }: ResentEmail): string {
  if (problem === "already_resent") return `already resent as email ${copy_id}`;
  if (problem === "other_category" && mail) return `${problems[problem]}, but ${mail.category}`;
  return problem === null ? `prevented by the rule ${rule}` : problems[problem];
}

function listSkipped(emails: readonly ResentEmail[]): Skipped[] {
  return emails.flatMap((email) => (isSendable(email) ? [] : [{ id: email.mail_id, problem: describeProblem(email) }]));
}

function toCopy({ mail_id, copy_id, mail }: ResentEmail) {
  return { mail_id, copy_id, email: mail?.email ?? "", order_id: mail?.order_id ?? null };
}

const canBeResent: ReadonlySet<string> = new Set(Object.entries(resendCategories).flat());

async function findUndelivered(service: Service, query: Readonly<Record<string, unknown>>): Promise<number[]> {
  const ids: number[] = [];
  for await (const page of listAll(service, "emails.list", { input: query })) {
    ids.push(...page.flatMap(({ id, category }) => (canBeResent.has(String(category)) ? Number(id) : [])));
  }
  return ids;
}

/** Makes as many calls as the list needs. */
async function callInParts(
  ids: readonly number[],
  call: (part: { mail_ids: number[] }) => Promise<{ readonly mails: readonly ResentEmail[] }>,
): Promise<readonly ResentEmail[]> {
  const found: ResentEmail[] = [];
  for (let at = 0; at < ids.length; at += maxResent) {
    found.push(...(await call({ mail_ids: ids.slice(at, at + maxResent) })).mails);
  }
  return found;
}

async function confirmResend(
  context: Context,
  sendable: readonly ResentEmail[],
  selected: readonly ResentEmail[],
): Promise<void> {
  const rows = sendable.map(({ mail_id, mail }) => [
    String(mail_id),
    mail?.email ?? "",
    mail ? describeRecord(mail) : "",
    `${mail?.state} ${formatReason(mail?.reason ?? null)}`.trim(),
  ]);
  const people = new Set(sendable.map(({ mail }) => mail?.email)).size;
  const others = selected.length - sendable.length;
  const rest = others > 0 ? ` ${countOf(others, "other is", "others are")} not resent.` : "";
  const question = `Resend ${countOf(sendable.length, "email")} to ${countOf(people, "person", "people")}?${rest}`;
  await confirmSelection(context, { rows, question });
}

/** @throws UserError `failed` if none of the named emails can be resent */
function reportNone(context: Context, refused: Readonly<Record<"skipped" | "prevented", readonly Skipped[]>>) {
  const { skipped, prevented } = refused;
  const [first, ...others] = skipped;
  if (first && others.length === 0) throw failedError(`email ${first.id}: ${first.problem}`, listHints.Mail);
  reportSkipped(context, [...skipped, ...prevented], noun);
  if (first) throw failedError("none of the emails can be resent", listHints.Mail);
  context.messages.info("No emails to resend.");
  return { mails: [], ...refused };
}
