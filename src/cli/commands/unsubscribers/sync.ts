import type { SyncSummary } from "../../../records/unsubscribers/sync/sync.ts";
import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { type ExitStatus, exitStatus } from "../../program/exit-status.ts";
import { emailType, readCount } from "../../program/flag-values.ts";
import { unsubscribers } from "../../../records/unsubscribers/kind.ts";
import { readImportOptions, sharedImportFlags } from "../records/import-flags.ts";

const { "dry-run": _dryRun, empty: _empty, ...readingFlags } = sharedImportFlags(unsubscribers);

export default command({
  summary: "Unsubscribe and resubscribe addresses so that the list matches CSV files",
  database: "created",
  argument: "<file...>",
  examples: [
    "starpost unsubscribers sync everyone.csv --type reviews --plan",
    "starpost unsubscribers sync everyone.csv --type reviews --max-resubscribe 10",
  ],
  flags: {
    type: {
      value: "<type>",
      description: "email type of the list, by name or number (1 to 17)",
      required: true,
      ...emailType,
    },
    plan: { description: "show the differences without changing anything (exit status 1 if there are any)" },
    "max-resubscribe": {
      value: "<n>",
      description: "maximum number of addresses to resubscribe",
      default: 0,
      read: readCount,
    },
    ...readingFlags,
  },
  run: async (context, { arguments: files, flags }) => {
    const { runSync } = await import("./sync-run.ts");
    return runSync(context, {
      files,
      emailType: flags.type,
      options: readImportOptions(flags),
      isPlan: flags.plan ?? false,
      maxResubscribe: flags["max-resubscribe"],
    });
  },
  render: ({ files, imports, cannot_be_removed: own, to_add: _add, to_remove: _remove, ...counts }) =>
    silent({ ...counts, files: files.join(" "), imports: imports.join(" "), cannot_be_removed: own.length }),
  exitStatus: statusOfSync,
});

/**
 * Assumed: addresses that cannot be resubscribed do not affect the exit status, because a nightly sync would otherwise
 * never exit with 0. A plan exits with 1 if the list differs, including differences withheld because of rejected rows.
 */
function statusOfSync(summary: SyncSummary): ExitStatus {
  const { state, added, removed, withheld, rejected, not_done: notDone } = summary;
  if (state === "interrupted") return exitStatus.interrupted;
  if (state === "stopped") return exitStatus.stopped;
  if (state === "planned" && added + removed + withheld > 0) return exitStatus.failed;
  if (state !== "finished" && state !== "planned") return exitStatus.failed;
  return rejected > 0 || notDone > 0 ? exitStatus.someRejected : exitStatus.done;
}
