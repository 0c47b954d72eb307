import { usageError } from "../../../config/user-error.ts";
import type { OperationName } from "../../../contract/index.ts";
import { command, type CommandFactory } from "../../program/command.ts";
import type { Flags } from "../../program/flag.ts";
import { type FilterDescriptions, filterFlagsOf, findFilter, toFieldFlags } from "./list-filters.ts";
import { operationCommand, type OperationCommand } from "./operation-command.ts";

interface FilteredList extends Omit<OperationCommand, "isCalledByName" | "hooks"> {
  /** The operation without filters, which every service has. */
  readonly operation: OperationName;
  /** The operation with filters. */
  readonly search: OperationName;
  readonly states?: readonly string[];
  readonly descriptions?: FilterDescriptions;
  /** The flag of the optional argument. */
  readonly argumentFlag?: string;
}

/** A command that lists records, with an operation of the specification, or with filters. */
export function filteredList({
  operation,
  search,
  states,
  descriptions = {},
  argumentFlag,
  ...presentation
}: FilteredList): CommandFactory {
  const { addedColumns } = presentation;
  const list = operationCommand(operation, presentation);
  const find = operationCommand(search, addedColumns && { addedColumns });
  return (name) => {
    const [listed, searched] = [list(name), find(name)];
    const known = listed.flags ?? {};
    const filters = filterFlagsOf(search, descriptions, states);
    return command<Flags, unknown>({
      ...listed,
      ...(listed.argument !== undefined && { argument: listed.argument.replace(/^<(.*)>$/, "[$1]") }),
      // A filter that replaces a flag of the list accepts more values.
      flags: {
        ...filters,
        ...known,
        ...("state" in filters && { state: filters["state"] }),
        ...(filters["since"] && "since-date" in known && { since: { ...filters["since"], exclusive: ["since-date"] } }),
      },
      notes: [
        `With filters, lists the newest first, or the oldest with --sort oldest${"search" in filters ? "; with --search, by ID" : ""}. ` +
          "Services other than starpost support only the flags of the first operation.",
        ...(listed.notes ?? []),
        ...(searched.notes ?? []).filter((note) => note.startsWith("Operation ")),
      ],
      run: async (context, { arguments: [argument], flags }) => {
        const named = argument !== undefined && argumentFlag !== undefined;
        if (named && flags[argumentFlag] !== undefined) {
          throw usageError(`--${argumentFlag} cannot be used with ${listed.argument}`, "Remove one of them.");
        }
        const filter = findFilter(flags, known, filters);
        const values = toFieldFlags(flags, context.io.clock());
        if (filter === undefined && (argumentFlag === undefined || named)) {
          return listed.run(context, { arguments: argument === undefined ? [] : [argument], flags: values });
        }
        const all = named ? { ...toFieldFlags({ [argumentFlag]: argument }, 0), ...values } : values;
        return searched.run(context, { arguments: [], flags: all });
      },
    })(name);
  };
}
