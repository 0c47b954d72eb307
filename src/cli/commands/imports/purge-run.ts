import { tmpdir } from "node:os";
import { type PurgeRequest, type PurgeSummary, purgeImports } from "../../../import/run/purge.ts";
import { countOf, formatBytes } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { confirm } from "../../program/confirm.ts";

/** Removes old runs, once the person has agreed. */
export async function runPurge(context: Context, request: PurgeRequest): Promise<PurgeSummary> {
  const { paths } = await context.host();
  const summary = await purgeImports(request, {
    runsFolder: paths.runsFolder,
    temporaryFolder: tmpdir(),
    clock: context.io.clock,
    approve: (found) => confirm(context, `${describeFound(found)} Go on?`),
  });
  const { running, unfinished } = summary.kept;
  const { removed } = summary;
  context.messages.info(removed.length === 0 ? "Nothing is so old." : `Removed ${describeCounts(summary)}.`);
  if (running > 0)
    context.messages.info(
      `Kept ${countOf(running, "import")} that ${running === 1 ? "is" : "are"} under way.`,
    );
  if (unfinished > 0) {
    const those = unfinished === 1 ? "1 that is" : `${unfinished} that are`;
    context.messages.info(
      `Kept ${those} not finished and can be resumed; --unfinished removes them as well.`,
    );
  }
  return summary;
}

function describeFound(found: PurgeSummary): string {
  const [oldest = ""] = found.removed.map(({ last_used_at }) => last_used_at.slice(0, 10)).toSorted();
  const open = found.removed.filter(({ state }) => state !== "finished" && state !== "leftover").length;
  const resumable = open === 0 ? "" : ` ${countOf(open, "import")} could still be resumed.`;
  return `Remove ${describeCounts(found)}, with their reject files; the oldest was last used on ${oldest}.${resumable}`;
}

function describeCounts({ removed, removed_bytes: bytes }: PurgeSummary): string {
  const leftovers = removed.filter(({ state }) => state === "leftover").length;
  const runs = countOf(removed.length - leftovers, "import");
  const what =
    leftovers === 0 ? runs : `${runs} and ${countOf(leftovers, "leftover")} of processes that were killed`;
  return `${what} (${formatBytes(bytes)})`;
}
