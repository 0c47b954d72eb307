import type { RecordKind } from "../../../import/kind.ts";
import type { PlanSummary } from "../../../import/plan/plan-types.ts";
import { type Cell, silent } from "../../../terminal/view.ts";
import { type CommandFactory, command } from "../../program/command.ts";
import { importFlagsOf, outFlag, readImportOptions } from "./import-flags.ts";
import { flattenCounts, statusOfImport } from "./import-view.ts";

/** The command that previews an import. It has the flags of the import, except `--dry-run`. */
export default function planCommand(kind: RecordKind): CommandFactory {
  const { "dry-run": _dryRun, ...flagsOfImport } = importFlagsOf(kind);
  return command({
    summary: `Preview an import of ${kind.name} without changing anything`,
    database: "optional",
    argument: "<file...>",
    examples: kind.planExamples,
    flags: {
      out: outFlag("save the plan to this file, for `imports apply`"),
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
  const { kind, files, profile, state, rows, items, calls, time, there, mails } = plan;
  const { created_at, duration_ms, rejects_file, plan_file } = plan;
  return {
    kind,
    files: files.join(" "),
    profile,
    state,
    ...flattenCounts("rows", rows),
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
    created_at,
    duration_ms,
    rejects_file,
    plan_file,
  };
}
