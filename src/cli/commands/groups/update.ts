import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("groups.update", {
  summary: "Add products to a product group or remove products from it",
  examples: [
    "starpost groups update teapots --product-ids-to-add teapot --product-ids-to-add samovar",
    "starpost groups update teapots --product-ids-to-remove samovar",
  ],
});
