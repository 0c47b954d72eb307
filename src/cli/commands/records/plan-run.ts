import { startImport } from "../../../import/import.ts";
import { planImport } from "../../../import/plan/plan.ts";
import type { PlanRequest, PlanSummary } from "../../../import/plan/plan-types.ts";
import { checkPlan, importOf, readPlan, type KeptPlan } from "../../../import/plan/plan-file.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import { type GroupName, type ForecastRuleName, forecastRuleNames } from "../../../contract/index.ts";
import { findKind } from "../../../records/index.ts";
import { confirmReplacing } from "../../program/output/existing-files.ts";
import type { Context } from "../../program/context.ts";
import { runWithScreen, withRunDeps } from "./import-run.ts";
import {
  alignLabels,
  countItems,
  countSent,
  describeFile,
  describeFilled,
  describeOutcomes,
  describeOverwriting,
  describeRejects,
  describeTarget,
  type Labeled,
} from "./import-format.ts";
import type { RejectReason } from "../../../import/events.ts";
import type { EmailForecast } from "../../../import/plan/plan-behavior.ts";
import { countOf, formatDuration, formatNumber } from "../../../terminal/plural.ts";

/** Previews an import by running it against a copy of the account, and prints the result. */
export async function runPlan(context: Context, request: PlanRequest): Promise<PlanSummary> {
  const profile = await context.profile();
  const { rehearsal } = findKind(request.kind);
  return withRunDeps(context, async (deps, screen) => {
    const plan = await planImport(request, {
      ...deps,
      openRehearsal: (pace) =>
        context.rehearse({
          ...pace,
          resources: rehearsal?.resources ?? [request.kind as GroupName],
          copy: rehearsal?.copy,
          onEvent: (event) => {
            if (event.type === "wait") screen.report({ type: "wait", message: event.message, ms: event.ms });
          },
        }),
    });
    const rejects = screen.takeRejects();
    screen.close();
    const message = describePlan(plan, describeTarget(profile), rejects);
    if (rejects.length === 0) context.messages.info(message);
    else context.messages.warn(message);
    return plan;
  });
}

/** Runs a saved plan if its files have not changed, and reports differences from the plan. */
export async function applyPlan(context: Context, path: string): Promise<ImportSummary> {
  const plan = readPlan(path, context.io.cwd);
  const request = importOf(plan, context.io.cwd);
  const { rejects } = request.options;
  if (rejects !== undefined) await confirmReplacing(context, [{ file: rejects, flag: "rejects" }]);
  const summary = await runWithScreen(context, async (deps, screen) => {
    await checkPlan(plan, deps);
    await screen.confirmOnLive(describeOverwriting(request));
    return startImport(request, deps);
  });
  const differences = describeDifferences(plan.summary, summary);
  if (differences !== undefined) context.messages.warn(differences);
  return summary;
}

/** The most examples that are listed of one finding. */
const maxExamples = 5;

/** The most days with emails that are listed. */
const maxDays = 4;

function describePlan(plan: PlanSummary, target: string, rejects: readonly RejectReason[]): string[] {
  const { rows, items, calls } = plan;
  return [
    describeState(plan, target),
    ...alignLabels([
      [
        "rows",
        `${formatNumber(rows.read)} read, ${formatNumber(rows.accepted)} acceptable, ${formatNumber(rows.rejected)} rejected, ${formatNumber(rows.failed)} failed`,
      ],
      ["to send", `${countSent(plan.kind, items.sent, calls.sent)}, ${describeTime(plan)}`],
      ...describeOutcomes("to store", items),
      ...describeFilled(plan),
      ...describeRejects(rejects, rows),
      ...describeStored(plan),
      ...describeIds(plan),
      ...describeEmails(plan),
      ...plan.not_known.map((what) => ["unknown", `${what} (the service does not return this)`] as const),
    ]),
    ...describeNextSteps(plan),
  ];
}

function describeState({ kind, files, state }: PlanSummary, target: string): string {
  const subject = `import of ${kind} from ${files.map(describeFile).join(", ")} into ${target}`;
  if (state === "finished") return `Planned the ${subject}. Nothing was changed.`;
  const cause = state === "stopped" ? "because of --max-errors" : "by a signal";
  return `Planning stopped ${cause}: the plan of the ${subject} is incomplete. Nothing was changed.`;
}

function describeTime({ time: { rate, ms } }: PlanSummary): string {
  return rate === null
    ? `about ${formatDuration(ms)}`
    : `about ${formatDuration(ms)} at ${countOf(rate, "call")} per second`;
}

