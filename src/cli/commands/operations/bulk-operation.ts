import { silent } from "../../../terminal/view.ts";
import { command, type Command, type CommandFactory } from "../../program/command.ts";
import type { Flags } from "../../program/flag.ts";
import { checkSelection, readIds, statusOfSelection } from "../../program/selection.ts";
import type { BulkResult, BulkSelection } from "./bulk-run.ts";

/** A command for one record that also accepts several IDs, or the filters of a list. */
export interface BulkOperation extends BulkSelection {
  /** The command for one record. */
  readonly single: CommandFactory;
  readonly filters: Flags;
  readonly examples: readonly string[];
}

export function bulkOperation(bulk: BulkOperation): CommandFactory {
  return (name) => {
    const single = bulk.single(name);
    const { argument = "", flags: ownFlags = {} } = single;
    const isBulk = (data: unknown): data is BulkResult =>
      typeof data === "object" && data !== null && "changed" in data;
    return command<Flags, unknown>({
      ...single,
      argument: argument.replace(/^[<[](.*)[>\]]$/, "[$1...]"),
      flags: { ...bulk.filters, ...ownFlags },
      examples: [...(single.examples ?? []), ...bulk.examples],
      notes: [
        `Several IDs, - for those on standard input, or filters select several ${bulk.noun[1]}: the command shows how many and the first ten, and asks. Unknown IDs are reported and skipped (exit status 3).`,
        ...(single.notes ?? []),
      ],
      run: async (context, { arguments: given, flags }) => {
        const filters = Object.keys(bulk.filters).filter((flag) => flags[flag] ?? false);
        if (filters.length === 0 && given[0] !== "-" && (given.length === 1 || flags["input"] !== undefined)) {
          return single.run(context, { arguments: given, flags });
        }
        checkSelection(given, filters, bulk.examples.slice(0, 1));
        const ids = given.length > 0 ? await readIds(context.io, given, argument) : undefined;
        const { runBulk } = await import("./bulk-run.ts");
        return runBulk(context, bulk, { ids, flags });
      },
      render: (data) => (isBulk(data) ? silent() : single.render(data)),
      exitStatus: (data) => (isBulk(data) ? statusOfSelection(data) : statusOfSingle(single, data)),
    })(name);
  };
}

function statusOfSingle(single: Command, data: unknown) {
  return single.exitStatus?.(data) ?? 0;
}
