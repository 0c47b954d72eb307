import { tmpdir } from "node:os";
import type { PurgeSummary } from "../../../import/run/purge.ts";
import { countOf, formatBytes } from "../../../terminal/plural.ts";
import { table } from "../../../terminal/view.ts";
import { confirm } from "../../program/confirm.ts";
import { command } from "../../program/command.ts";
import { readAge } from "../../program/flag-values.ts";

export default command({
  summary: "Delete the files of old import runs, including their reject files",
  database: "optional",
  isLocalChange: true,
  examples: ["starpost imports purge --older-than 30d", "starpost imports purge --older-than 4w --unfinished --yes"],
  flags: {
    "older-than": {
      value: "<age>",
      description: "delete runs that were last used longer ago than this, such as 12h, 30d, or 4w",
      required: true,
      read: readAge,
    },
    unfinished: { description: "also delete runs that can still be resumed" },
  },
  run: async (context, { flags }) => {
    const { purgeImports } = await import("../../../import/run/purge.ts");
    const { paths } = await context.host();
    const request = { olderThanMs: flags["older-than"], unfinished: flags.unfinished ?? false };
    const summary = await purgeImports(request, {
      runsFolder: paths.runsFolder,
      temporaryFolder: tmpdir(),
      clock: context.io.clock,
      approve: async (found) => {
        if (context.isDryRun) await context.change(describeFound(found), () => Promise.resolve());
        await confirm(context, `${describeFound(found)} Continue?`);
      },
    });
    const { removed, kept } = summary;
    context.messages.info(
      removed.length === 0
        ? "No import runs are that old. Nothing was deleted."
        : `Deleted ${describeCounts(summary)}.`,
    );
    if (kept.running > 0) context.messages.info(`Kept ${countOf(kept.running, "import")} still running.`);
    if (kept.unfinished > 0) {
      context.messages.info(
        `Kept ${countOf(kept.unfinished, "unfinished import")} that can be resumed. To delete them as well, use --unfinished.`,
      );
    }
    return summary;
  },
  render: ({ removed }) =>
    table(
      removed.map(({ import_id, kind, files, state, last_used_at, bytes, path }) => ({
        id: import_id ?? path,
        kind,
        files: files.join(" "),
        state,
        last_used: last_used_at,
        bytes,
      })),
      ["id", "kind", "files", "state", "last_used", "bytes"],
    ),
});

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
