import type { RecordKind } from "../../../import/kind.ts";
import type { PlanSummary } from "../../../import/plan/plan-types.ts";
import { type Cell, silent } from "../../../terminal/view.ts";
import { type CommandFactory, command } from "../../program/command.ts";
import { importFlagsOf, readImportOptions } from "./import-flags.ts";
import { statusOfImport } from "./import-view.ts";

/** The command that previews an import. It has the flags of the import, except `--dry-run`. */
export default function planCommand(kind: RecordKind): CommandFactory {
  const { "dry-run": _dryRun, ...flagsOfImport } = importFlagsOf(kind);
  return command({
    summary: `Preview an import of ${kind.name} without changing anything`,
    argument: "<file...>",
    examples: kind.planExamples,
    flags: {
      out: {
        value: "<file>",
        short: "o",
        description: "save the plan to this file, for `imports apply`",
        isOutput: true,
      },
      ...flagsOfImport,
    },
    run: async (context, { arguments: files, flags }) => {
      const { runPlan } = await import("./plan-run.ts");
      const options = readImportOptions(flags, kind);
      return runPlan(context, { kind: kind.name, files, options, out: flags.out });
    },
    render: (plan) => silent(flattenPlan(plan)),
    exitStatus: (summary) => statusOfImport(summary),
  });
}

/** A plan as one flat record, for CSV. */
function flattenPlan(plan: PlanSummary): Record<string, Cell> {
  const { rows, items, calls, time, there, mails } = plan;
  return {
    kind: plan.kind,
    files: plan.files.join(" "),
    profile: plan.profile,
    state: plan.state,
    rows_read: rows.read,
    rows_accepted: rows.accepted,
    rows_rejected: rows.rejected,
    rows_failed: rows.failed,
    items: items.sent,
    items_accepted: items.accepted,
    items_rejected: items.rejected,
    calls: calls.sent,
    rate: time.rate,
    time_ms: time.ms,
    repeated_rows: plan.repeated.rows,
    items_there: there.items,
    products_changed: there.changed,
    purchases_added: there.purchases_added,
    collisions: plan.collisions.count,
    ids_with_two_names: plan.names.count,
    cells_erased: Object.values(plan.erased).reduce((sum, cells) => sum + cells, 0),
    mails_sent: mails?.sent_by_import ?? null,
    mails_if_sent: mails?.if_sent?.mails ?? null,
    people_if_sent: mails?.if_sent?.people ?? null,
    created_at: plan.created_at,
    duration_ms: plan.duration_ms,
    rejects_file: plan.rejects_file,
    plan_file: plan.plan_file,
  };
}
