import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("products.setPromoted", {
  summary: "Set the promoted products (none: the service selects them)",
  examples: [
    "starpost products set-promoted --product-ids teapot --product-ids mug",
    "echo '{\"product_ids\": []}' | starpost products set-promoted --input -",
  ],
});
