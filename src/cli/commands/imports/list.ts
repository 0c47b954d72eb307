import { type ImportSummary, runStates } from "../../../import/summary.ts";
import { recordKinds } from "../../../records/index.ts";
import { command } from "../../program/command.ts";
import { limitFlag, oneOf, stateFlag } from "../../program/flag-values.ts";
import { timeFlags, toTimeRange } from "../../program/relative-time.ts";
import { tableOfRuns } from "../records/import-view.ts";

const kinds = recordKinds.map(({ name }) => name);

export default command({
  summary: "List import runs, newest first",
  database: "optional",
  examples: [
    "starpost imports list",
    "starpost imports list --kind orders --state failed,interrupted --since 7d",
    "starpost imports list --search orders-2026",
    "starpost imports list --json | jq -r '.[0].import_id'",
  ],
  flags: {
    kind: { value: "<kind>", description: `only runs of this kind: ${kinds.join(", ")}`, ...oneOf(kinds) },
    state: stateFlag(runStates),
    ...timeFlags,
    search: {
      value: "<words>",
      description: "only runs with a file whose name contains all of these words or parts of words",
    },
    limit: limitFlag,
  },
  run: async (context, { flags }) => {
    const { listImports } = await import("../../../import/import.ts");
    const { paths } = await context.host();
    const runs = await listImports(paths.runsFolder);
    const range = toTimeRange(flags, context.io.clock());
    const found = runs.filter((run) => isSelected(run, { ...flags, ...range }));
    if (runs.length === 0) {
      context.messages.info("No import runs found. To create one, run `starpost orders import <file>`.");
    } else if (found.length === 0) {
      context.messages.info("No import runs match. To list all of them, run `starpost imports list`.");
    }
    const { limit = found.length } = flags;
    if (limit < found.length) (await import("../../program/read-records.ts")).reportLimit(context, limit);
    return found.slice(0, limit);
  },
  render: tableOfRuns,
});

interface RunFilter {
  readonly kind?: string | undefined;
  readonly state?: readonly string[] | undefined;
  readonly search?: string | undefined;
  readonly since_date?: string;
  readonly until_date?: string;
}

/** Whether a run meets all filters. The range of times is that of its start. */
export function isSelected(run: ImportSummary, filter: RunFilter): boolean {
  const { kind, state, search = "", since_date = "", until_date } = filter;
  const words = search.toLowerCase().split(/\s+/);
  const isFound = (file: string) => {
    const name = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1).toLowerCase();
    return words.every((word) => name.includes(word));
  };
  return (
    (kind === undefined || run.kind === kind) &&
    (state?.includes(run.state) ?? true) &&
    (search === "" || run.files.some(isFound)) &&
    run.started_at >= since_date &&
    (until_date === undefined || run.started_at < until_date)
  );
}
