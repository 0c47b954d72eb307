import { silent } from "../../../terminal/view.ts";
import type { Row } from "../../../terminal/row-stream.ts";
import { command } from "../../program/command.ts";
import { exitStatus } from "../../program/exit-status.ts";
import type { Flags } from "../../program/flag.ts";
import { operationCommand } from "../operations/operation-command.ts";

const created = operationCommand("orders.create", {
  summary: "Create an order, or update a stored one",
  preset: { details: true },
  hooks: async () => (await import("./create-hooks.ts")).createHooks,
})("orders create");

/** Validation is the default, and is turned off as in `orders import`. */
const { "validate-data": _on, "no-validate-data": _off, ...flags } = created.flags ?? {};

export default command<Flags, Row>({
  ...created,
  flags: {
    ...flags,
    "no-validate": { description: "skip strict validation; drop invalid product IDs and optional fields" },
  },
  run: async (context, given) => (await created.run(context, given)) as Row,
  render: ({ order_id, outcome }) => silent({ order_id: order_id as string, outcome: outcome as string | null }),
  exitStatus: ({ dropped }) => (dropped === undefined ? exitStatus.done : exitStatus.someRejected),
});
