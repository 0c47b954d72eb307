import { startImport } from "../../../import/import.ts";
import { planImport } from "../../../import/plan/plan.ts";
import type { PlanRequest } from "../../../import/plan/plan-types.ts";
import { checkPlan, importOf, readPlan } from "../../../import/plan/plan-file.ts";
import type { PlanSummary } from "../../../import/plan/plan-types.ts";
import type { ImportSummary } from "../../../import/summary.ts";
import type { GroupName } from "../../../contract/index.ts";
import { findKind } from "../../../records/index.ts";
import { confirmReplacing } from "../../program/output/existing-files.ts";
import type { Context } from "../../program/context.ts";
import { runWithScreen, withRunDeps } from "./import-run.ts";
import { describeOverwriting, describeTarget } from "./import-format.ts";
import { describeDifferences, describePlan } from "./plan-format.ts";

/** Previews an import by running it against a copy of the account, and prints the result. */
export async function runPlan(context: Context, request: PlanRequest): Promise<PlanSummary> {
  const profile = await context.profile();
  const { rehearsal } = findKind(request.kind);
  return withRunDeps(context, async (deps, screen) => {
    const plan = await planImport(request, {
      ...deps,
      openRehearsal: (pace) =>
        context.rehearse({
          ...pace,
          resources: rehearsal?.resources ?? [request.kind as GroupName],
          copy: rehearsal?.copy,
          onEvent: (event) => {
            if (event.type === "wait") screen.report({ type: "wait", message: event.message, ms: event.ms });
          },
        }),
    });
    const rejects = screen.takeRejects();
    screen.close();
    const message = describePlan(plan, describeTarget(profile), rejects);
    if (rejects.length === 0) context.messages.info(message);
    else context.messages.warn(message);
    return plan;
  });
}

/** Runs a saved plan if its files have not changed, and reports differences from the plan. */
export async function applyPlan(context: Context, path: string): Promise<ImportSummary> {
  const plan = readPlan(path, context.io.cwd);
  const request = importOf(plan, context.io.cwd);
  const { rejects } = request.options;
  if (rejects !== undefined) await confirmReplacing(context, [{ file: rejects, flag: "rejects" }]);
  const summary = await runWithScreen(context, async (deps, screen) => {
    await checkPlan(plan, deps);
    await screen.confirmOnLive(describeOverwriting(request));
    return startImport(request, deps);
  });
  const differences = describeDifferences(plan.summary, summary);
  if (differences !== undefined) context.messages.warn(differences);
  return summary;
}
