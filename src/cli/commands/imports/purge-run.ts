import { tmpdir } from "node:os";
import { type PurgeRequest, type PurgeSummary, purgeImports } from "../../../import/run/purge.ts";
import { countOf, formatBytes } from "../../../terminal/plural.ts";
import type { Context } from "../../program/context.ts";
import { confirm } from "../../program/confirm.ts";

/** Deletes old runs after a confirmation. */
export async function runPurge(context: Context, request: PurgeRequest): Promise<PurgeSummary> {
  const { paths } = await context.host();
  const summary = await purgeImports(request, {
    runsFolder: paths.runsFolder,
    temporaryFolder: tmpdir(),
    clock: context.io.clock,
    approve: (found) => confirm(context, `${describeFound(found)} Continue?`),
  });
  const { running, unfinished } = summary.kept;
  const { removed } = summary;
  context.messages.info(
    removed.length === 0
      ? "No import runs are that old. Nothing was deleted."
      : `Deleted ${describeCounts(summary)}.`,
  );
  if (running > 0) context.messages.info(`Kept ${countOf(running, "import")} still running.`);
  if (unfinished > 0) {
    context.messages.info(
      `Kept ${countOf(unfinished, "unfinished import")} that can be resumed. To delete them as well, use --unfinished.`,
    );
  }
  return summary;
}

function describeFound(found: PurgeSummary): string {
  const [oldest = ""] = found.removed.map(({ last_used_at }) => last_used_at.slice(0, 10)).toSorted();
  const resumable = found.removed.filter(({ state }) => state !== "finished" && state !== "leftover").length;
  const note = resumable === 0 ? "" : ` ${countOf(resumable, "import")} can still be resumed.`;
  return `This deletes ${describeCounts(found)}, including reject files. The oldest was last used on ${oldest}.${note}`;
}

function describeCounts({ removed, removed_bytes: bytes }: PurgeSummary): string {
  const leftovers = removed.filter(({ state }) => state === "leftover").length;
  const runs = countOf(removed.length - leftovers, "import");
  const found = leftovers === 0 ? runs : `${runs} and ${countOf(leftovers, "leftover")} of killed processes`;
  return `${found} (${formatBytes(bytes)})`;
}
