import { operationCommand } from "../operations/operation-command.ts";

export default operationCommand("core.listProducts", {
  examples: [
    "starpost products list --limit 20",
    "starpost products list --updated-at-min 2026-01-01T00:00:00Z --format csv > products.csv",
  ],
});
