import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("products.missed", {
  name: "products missed",
  defaults: { missed_products_ids: "all" },
});
