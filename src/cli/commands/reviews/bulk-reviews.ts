import type { OperationName } from "../../../contract/index.ts";
import type { Row } from "../../../terminal/row-stream.ts";
import type { CommandFactory } from "../../program/command.ts";
import { valuesOfField } from "../../program/field-values.ts";
import { bulkOperation } from "../operations/bulk-operation.ts";
import { filterFlagsOf, toFieldFlags } from "../operations/list-filters.ts";
import { operationCards } from "../operations/operation-cards.ts";
import { operationCommand, type OperationCommand } from "../operations/operation-command.ts";
import { readInput } from "../operations/input.ts";
import { filterDescriptions } from "./list.ts";

const list = "reviews.search";

interface ReviewAction extends OperationCommand {
  readonly verbs: readonly [imperative: string, past: string];
  /** The states of reviews that the filters select, unless --state is given. */
  readonly states: readonly string[];
}

/** A command that changes one review, or those that match the filters of the list. */
export function reviewAction(
  operation: OperationName,
  { verbs, states, ...presentation }: ReviewAction,
): CommandFactory {
  const { preset = {}, defaults = {} } = presentation;
  const verb = verbs[0].toLowerCase();
  return bulkOperation({
    single: operationCommand(operation, presentation),
    operation,
    idField: "review_id",
    fieldsOf: ({ reason, by }) => ({
      ...preset,
      ...defaults,
      ...(reason !== undefined && { reason }),
      ...(by !== undefined && { by }),
    }),
    list,
    filters: filterFlagsOf(list, filterDescriptions, valuesOfField("reviews.list", "state")),
    queryOf: (flags, nowMs) => {
      const { reason: _reason, by: _by, input: _input, ...filters } = flags;
      const sources = { arguments: [], file: {}, own: { appKey: "", secret: undefined }, password: undefined };
      const query = readInput(operationCards[list], { ...sources, flags: toFieldFlags(filters, nowMs) });
      return { state: states.join(","), ...query };
    },
    noun: ["review", "reviews"],
    verbs,
    describe: (review: Row) => [
      String(review["id"]),
      "★".repeat(Number(review["score"])),
      review["sku"] as string,
      review["title"] as string,
    ],
    examples: [
      `starpost reviews ${verb} --since 7d --score 1..2`,
      `starpost reviews list --search casino --format ndjson --jq .id | starpost reviews ${verb} - --yes`,
    ],
  });
}
