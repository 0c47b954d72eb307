import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("products.missed", {
  defaults: { missed_products_ids: "all" },
});
