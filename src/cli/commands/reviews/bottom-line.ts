import { usageError } from "../../../config/user-error.ts";
import { RowStream } from "../../../terminal/row-stream.ts";
import { command } from "../../program/command.ts";
import type { Flags } from "../../program/flag.ts";
import { operationCommand } from "../operations/operation-command.ts";

const name = "reviews bottom-line";

const ofOne = operationCommand("reviews.bottomLine")(name);
const ofAll = operationCommand("reviews.bottomLines")(name);

/** Two operations: one for a single product, one for a list of products. */
export default command<Flags, unknown>({
  ...ofAll,
  summary: "Show the number of reviews and the average score of one product or all products",
  calls: "read",
  argument: "[product_id]",
  argumentHelp: { product_id: { description: "product ID (default: all products)" } },
  examples: ["starpost reviews bottom-line teapot", "starpost reviews bottom-line --format csv > scores.csv"],
  run: async (context, input) => {
    if (input.arguments[0] === undefined) return ofAll.run(context, input);
    const [flag] = Object.entries(input.flags).find(([one, value]) => one !== "curl" && value !== undefined) ?? [];
    if (flag === undefined) return ofOne.run(context, input);
    throw usageError(
      `--${flag} cannot be used with a product ID`,
      `To list all products, omit the ID: starpost ${name} --${flag} …`,
    );
  },
  render: (data) => (data instanceof RowStream ? ofAll.render(data) : ofOne.render(data)),
});
