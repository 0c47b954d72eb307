import { type ForecastRuleName, forecastRuleNames } from "../../../contract/index.ts";
import type { KeptPlan } from "../../../import/plan/plan-file.ts";
import type { EmailForecast } from "../../../import/plan/plan-behavior.ts";
import type { PlanSummary } from "../../../import/plan/plan-types.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import { countOf, formatDuration, formatNumber } from "../../../terminal/plural.ts";
import { findKind } from "../../../records/index.ts";

/** Findings of one sort that are told one by one. */
const maxTold = 5;

/** Days of mails that are told one by one. */
const maxDays = 4;

/** What an import would do, in the words of a merchant. */
export function describePlan(plan: PlanSummary, target: string): string {
  const { rows, items, calls } = plan;
  const { one, many } = findKind(plan.kind).itemName;
  return [
    describeState(plan, target),
    `  rows   ${formatNumber(rows.read)} read: ${formatNumber(rows.accepted)} would be accepted, ${formatNumber(rows.rejected)} rejected, ${formatNumber(rows.failed)} failed`,
    `  calls  would send ${countOf(items.sent, one, many)} in ${countOf(calls.sent, "call")}`,
    `  time   ${describeTime(plan)}`,
    ...describeThere(plan),
    ...describeIds(plan),
    ...describeMails(plan),
    ...plan.not_known.map((what) => `  not known: ${what}; the service does not tell`),
    ...describeNext(plan),
  ].join("\n");
}

function describeState({ kind, files, state }: PlanSummary, target: string): string {
  const what = `${kind} from ${files.map((file) => (file === "-" ? "standard input" : file)).join(", ")}`;
  if (state === "finished") return `Planned ${what} into ${target}. Nothing was imported.`;
  const why = state === "stopped" ? "Stopped by --max-errors" : "Interrupted";
  return `${why} while planning ${what} into ${target}: what follows is not the whole. Nothing was imported.`;
}

function describeTime({ time: { rate, ms }, calls }: PlanSummary): string {
  if (rate === null) return `about ${formatDuration(ms)}, as long as this rehearsal took`;
  return `about ${formatDuration(ms)} for ${countOf(calls.sent, "call")}, ${rate} a second`;
}

function describeThere(plan: PlanSummary): string[] {
  const { there, repeated, kind } = plan;
  const { one, many } = findKind(kind).itemName;
  const lines: string[] = [];
  if (there.items > 0) {
    const what = `  there  ${countOf(there.items, one, many)} of these the service has already`;
    const more =
      there.changed !== null
        ? `: ${formatNumber(there.changed)} of them would change`
        : there.purchases_added !== null
          ? `: ${countOf(there.purchases_added, "purchase")} would be added to them`
          : "";
    lines.push(what + more);
  }
  if (repeated.rows > 0) {
    const what = countOf(repeated.rows, "row");
    lines.push(`  twice  ${what} of what an earlier row gave; first at ${repeated.first}`);
  }
  return lines;
}

function describeIds({ collisions, names }: PlanSummary): string[] {
  const lines: string[] = [];
  if (collisions.count > 0) {
    lines.push(`  ids    ${countOf(collisions.count, "id is", "ids are")} written in more than one way:`);
    for (const { ids, first } of collisions.examples.slice(0, maxTold)) {
      lines.push(`           ${ids.map((id) => JSON.stringify(id)).join(", ")}; first at ${first}`);
    }
  }
  if (names.count > 0) {
    lines.push(`  names  ${countOf(names.count, "product has", "products have")} more than one name:`);
    for (const { id, names: given, first } of names.examples.slice(0, maxTold)) {
      lines.push(
        `           ${id}: ${given.map((name) => JSON.stringify(name)).join(", ")}; first at ${first}`,
      );
    }
  }
  return lines;
}

function describeMails({ mails, there }: PlanSummary): string[] {
  if (!mails) return [];
  const first = mails.send_mail
    ? "  mails  this import SENDS MAILS (--send-mail):"
    : "  mails  no mail follows: without --send-mail an import sends none.";
  if (!mails.if_sent) return [mails.send_mail ? `${first} how many is not known` : first];
  const { mails: count, people, days } = mails.if_sent;
  const person = countOf(people, "person", "people");
  const told = days.slice(0, maxDays).map(({ day, mails: some }) => `${day} (${formatNumber(some)})`);
  const more = days.length > maxDays ? ` and ${countOf(days.length - maxDays, "further day")}` : "";
  const when = count === 0 ? "" : `, on ${told.join(", ")}${more}`;
  const reasons = describeNotSent(mails.if_sent);
  const isNothingNew = count === 0 && reasons.length === 0 && there.items > 0;
  const why = isNothingNew ? ": no order is new, nor a product in one of them" : "";
  return [
    `${first}${mails.send_mail ? "" : " If these orders were mailed:"} ${countOf(count, "mail")} to ${person}${when}${why}`,
    ...reasons,
  ];
}

/** Why products of the orders would bring no mail. */
function describeNotSent({ not_sent: notSent }: EmailForecast): string[] {
  const told = forecastRuleNames.filter((name) => notSent[name] > 0);
  return told.map((name) => {
    const products = countOf(notSent[name], "ordered product", "ordered products");
    return `           none for ${products} ${obstacleWords[name]}`;
  });
}

/** Behind "none for 3 ordered products". */
const obstacleWords: Readonly<Record<ForecastRuleName, string>> = {
  requests_off: "while review requests are switched off",
  order_too_old: "of orders that are too old",
  bad_address: "of orders whose address is none",
  product_blacklisted: "on the blacklist",
  mails_stopped: "of orders whose mails were stopped",
  unsubscribed: "of people who unsubscribed",
  reported_spam: "of people who reported a mail as spam",
  bounced_before: "of addresses that refused a mail",
  reviewed_lately: "that the person reviewed lately",
  too_many_to_person: "beyond the mails that one person gets in a time",
};

/** What is wrong with rows was said while they were read. */
function describeNext({ rejects_file, plan_file }: PlanSummary): string[] {
  return [
    ...(rejects_file === null
      ? []
      : [`Rows that would be rejected are in ${rejects_file}: correct them and import that file.`]),
    ...(plan_file === null ? [] : [`To import exactly this: starpost imports apply ${plan_file}`]),
  ];
}

/** What came out otherwise than a plan said; nothing where it all did, or the run has not come to its end. */
export function describeOtherwise(
  planned: KeptPlan["summary"],
  { state, rows, items, kind }: ImportSummary,
): string | undefined {
  const isSame =
    planned.rows.accepted === rows.accepted &&
    planned.rows.rejected === rows.rejected &&
    planned.rows.failed === rows.failed &&
    planned.items.accepted === items.accepted;
  if (state !== "finished" || isSame) return undefined;
  const tell = (told: typeof planned) => {
    const failed = told.rows.failed > 0 ? `, ${formatNumber(told.rows.failed)} failed` : "";
    const { one, many } = findKind(kind).itemName;
    const accepted = countOf(told.items.accepted, one, many);
    return `${countOf(told.rows.accepted, "row")} accepted (${accepted}), ${formatNumber(told.rows.rejected)} rejected${failed}`;
  };
  return `The plan said ${tell(planned)}; it was ${tell({ rows, items })}: the account has changed since, or the service took things otherwise.`;
}
