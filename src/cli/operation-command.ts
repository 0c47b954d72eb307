import type { OperationName } from "../contract/index.ts";
import { RowStream, type Row } from "../output/row-stream.ts";
import { table } from "../output/view.ts";
import { type Command, command, type Flags } from "./command.ts";
import { exitStatus } from "./exit-status.ts";
import { operationCards } from "./operation-cards.ts";
import { writeExample } from "./operation-examples.ts";
import { argumentNotesOf, argumentOf, flagsOf } from "./operation-input.ts";
import { commandNameOf } from "./operation-names.ts";
import { describeCall } from "./operation-notes.ts";
import { countRefused, viewOf } from "./operation-view.ts";

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
    ...(argument !== undefined && { argument, argumentNotes: argumentNotesOf(operation, card) }),
    flags,
    examples: [writeExample(name, operation, card)],
    notes: describeCall(operation, card),
    run: async (context, given) => {
      const { runOperation } = await import("./operation-run.ts");
      return runOperation(context, { operation, card }, given);
    },
    render: (data) => (data instanceof RowStream ? table([], data.columns) : viewOf(data)),
    exitStatus: (data) =>
      !(data instanceof RowStream) && countRefused(data) > 0 ? exitStatus.someRejected : exitStatus.done,
  });
}
