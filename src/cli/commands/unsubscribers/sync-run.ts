import { syncUnsubscribers } from "../../../records/unsubscribers/sync/sync.ts";
import type { SyncRequest, SyncSummary } from "../../../records/unsubscribers/sync/sync-types.ts";
import { countOf, formatNumber } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { withRunDeps } from "../records/import-run.ts";
import { describeTarget } from "../records/import-format.ts";
import { describeRuns, describeSync } from "./sync-format.ts";

/** Makes a list of unsubscribers match the files. Resubscribing people requires confirmation. */
export async function runSync(context: Context, request: SyncRequest): Promise<SyncSummary> {
  const target = describeTarget(await context.profile());
  return withRunDeps(context, async (deps, screen) => {
    const { isLive } = await context.profile();
    const approve = async ({ added, removed }: { readonly added: number; readonly removed: number }) => {
      const emails = `emails of type ${request.emailType}`;
      const more = added > 0 ? ` and unsubscribe ${formatNumber(added)}` : "";
      if (removed > 0) {
        const people = countOf(removed, "person", "people");
        await screen.confirm(`Resume ${emails} to ${people}${isLive ? more : ""} in ${target}?`);
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