function describeStored({ there, repeated, kind }: PlanSummary): Labeled[] {
  const changes =
    there.changed !== null
      ? `, of which ${formatNumber(there.changed)} would change`
      : there.purchases_added !== null
        ? `; ${countOf(there.purchases_added, "purchase")} would be added to them`
        : "";
  const lines: Labeled[] = [];
  if (there.items > 0) lines.push(["existing", `${countItems(kind, there.items)}${changes}`]);
  if (repeated.rows > 0) {
    lines.push([
      "repeated",
      `${countOf(repeated.rows, "row")} with the ID of an earlier row (first: ${repeated.first})`,
    ]);
  }
  return lines;
}

function describeIds({ collisions }: PlanSummary): Labeled[] {
  const lines: Labeled[] = [];
  if (collisions.count > 0) {
    lines.push(["IDs", `${countOf(collisions.count, "ID is", "IDs are")} spelled in more than one way:`]);
    for (const { ids, first } of collisions.examples.slice(0, maxExamples)) {
      lines.push(["", `${formatList(ids)} (first: ${first})`]);
    }
  }
  return lines;
}

function formatList(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(", ");
}

function describeEmails({ mails, there }: PlanSummary): Labeled[] {
  if (!mails) return [];
  const { send_mail: sendsEmails, if_sent: forecast } = mails;
  const start = sendsEmails
    ? "this import sends review-request emails (--send-mail)"
    : "none, because --send-mail is not set";
  if (!forecast) return [["emails", sendsEmails ? `${start}; their number is unknown` : start]];
  const { mails: count, people, days } = forecast;
  const listed = days.slice(0, maxDays).map(({ day, mails: some }) => `${day} (${formatNumber(some)})`);
  const omitted = days.length > maxDays ? `, and on ${countOf(days.length - maxDays, "more day")}` : "";
  const when = count === 0 ? "" : `, on ${listed.join(", ")}${omitted}`;
  const reasons = describeNotSent(forecast);
  const hasNothingNew = count === 0 && reasons.length === 0 && there.items > 0;
  const why = hasNothingNew ? ", because the orders and their products already exist" : "";
  const total = `${countOf(count, "email")} to ${countOf(people, "person", "people")}${when}${why}`;
  return [["emails", sendsEmails ? `${start}: ${total}` : `${start}; with it: ${total}`], ...reasons];
}

/** Why ordered products would not cause an email. */
function describeNotSent({ not_sent: notSent }: EmailForecast): Labeled[] {
  const rules = forecastRuleNames.filter((name) => notSent[name] > 0);
  return rules.map((name) => ["", `none for ${countOf(notSent[name], "ordered product")}: ${ruleTexts[name]}`]);
}

const ruleTexts: Readonly<Record<ForecastRuleName, string>> = {
  requests_off: "review requests are disabled",
  order_too_old: "the order is too old",
  bad_address: "the order has an invalid email address",
  product_blacklisted: "the product is on the blacklist",
  mails_stopped: "the emails of the order were canceled",
  unsubscribed: "the person has unsubscribed",
  reported_spam: "the person reported an email as spam",
  bounced_before: "an email to the address bounced",
  reviewed_lately: "the person reviewed the product recently",
  too_many_to_person: "the person has reached the email limit",
};

function describeNextSteps({ rejects_file, plan_file }: PlanSummary): string[] {
  return [
    ...(rejects_file === null ? [] : [`Rejected rows: ${rejects_file}. Fix them and import that file.`]),
    ...(plan_file === null ? [] : [`To run this plan: starpost imports apply ${plan_file}`]),
  ];
}

/** Describes how a finished run differs from its plan, or returns undefined if it does not. */
function describeDifferences(
  planned: KeptPlan["summary"],
  { state, rows, items, kind }: ImportSummary,
): string[] | undefined {
  const isSame =
    planned.rows.accepted === rows.accepted &&
    planned.rows.rejected === rows.rejected &&
    planned.rows.failed === rows.failed &&
    planned.items.accepted === items.accepted;
  if (state !== "finished" || isSame) return undefined;
  const describe = (counts: typeof planned) => {
    const failed = counts.rows.failed > 0 ? `, ${formatNumber(counts.rows.failed)} failed` : "";
    const accepted = countItems(kind, counts.items.accepted);
    return `${countOf(counts.rows.accepted, "row")} accepted (${accepted}), ${formatNumber(counts.rows.rejected)} rejected${failed}`;
  };
  return [
    "The result differs from the plan. The account may have changed since then.",
    ...alignLabels([
      ["planned", describe(planned)],
      ["actual", describe({ rows, items })],
    ]),
  ];
}
