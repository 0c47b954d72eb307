import type { RowStream, Row } from "../../../terminal/row-stream.ts";
import { command } from "../../program/command.ts";
import type { Flags } from "../../program/flag.ts";
import { operationCommand } from "../operations/operation-command.ts";

const shown = operationCommand("reviews.get", { summary: "Show a published review" })("reviews get");

export default command<Flags, RowStream | Row>({
  ...shown,
  run: async (context, given) => {
    try {
      return (await shown.run(context, given)) as Row;
    } catch (error) {
      const { explainMissing } = await import("./missing-review.ts");
      throw await explainMissing(context, given.arguments[0] ?? "", error);
    }
  },
});
