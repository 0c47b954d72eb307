import { nameNobody } from "../../../records/unsubscribers/sync/sync.ts";
import type { SyncSummary } from "../../../records/unsubscribers/sync/sync-types.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";

/** People who are named on the screen, of each kind. */
const mostNamed = 10;

/** What a sync did, or would do, in the words of a merchant. */
export function describeSync(summary: SyncSummary, target: string): string[] {
  const { type, added, removed, unchanged, state, not_done: notDone } = summary;
  const list = `the list of type ${type} in ${target}`;
  if ((state === "planned" || state === "finished") && added + removed + notDone === 0) {
    return [describeNothing(summary, list), ...more(summary)];
  }
  const counts = `${formatNumber(added)} added, ${formatNumber(removed)} taken off, ${formatNumber(unchanged)} unchanged`;
  const words =
    state === "planned"
      ? `Would change ${list}: ${counts}.`
      : state === "finished"
        ? `Changed ${list}: ${counts}.`
        : `Did not get to the end (${state}) with ${list}: ${counts}. Run it again to go on.`;
  return [
    ...(isEmptied(summary) ? [`The list would be emptied: ${nameNobody(summary)}.`] : []),
    words,
    ...more(summary),
  ];
}

function describeNothing({ state, withheld, rejected, unchanged }: SyncSummary, list: string): string {
  const rows = rejected === 1 ? "a row of the file is" : "rows of the file are";
  if (withheld > 0) {
    const nothing = state === "planned" ? "nothing would change" : "nothing was changed";
    return `Does not match, and ${nothing} while ${rows} rejected: ${list}.`;
  }
  const nothing = state === "planned" ? "Nothing would change" : "Nothing to do";
  const but = rejected > 0 ? ` but that ${rows} rejected` : "";
  return `${nothing}: ${list} matches (${countOf(unchanged, "address", "addresses")})${but}.`;
}

/** Whether all that is on the list would go, since the files hold nothing. */
function isEmptied({ state, added, removed, unchanged }: SyncSummary): boolean {
  return state === "planned" && removed > 0 && added + unchanged === 0;
}

function more(summary: SyncSummary): string[] {
  const { cannot_be_removed: own, withheld, rejected, not_done: notDone, passed_over: passedOver } = summary;
  return [
    ...name("would be unsubscribed", summary.to_add ?? []),
    ...name("would get mails again", summary.to_remove ?? []),
    ...name("not in the file, but unsubscribed by themselves, and cannot be brought back", own),
    ...(rejected > 0
      ? [
          `${countOf(rejected, "row")} rejected: nobody is brought back before ${rejected === 1 ? "it is" : "they are"} corrected${withheld > 0 ? ` (${countOf(withheld, "person", "people")} would be)` : ""}${summary.rejects_file === null ? "" : `; see ${summary.rejects_file}`}.`,
        ]
      : []),
    ...(passedOver > 0 ? [`${countOf(passedOver, "address", "addresses")} of other types passed over.`] : []),
    ...(notDone > 0
      ? [
          `${countOf(notDone, "address", "addresses")} not done: starpost imports show ${summary.imports.at(-1) ?? ""}`,
        ]
      : []),
  ];
}

function name(what: string, emails: readonly string[]): string[] {
  if (emails.length === 0) return [];
  const rest = emails.length > mostNamed ? `, and ${formatNumber(emails.length - mostNamed)} more` : "";
  return [`${formatNumber(emails.length)} ${what}: ${emails.slice(0, mostNamed).join(", ")}${rest}`];
}

/** The runs of a sync, which are what can be verified and undone. */
export function describeRuns({ sync_id: id, imports }: SyncSummary): string[] {
  return id === null || imports.length === 0
    ? []
    : [`  sync   ${id}`, ...imports.map((run) => `  import ${run}`)];
}
