import type { OperationName } from "../../../contract/index.ts";
import { RowStream, type Row } from "../../../terminal/row-stream.ts";
import { table } from "../../../terminal/view.ts";
import { type Command, command, type Flags } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import { operationCards } from "./operation-cards.ts";
import { writeExample } from "./examples.ts";
import { describeArguments, argumentOf, flagsOf } from "./input.ts";
import { commandNameOf } from "./names.ts";
import { describeCall } from "./notes.ts";
import { countRefused, viewOf } from "./view.ts";

/**
 * The command of a call of the contract, made from its card: `products.massCreate` is `products mass-create`.
 * @param name another name than the call's own
 */
export function operationCommand(operation: OperationName, name = commandNameOf(operation)): Command {
  const card = operationCards[operation];
  if (!card) throw new Error(`there is no card of ${operation}`);
  const argument = argumentOf(card);
  const flags = flagsOf(operation, card);
  return command<Flags, RowStream | Row>({
    name,
    summary: card.summary,
    ...(argument !== undefined && { argument, argumentHelp: describeArguments(operation, card) }),
    flags,
    examples: [writeExample(name, operation, card)],
    notes: describeCall(operation, card),
    run: async (context, given) => {
      const { runOperation } = await import("./run.ts");
      return runOperation(context, { operation, card }, given);
    },
    render: (data) => (data instanceof RowStream ? table([], data.columns) : viewOf(data)),
    exitStatus: (data) =>
      !(data instanceof RowStream) && countRefused(data) > 0 ? exitStatus.someRejected : exitStatus.done,
  });
}
