import {
  describeEmptyFiles,
  syncUnsubscribers,
  type SyncRequest,
  type SyncSummary,
} from "../../../records/unsubscribers/sync/sync.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { withRunDeps } from "../records/import-run.ts";
import { describeTarget } from "../records/import-format.ts";

/** Makes a list of unsubscribers match the files. Resubscribing people requires confirmation. */
export async function runSync(context: Context, request: SyncRequest): Promise<SyncSummary> {
  const target = describeTarget(await context.profile());
  return withRunDeps(context, async (deps, screen) => {
    const { isLive } = await context.profile();
    const approve = async ({ added, removed }: { readonly added: number; readonly removed: number }) => {
      const emails = `emails of type ${request.emailType}`;
      const addition = added > 0 ? ` and unsubscribe ${formatNumber(added)}` : "";
      if (removed > 0) {
        const people = countOf(removed, "person", "people");
        await screen.confirm(`Resume ${emails} to ${people}${isLive ? addition : ""} in ${target}?`);
      } else if (isLive) {
        const people = countOf(added, "person", "people");
        await screen.confirm(`Unsubscribe ${people} from ${emails} in ${target}?`);
      }
    };
    const summary = await syncUnsubscribers(request, { ...deps, approve });
    screen.close();
    for (const line of [...describeSync(summary, target), ...describeRuns(summary)]) {
      if (summary.state === "finished" || summary.state === "planned") context.messages.info(line);
      else context.messages.warn(line);
    }
    return summary;
  });
}

/** The maximum number of addresses listed per kind. */
const maxListed = 10;

/** Describes what a sync changed or, for a plan, would change. */
function describeSync(summary: SyncSummary, target: string): string[] {
  const { type, added, removed, unchanged, state, not_done: notDone } = summary;
  const list = `the list of type ${type} in ${target}`;
  if ((state === "planned" || state === "finished") && added + removed + notDone === 0) {
    return [describeNothing(summary, list), ...more(summary)];
  }
  const counts = `${formatNumber(added)} unsubscribed, ${formatNumber(removed)} resubscribed, ${formatNumber(unchanged)} unchanged`;
  const outcome =
    state === "planned"
      ? `Would change ${list}: ${counts}.`
      : state === "finished"
        ? `Changed ${list}: ${counts}.`
        : `Not finished (${state}): ${list}: ${counts}. To continue, run the command again.`;
  return [
    ...(isEmptied(summary) ? [`The list would become empty: ${describeEmptyFiles(summary)}.`] : []),
    outcome,
    ...more(summary),
  ];
}

function describeNothing({ state, withheld, rejected, unchanged }: SyncSummary, list: string): string {
  const rows = countOf(rejected, "rejected row");
  if (withheld > 0) {
    const effect = state === "planned" ? "would be changed" : "was changed";
    return `${list.replace(/^the/, "The")} differs, but nothing ${effect} because of ${rows}.`;
  }
  const nothing = state === "planned" ? "Nothing would change" : "Nothing to do";
  const exception = rejected > 0 ? `, except for ${rows}` : "";
  return `${nothing}: ${list} matches (${countOf(unchanged, "address", "addresses")})${exception}.`;
}

/** Whether the sync would remove every address because the files are empty. */
function isEmptied({ state, added, removed, unchanged }: SyncSummary): boolean {
  return state === "planned" && removed > 0 && added + unchanged === 0;
}

function more(summary: SyncSummary): string[] {
  const { cannot_be_removed: own, withheld, rejected, not_done: notDone, passed_over: skipped } = summary;
  return [
    ...name("would be unsubscribed", summary.to_add ?? []),
    ...name("would be resubscribed", summary.to_remove ?? []),
    ...name("not in the files, but cannot be resubscribed because they unsubscribed themselves", own),
    ...(rejected > 0
      ? [
          `${countOf(rejected, "row")} rejected. Nobody is resubscribed until ${rejected === 1 ? "it is" : "they are"} corrected${withheld > 0 ? ` (${countOf(withheld, "person", "people")} withheld)` : ""}${summary.rejects_file === null ? "" : `; see ${summary.rejects_file}`}.`,
        ]
      : []),
    ...(skipped > 0 ? [`${countOf(skipped, "address", "addresses")} of other types skipped.`] : []),
    ...(notDone > 0
      ? [
          `${countOf(notDone, "address", "addresses")} not processed. For details, run \`starpost imports show ${summary.imports.at(-1) ?? ""}\`.`,
        ]
      : []),
  ];
}

function name(what: string, emails: readonly string[]): string[] {
  if (emails.length === 0) return [];
  const rest = emails.length > maxListed ? `, and ${formatNumber(emails.length - maxListed)} more` : "";
  return [`${formatNumber(emails.length)} ${what}: ${emails.slice(0, maxListed).join(", ")}${rest}`];
}

/** The import runs of a sync, which can be verified and undone. */
export function describeRuns({ sync_id: id, imports }: SyncSummary): string[] {
  if (id === null || imports.length === 0) return [];
  const commands = imports.flatMap((run) => [
    `For details, run: starpost imports show ${run}`,
    `To undo it, run: starpost imports undo ${run}`,
  ]);
  return [`\`starpost imports list\` shows this change as sync ${id}.`, ...commands];
}
